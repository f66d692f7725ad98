// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/type.h"

#include <array>

namespace lijit::ir {
namespace {

struct ScalarRow {
  std::string_view name;
  int bytes;
};

constexpr std::array kScalars = {
#define SCALAR(enumerator, text, bytes, doc) ScalarRow{text, bytes},
#include "compiler/ir/scalars.def"
};

}  // namespace

std::string_view ScalarName(Scalar scalar) {
  return kScalars[static_cast<std::size_t>(scalar)].name;
}

std::optional<Scalar> ScalarFromName(std::string_view name) {
  for (std::size_t i = 0; i < kScalars.size(); ++i) {
    if (kScalars[i].name == name) return static_cast<Scalar>(i);
  }
  return std::nullopt;
}

int ScalarBytes(Scalar scalar) { return kScalars[static_cast<std::size_t>(scalar)].bytes; }

}  // namespace lijit::ir
