// SPDX-License-Identifier: Apache-2.0
// The types of PTX, from types.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lijit::emulator {

enum class TypeClass : std::uint8_t {
  kPredicate,
  kBits,
  kUnsigned,
  kSigned,
  kFloat,
  kPacked,
  kElement
};

enum class Type : std::uint8_t {
#define LIJIT_PTX_TYPE(id, suffix, bits, type_class) id,
#include "runtime/emulator/types.def"
#undef LIJIT_PTX_TYPE
};

struct TypeInfo {
  std::string_view suffix;  // without the dot
  unsigned bits;            // of the register that holds a value
  TypeClass type_class;
};

const TypeInfo& Info(Type type);
std::optional<Type> TypeBySuffix(std::string_view suffix);

inline unsigned Bits(Type type) { return Info(type).bits; }
inline bool IsSigned(Type type) { return Info(type).type_class == TypeClass::kSigned; }
inline bool IsInteger(Type type) {
  const TypeClass type_class = Info(type).type_class;
  return type_class == TypeClass::kSigned || type_class == TypeClass::kUnsigned;
}

// A set of types, for the table of instructions.
using TypeSet = std::uint64_t;
constexpr TypeSet SetOf(Type type) { return TypeSet{1} << static_cast<unsigned>(type); }
template <typename... Types>
constexpr TypeSet SetOf(Type type, Types... types) {
  return SetOf(type) | SetOf(types...);
}
constexpr bool Contains(TypeSet set, Type type) { return (set & SetOf(type)) != 0; }

}  // namespace lijit::emulator
