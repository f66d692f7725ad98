// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/parameters.h"

namespace lijit::lower {

#define PARAMETERS(kind) constexpr ParameterRow kRowsOf##kind[] = {
#define PARAMETER(name, type, doc) {#name, ir::Scalar::type, doc},
#define END(kind) \
  }               \
  ;
#include "compiler/lower/parameters.def"

std::span<const ParameterRow> ParametersOf(ir::KernelKind kind) {
  switch (kind) {
#define PARAMETERS(name)        \
  case ir::KernelKind::k##name: \
    return kRowsOf##name;
#define PARAMETER(name, type, doc)
#define END(kind)
#include "compiler/lower/parameters.def"
  }
  return {};
}

}  // namespace lijit::lower
