// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/instruction_table.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

namespace lijit::emulator {
namespace {

using enum Category;

constexpr TypeSet kAnyType = 0;
constexpr TypeSet kPredicates = SetOf(Type::kPred);
constexpr TypeSet kInt16 = SetOf(Type::kU16, Type::kS16);
constexpr TypeSet kInt32 = SetOf(Type::kU32, Type::kS32);
constexpr TypeSet kInt64 = SetOf(Type::kU64, Type::kS64);
constexpr TypeSet kInts = kInt16 | kInt32 | kInt64;
constexpr TypeSet kInt16x2 = SetOf(Type::kU16x2, Type::kS16x2);
constexpr TypeSet kBits3264 = SetOf(Type::kB32, Type::kB64);
constexpr TypeSet kBits = SetOf(Type::kB16) | kBits3264;
constexpr TypeSet kFloats = SetOf(Type::kF32, Type::kF64);
constexpr TypeSet kF32 = SetOf(Type::kF32);
constexpr TypeSet kHalves = SetOf(Type::kF16, Type::kF16x2, Type::kBf16, Type::kBf16x2);
constexpr TypeSet kPairs = SetOf(Type::kF32x2);
constexpr TypeSet kElements = SetOf(Type::kE4m3, Type::kE5m2, Type::kE2m1, Type::kUe8m0);
constexpr TypeSet kMemory = ~(kPredicates | kElements);

// Sets of categories, as instructions.def writes them.
constexpr CategorySet kNone = 0;
template <typename... Categories>
constexpr CategorySet Mods(Categories... categories) {
  return (SetOf(categories) | ... | 0);
}
constexpr CategorySet kFloatMods = Mods(kRounding, kFtz, kSat);
constexpr CategorySet kExtremeMods = Mods(kFtz, kNan, kXorsign, kAbs);
constexpr CategorySet kAccessMods =
    Mods(kSpace, kCache, kPrefetchSize, kStrength, kScope, kVector, kPriority, kCacheHint);

constexpr std::array kRows = {
#define LIJIT_PTX_INSTRUCTION(name, types, modifiers, decoder) \
  InstructionRow{name, types, modifiers, &(decoder)},
#include "runtime/emulator/instructions.def"
#undef LIJIT_PTX_INSTRUCTION
};

using RowsByName = std::unordered_map<std::string_view, std::pair<std::size_t, std::size_t>>;

// Rows of one name stand together.
const RowsByName& Rows() {
  static const RowsByName rows = [] {
    RowsByName result;
    for (std::size_t i = 0; i < kRows.size(); ++i) {
      const auto [place, added] = result.emplace(kRows[i].name, std::pair(i, i + 1));
      LIJIT_CHECK(added || place->second.second == i);
      place->second.second = i + 1;
    }
    return result;
  }();
  return rows;
}

Result<const InstructionRow*> FindRow(std::string_view name, const Modifiers& modifiers) {
  const auto found = Rows().find(name);
  if (found == Rows().end()) {
    return InvalidArgument("this instruction is not known to the emulator");
  }
  const unsigned types = modifiers.type_count();
  for (std::size_t i = found->second.first; i < found->second.second; ++i) {
    const InstructionRow& row = kRows[i];
    if (row.types == kAnyType) return &row;
    if (types > 0 && Contains(row.types, modifiers.type(types - 1))) return &row;
  }
  if (types == 0) return InvalidArgument("a type is missing");
  return InvalidArgument(fmt::format("this instruction is not known to the emulator with type .{}",
                                     Info(modifiers.type(types - 1)).suffix));
}

Status CheckModifiers(const InstructionRow& row, const Modifiers& modifiers) {
  const CategorySet wrong = modifiers.present() & ~row.modifiers;
  if (wrong == 0) return {};
  const auto category = static_cast<Category>(std::countr_zero(wrong));
  return InvalidArgument(fmt::format("modifier '.{}' is not known to the emulator here",
                                     Suffix(modifiers.Of(category))));
}

}  // namespace

std::span<const InstructionRow> AllInstructions() { return kRows; }

Result<Instruction> DecodeInstruction(KernelBuilder& kernel, Instance& instance,
                                      const Statement& statement) {
  const std::size_t dot = statement.name.find('.');
  const std::string_view name = statement.name.substr(0, dot);
  const std::string_view suffixes =
      dot == statement.name.npos ? std::string_view{} : statement.name.substr(dot + 1);
  LIJIT_ASSIGN(const Modifiers modifiers, Modifiers::Parse(suffixes));
  LIJIT_ASSIGN(const InstructionRow* row, FindRow(name, modifiers));
  LIJIT_TRY(CheckModifiers(*row, modifiers));
  InstructionBuilder builder(kernel, instance, statement, modifiers);
  row->decode(builder);
  LIJIT_TRY(builder.Finish());
  return builder.out();
}

}  // namespace lijit::emulator
