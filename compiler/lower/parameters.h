// SPDX-License-Identifier: Apache-2.0
// Parameter blocks of entries (parameters.def): one struct a kind for the host, one list for
// lowering.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/ir/op.h"
#include "compiler/ir/type.h"

namespace lijit::lower {

#define PARAMETERS(kind) struct kind##Parameters {
#define PARAMETER(name, type, doc) std::uint64_t name = 0;
#define END(kind) \
  }               \
  ;
#include "compiler/lower/parameters.def"

struct ParameterRow {
  std::string_view name;
  ir::Scalar type;
  std::string_view doc;
};

// The parameters of a kind's entries, in the order of its struct.
std::span<const ParameterRow> ParametersOf(ir::KernelKind kind);

}  // namespace lijit::lower
