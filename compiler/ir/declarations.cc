// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/declarations.h"

#include <array>
#include <type_traits>

#include "compiler/support/float_text.h"

namespace lijit::ir {
namespace {

// The struct that holds each group's members.
using GroupElement = ElementFormat;
using GroupBlockScale = BlockScale;
using GroupRowScale = RowScale;
using GroupLayout = Layout;

template <auto Member, typename Struct>
std::int64_t Get(const void* group) {
  const auto& value = static_cast<const Struct*>(group)->*Member;
  if constexpr (std::is_same_v<std::decay_t<decltype(value)>, float>) {
    return BitsOfFloat(value);
  } else {
    return static_cast<std::int64_t>(value);
  }
}

template <auto Member, typename Struct>
void Set(void* group, std::int64_t bits) {
  auto& value = static_cast<Struct*>(group)->*Member;
  using Value = std::decay_t<decltype(value)>;
  if constexpr (std::is_same_v<Value, float>) {
    value = FloatFromBits(static_cast<std::uint32_t>(bits));
  } else {
    value = static_cast<Value>(bits);
  }
}

constexpr std::array kFields = {
#define FIELD(group, member, kind, key, doc)         \
  FieldRow{FieldGroup::k##group,                     \
           FieldKind::k##kind,                       \
           key,                                      \
           doc,                                      \
           Get<&Group##group::member, Group##group>, \
           Set<&Group##group::member, Group##group>},
#include "compiler/ir/format.def"
};

constexpr std::array kKeywords = {
#define KEYWORD(table, enumerator, text) \
  FieldKeyword{FieldKind::k##table, static_cast<std::int64_t>(table::enumerator), text},
#include "compiler/ir/format.def"
};

}  // namespace

std::span<const FieldRow> AllFields() { return kFields; }

std::string_view GroupName(FieldGroup group) {
  constexpr std::array<std::string_view, 4> kNames = {"element", "block_scale", "row_scale",
                                                      "layout"};
  return kNames[static_cast<std::size_t>(group)];
}

std::span<const FieldKeyword> AllFieldKeywords() { return kKeywords; }

std::string_view FieldKeywordText(FieldKind kind, std::int64_t value) {
  for (const FieldKeyword& row : kKeywords) {
    if (row.kind == kind && row.value == value) return row.text;
  }
  return {};
}

std::optional<std::int64_t> FieldKeywordValue(FieldKind kind, std::string_view text) {
  for (const FieldKeyword& row : kKeywords) {
    if (row.kind == kind && row.text == text) return row.value;
  }
  return std::nullopt;
}

}  // namespace lijit::ir
