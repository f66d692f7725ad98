// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/op.h"

#include <array>

namespace lijit::ir {
namespace {

constexpr std::array kOps = {
#define OP(enumerator, mnemonic, level, operands, results, rule, attributes, doc) \
  OpRow{OpCode::enumerator, mnemonic,   Level::level, operands, results,          \
        TypeRule::rule,     attributes, doc},
#include "compiler/ir/ops.def"
};

constexpr std::array kAttributes = {
#define ATTRIBUTE(enumerator, key, kind, doc) \
  AttributeRow{AttributeKey::enumerator, key, AttributeKind::k##kind, doc},
#include "compiler/ir/attributes.def"
};

struct KeywordRow {
  AttributeKind kind;
  std::int64_t value;
  std::string_view text;
};

constexpr std::array kKeywords = {
#define ATTRIBUTE_KEYWORD(table, enumerator, text) \
  KeywordRow{AttributeKind::k##table, static_cast<std::int64_t>(table::enumerator), text},
#include "compiler/ir/attributes.def"
};

constexpr std::array kKernelKinds = {
#define KERNEL_KIND(enumerator, text, doc) KernelKindRow{KernelKind::enumerator, text, doc},
#include "compiler/ir/kernel_kinds.def"
};

}  // namespace

std::span<const OpRow> AllOps() { return kOps; }

std::size_t RegionsOf(OpCode code) {
  switch (code) {
    case OpCode::kFor:
      return 1;
    case OpCode::kIf:
    case OpCode::kTileScores:
      return 2;
    default:
      return 0;
  }
}

const OpRow& RowOf(OpCode code) { return kOps[static_cast<std::size_t>(code)]; }

std::optional<OpCode> OpFromMnemonic(std::string_view mnemonic) {
  for (const OpRow& row : kOps) {
    if (row.mnemonic == mnemonic) return row.code;
  }
  return std::nullopt;
}

std::span<const AttributeRow> AllAttributes() { return kAttributes; }

const AttributeRow& RowOf(AttributeKey key) { return kAttributes[static_cast<std::size_t>(key)]; }

std::optional<AttributeKey> AttributeFromText(std::string_view text) {
  for (const AttributeRow& row : kAttributes) {
    if (row.text == text) return row.key;
  }
  return std::nullopt;
}

std::string_view KeywordText(AttributeKind kind, std::int64_t value) {
  for (const KeywordRow& row : kKeywords) {
    if (row.kind == kind && row.value == value) return row.text;
  }
  return {};
}

std::optional<std::int64_t> KeywordValue(AttributeKind kind, std::string_view text) {
  for (const KeywordRow& row : kKeywords) {
    if (row.kind == kind && row.text == text) return row.value;
  }
  return std::nullopt;
}

AttributeUse UseOf(const OpRow& row, AttributeKey key) {
  const std::string_view wanted = RowOf(key).text;
  std::string_view rest = row.attributes;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    const bool optional = item.ends_with('?');
    if (optional) item.remove_suffix(1);
    if (item == wanted) return optional ? AttributeUse::kOptional : AttributeUse::kRequired;
  }
  return AttributeUse::kNo;
}

std::span<const KernelKindRow> AllKernelKinds() { return kKernelKinds; }

std::string_view KernelKindName(KernelKind kind) {
  return kKernelKinds[static_cast<std::size_t>(kind)].text;
}

std::optional<KernelKind> KernelKindFromName(std::string_view text) {
  for (const KernelKindRow& row : kKernelKinds) {
    if (row.text == text) return row.kind;
  }
  return std::nullopt;
}

}  // namespace lijit::ir
