// SPDX-License-Identifier: Apache-2.0
// Every row of the tables can be written, read and printed: this text has all of them.
#include <gtest/gtest.h>

#include <set>

#include "compiler/ir/declarations.h"
#include "compiler/ir/printer.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::ir {
namespace {

std::string EverythingText() { return TextOfFile("tests/unit/compiler/ir/everything.lir"); }

void Collect(const Block& block, std::set<OpCode>& ops, std::set<AttributeKey>& keys,
             std::set<std::pair<AttributeKind, std::int64_t>>& values) {
  for (const Op& op : block.ops) {
    ops.insert(op.code);
    for (const Attribute& attribute : op.attributes) {
      keys.insert(attribute.key);
      values.emplace(RowOf(attribute.key).kind, attribute.value);
    }
    for (const Block& region : op.regions) Collect(region, ops, keys, values);
  }
}

TEST(Tables, EveryOpAndAttributeIsInTheText) {
  const Module module = ModuleOf(EverythingText());
  std::set<OpCode> ops;
  std::set<AttributeKey> keys;
  std::set<std::pair<AttributeKind, std::int64_t>> values;
  for (const Kernel& kernel : module.kernels) Collect(kernel.body, ops, keys, values);
  for (const OpRow& row : AllOps()) EXPECT_TRUE(ops.contains(row.code)) << row.mnemonic;
  for (const AttributeRow& row : AllAttributes()) {
    EXPECT_TRUE(keys.contains(row.key)) << row.text;
    const bool keyword = row.kind != AttributeKind::kInteger && row.kind != AttributeKind::kFormat;
    for (std::int64_t v = 0; keyword && !KeywordText(row.kind, v).empty(); ++v) {
      EXPECT_TRUE(values.contains({row.kind, v})) << row.text << " = " << KeywordText(row.kind, v);
    }
  }
}

TEST(Tables, EveryKindIsInTheText) {
  const Module module = ModuleOf(EverythingText());
  std::set<KernelKind> kinds;
  std::set<Scalar> scalars;
  for (const Kernel& kernel : module.kernels) {
    if (!kernel.is_entry) kinds.insert(kernel.kind);
    for (const ValueInfo& value : kernel.values) {
      if (value.type.format < 0) scalars.insert(value.type.scalar);
    }
  }
  for (const KernelKindRow& row : AllKernelKinds())
    EXPECT_TRUE(kinds.contains(row.kind)) << row.text;
  for (int i = 0; i <= static_cast<int>(Scalar::kPtr); ++i) {
    EXPECT_TRUE(scalars.contains(static_cast<Scalar>(i))) << ScalarName(static_cast<Scalar>(i));
  }
}

TEST(Tables, EveryFieldAndKeywordIsInTheText) {
  const Module module = ModuleOf(EverythingText());
  std::set<std::pair<FieldKind, std::int64_t>> values;
  std::set<FieldGroup> groups;
  const auto collect = [&](FieldGroup group, const void* data) {
    groups.insert(group);
    for (const FieldRow& row : AllFields()) {
      if (row.group == group) values.emplace(row.kind, row.get(data));
    }
  };
  for (const Format& format : module.formats) {
    collect(FieldGroup::kElement, &format.element);
    if (format.block_scale) collect(FieldGroup::kBlockScale, &*format.block_scale);
    if (format.row_scale) collect(FieldGroup::kRowScale, &*format.row_scale);
  }
  for (const Layout& layout : module.layouts) collect(FieldGroup::kLayout, &layout);
  EXPECT_EQ(groups.size(), 4u);
  for (const FieldKeyword& keyword : AllFieldKeywords()) {
    EXPECT_TRUE(values.contains({keyword.kind, keyword.value})) << keyword.text;
  }
}

TEST(Tables, EveryRowIsPrinted) {
  const std::string text = Print(ModuleOf(EverythingText()));
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  for (const OpRow& row : AllOps()) {
    EXPECT_TRUE(has(std::string(row.mnemonic) + " ") || has(std::string(row.mnemonic) + "\n"))
        << row.mnemonic;
  }
  for (const AttributeRow& row : AllAttributes()) EXPECT_TRUE(has(std::string(row.text) + " = "));
  for (const FieldRow& row : AllFields()) EXPECT_TRUE(has(std::string(row.key) + " = ")) << row.key;
  for (const FieldKeyword& row : AllFieldKeywords())
    EXPECT_TRUE(has(" = " + std::string(row.text)));
}

TEST(Tables, TextIsUnique) {
  std::set<std::string_view> mnemonics;
  for (const OpRow& row : AllOps())
    EXPECT_TRUE(mnemonics.insert(row.mnemonic).second) << row.mnemonic;
  std::set<std::pair<FieldGroup, std::string_view>> fields;
  for (const FieldRow& row : AllFields()) EXPECT_TRUE(fields.emplace(row.group, row.key).second);
}

TEST(Tables, RowsStandAtTheirEnumerator) {
  for (std::size_t i = 0; i < AllOps().size(); ++i) {
    EXPECT_EQ(AllOps()[i].code, static_cast<OpCode>(i));
    EXPECT_EQ(OpFromMnemonic(AllOps()[i].mnemonic), static_cast<OpCode>(i));
  }
  for (std::size_t i = 0; i < AllAttributes().size(); ++i) {
    EXPECT_EQ(AllAttributes()[i].key, static_cast<AttributeKey>(i));
  }
  for (std::size_t i = 0; i < AllKernelKinds().size(); ++i) {
    EXPECT_EQ(AllKernelKinds()[i].kind, static_cast<KernelKind>(i));
  }
}

// The names in the attribute column of ops.def are attributes.
TEST(Tables, OpsNameAttributesThatExist) {
  for (const OpRow& row : AllOps()) {
    std::string_view rest = row.attributes;
    while (!rest.empty()) {
      std::string_view item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      if (item.ends_with('?')) item.remove_suffix(1);
      EXPECT_TRUE(AttributeFromText(item).has_value()) << row.mnemonic << ": " << item;
    }
  }
}

}  // namespace
}  // namespace lijit::ir
