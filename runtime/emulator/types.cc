// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/types.h"

#include <array>

namespace lijit::emulator {
namespace {

constexpr std::array kTypes = {
#define LIJIT_PTX_TYPE(id, suffix, bits, type_class) TypeInfo{suffix, bits, TypeClass::type_class},
#include "runtime/emulator/types.def"
#undef LIJIT_PTX_TYPE
};
static_assert(kTypes.size() <= 64, "TypeSet has 64 bits");

}  // namespace

const TypeInfo& Info(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

std::optional<Type> TypeBySuffix(std::string_view suffix) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].suffix == suffix) return static_cast<Type>(i);
  }
  return std::nullopt;
}

}  // namespace lijit::emulator
