// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/modifiers.h"

#include <fmt/format.h>

#include <string>

namespace lijit::emulator {
namespace {

struct ModifierInfo {
  std::string_view suffix;
  Category category;
};

constexpr std::array kModifiers = {
    ModifierInfo{"", Category::kCount},
#define LIJIT_PTX_MODIFIER(id, suffix, category) ModifierInfo{suffix, Category::category},
#include "runtime/emulator/modifiers.def"
#undef LIJIT_PTX_MODIFIER
};

Modifier ModifierBySuffix(std::string_view suffix) {
  for (std::size_t i = 1; i < kModifiers.size(); ++i) {
    if (kModifiers[i].suffix == suffix) return static_cast<Modifier>(i);
  }
  return Modifier::kNone;
}

}  // namespace

std::string_view Suffix(Modifier modifier) {
  return kModifiers[static_cast<std::size_t>(modifier)].suffix;
}

Result<Modifiers> Modifiers::Parse(std::string_view suffixes) {
  Modifiers result;
  while (!suffixes.empty()) {
    const std::size_t dot = suffixes.find('.');
    LIJIT_TRY(result.Add(suffixes.substr(0, dot)));
    suffixes = dot == suffixes.npos ? std::string_view{} : suffixes.substr(dot + 1);
  }
  return result;
}

Status Modifiers::Add(std::string_view suffix) {
  if (const std::optional<Type> type = TypeBySuffix(suffix)) {
    if (type_count_ == kMaxTypes) return InvalidArgument("too many types");
    types_[type_count_++] = *type;
    return {};
  }
  const Modifier modifier = ModifierBySuffix(suffix);
  if (modifier == Modifier::kNone) {
    return InvalidArgument(fmt::format("unknown modifier '.{}'", suffix.substr(0, 64)));
  }
  Category category = kModifiers[static_cast<std::size_t>(modifier)].category;
  if (category == Category::kSpace && Has(category)) category = Category::kSourceSpace;
  if (Has(category)) {
    return InvalidArgument(
        fmt::format("modifiers '.{}' and '.{}' exclude each other", Suffix(Of(category)), suffix));
  }
  values_[static_cast<std::size_t>(category)] = modifier;
  present_ |= SetOf(category);
  return {};
}

}  // namespace lijit::emulator
