// SPDX-License-Identifier: Apache-2.0
// The suffixes of an instruction ("add.rn.ftz.f32"), from modifiers.def, as data.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lijit/result.h"
#include "runtime/emulator/types.h"

namespace lijit::emulator {

enum class Category : std::uint8_t {
#define LIJIT_PTX_CATEGORY(id) id,
#include "runtime/emulator/modifiers.def"
#undef LIJIT_PTX_CATEGORY
  kCount
};

enum class Modifier : std::uint8_t {
  kNone,
#define LIJIT_PTX_MODIFIER(id, suffix, category) id,
#include "runtime/emulator/modifiers.def"
#undef LIJIT_PTX_MODIFIER
};

using CategorySet = std::uint64_t;
static_assert(static_cast<unsigned>(Category::kCount) <= 64, "CategorySet has 64 bits");
constexpr CategorySet SetOf(Category category) {
  return CategorySet{1} << static_cast<unsigned>(category);
}

std::string_view Suffix(Modifier modifier);

class Modifiers {
 public:
  static constexpr unsigned kMaxTypes = 5;

  // `suffixes` is the part of an instruction's name after its first dot. Unknown suffixes, two of
  // one category and more than kMaxTypes types are errors (without a line; the caller knows it).
  static Result<Modifiers> Parse(std::string_view suffixes);

  // The modifier of this category, or kNone.
  Modifier Of(Category category) const { return values_[static_cast<std::size_t>(category)]; }
  bool Has(Category category) const { return Of(category) != Modifier::kNone; }
  CategorySet present() const { return present_; }

  unsigned type_count() const { return type_count_; }
  Type type(unsigned i) const { return types_[i]; }

 private:
  Status Add(std::string_view suffix);

  std::array<Modifier, static_cast<std::size_t>(Category::kCount)> values_{};
  CategorySet present_ = 0;
  std::array<Type, kMaxTypes> types_{};
  unsigned type_count_ = 0;
};

}  // namespace lijit::emulator
