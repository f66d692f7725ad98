// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/printer.h"

#include <gtest/gtest.h>

#include "compiler/ir/verifier.h"
#include "compiler/support/float_text.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"
#include "tests/unit/compiler/ir/random_module.h"

namespace lijit::ir {
namespace {

// Blocks with ids replaced by the order of definition, so that equal modules compare equal.
class Flattener {
 public:
  explicit Flattener(const Kernel& kernel) : kernel_(kernel) { Add(kernel.body); }
  const std::vector<std::int64_t>& numbers() const { return numbers_; }

 private:
  void Define(ValueId id) {
    ids_.emplace(id, ids_.size());
    const Type& type = kernel_.TypeOf(id);
    for (const auto part :
         {static_cast<std::int64_t>(type.shape), static_cast<std::int64_t>(type.scalar),
          std::int64_t{type.heads}, std::int64_t{type.dim}, std::int64_t{type.format}}) {
      numbers_.push_back(part);
    }
  }
  void Add(const Block& block) {
    for (const ValueId id : block.arguments) Define(id);
    for (const Op& op : block.ops) Add(op);
  }
  void Add(const Op& op) {
    numbers_.push_back(static_cast<std::int64_t>(op.code));
    numbers_.push_back(static_cast<std::int64_t>(op.constant));
    for (const ValueId id : op.operands) numbers_.push_back(static_cast<std::int64_t>(ids_.at(id)));
    for (const Attribute& attribute : op.attributes) {
      numbers_.push_back(static_cast<std::int64_t>(attribute.key));
      numbers_.push_back(attribute.value);
    }
    for (const Block& region : op.regions) Add(region);
    for (const ValueId id : op.results) Define(id);
  }

  const Kernel& kernel_;
  std::map<ValueId, std::size_t> ids_;
  std::vector<std::int64_t> numbers_;
};

void ExpectSameModule(const Module& a, const Module& b) {
  ASSERT_EQ(a.formats.size(), b.formats.size());
  for (std::size_t i = 0; i < a.formats.size(); ++i) {
    EXPECT_EQ(a.formats[i].name, b.formats[i].name);
    EXPECT_EQ(a.formats[i].element, b.formats[i].element);
    EXPECT_EQ(a.formats[i].block_scale, b.formats[i].block_scale);
    EXPECT_EQ(a.formats[i].row_scale, b.formats[i].row_scale);
  }
  ASSERT_EQ(a.layouts.size(), b.layouts.size());
  for (std::size_t i = 0; i < a.layouts.size(); ++i) {
    EXPECT_EQ(a.layouts[i].tokens, b.layouts[i].tokens);
    EXPECT_EQ(a.layouts[i].order, b.layouts[i].order);
    EXPECT_EQ(a.layouts[i].align, b.layouts[i].align);
  }
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (std::size_t i = 0; i < a.kernels.size(); ++i) {
    const Kernel& x = a.kernels[i];
    const Kernel& y = b.kernels[i];
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.layout, y.layout);
    EXPECT_EQ(x.results, y.results);
    EXPECT_EQ(x.is_entry, y.is_entry);
    EXPECT_EQ(x.threads, y.threads);
    EXPECT_EQ(x.tile_rows, y.tile_rows);
    EXPECT_EQ(x.tile_columns, y.tile_columns);
    EXPECT_EQ(x.shared_bytes, y.shared_bytes);
    EXPECT_EQ(Flattener(x).numbers(), Flattener(y).numbers());
  }
}

void ExpectRoundTrip(const Module& module) {
  const std::string text = Print(module);
  Module again;
  const Status status = ParseInto(again, text, "printed.lir");
  ASSERT_TRUE(status.ok()) << status.error().message << text;
  EXPECT_TRUE(Verify(again).empty()) << RenderDiagnostics(Verify(again), "printed.lir", text);
  ExpectSameModule(module, again);
  EXPECT_EQ(Print(again), text);
}

TEST(Printer, ShippedModulesComeBack) {
  for (const Format& format : AllFormats().formats) ExpectRoundTrip(IndexerOf(format.name));
  ExpectRoundTrip(ModuleOf(AllFormatsText() + std::string(ShippedText("rotated.lir"))));
}

TEST(Printer, RandomModulesComeBack) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Module module = RandomModule(seed);
    ASSERT_TRUE(Verify(module).empty())
        << seed << RenderDiagnostics(Verify(module), "random", "") << Print(module);
    ExpectRoundTrip(module);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Printer, EveryFloatComesBack) {
  for (const std::uint32_t bits :
       {0u, 0x80000000u, 1u, 0x7f7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u,
        0xffffffffu, 0x3eaaaaabu, 0x00800000u}) {
    const Module module = ModuleOf("kernel @k : top_k (%x: f32) -> (f32) { %c = const " +
                                   FloatToText(FloatFromBits(bits)) + " : f32 yield %c }");
    EXPECT_EQ(module.kernels[0].body.ops[0].constant, bits);
    ExpectRoundTrip(module);
  }
}

TEST(Printer, NamesAreMadeUnique) {
  Module module = ModuleOf("kernel @k : top_k (%x: f32) -> (f32) { %y = relu %x : f32 yield %y }");
  module.kernels[0].values[1].name = "x";
  EXPECT_NE(Print(module).find("%x.2 = relu %x : f32"), std::string::npos);
  module.kernels[0].values[0].name = "";
  module.kernels[0].values[1].name = "5";
  EXPECT_NE(Print(module).find("%1 = relu %0 : f32"), std::string::npos);
}

}  // namespace
}  // namespace lijit::ir
