// SPDX-License-Identifier: Apache-2.0
// The fields of format and layout declarations as rows (format.def), for parser, printer and docs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compiler/ir/format.h"

namespace lijit::ir {

enum class FieldGroup : std::uint8_t { kElement, kBlockScale, kRowScale, kLayout };

enum class FieldKind : std::uint8_t {
  kInteger,
  kFloat,
  kSpecial,
  kOverflow,
  kTies,
  kZero,
  kPacking,
  kScaleCode,
  kScaleRule,
  kNonfinite,
  kOrder,
};

struct FieldRow {
  FieldGroup group;
  FieldKind kind;
  std::string_view key;
  std::string_view doc;
  // Read and write the member in the group's struct. Floats travel as their bits.
  std::int64_t (*get)(const void* group);
  void (*set)(void* group, std::int64_t value);
};

std::span<const FieldRow> AllFields();
std::string_view GroupName(FieldGroup group);

struct FieldKeyword {
  FieldKind kind;
  std::int64_t value;
  std::string_view text;
};

std::span<const FieldKeyword> AllFieldKeywords();
std::string_view FieldKeywordText(FieldKind kind, std::int64_t value);
std::optional<std::int64_t> FieldKeywordValue(FieldKind kind, std::string_view text);

}  // namespace lijit::ir
