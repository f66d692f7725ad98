// SPDX-License-Identifier: Apache-2.0
// What the schedule simt cannot do is refused with the kernel's name and the reason.
#include <gtest/gtest.h>

#include "compiler/ir/builder.h"
#include "compiler/lower/lower.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::lower {
namespace {

struct Refusal {
  const char* name;
  const char* kernel;
  const char* message;
};

constexpr char kDeclarations[] = R"(
format @e2m1 { element { exponent = 2, mantissa = 1, bias = 1, nan = 0x7 } }
layout @pages { tokens = 64, order = planar, align = 64 }
)";

constexpr Refusal kRefusals[] = {
    {"SumBeforeHeads", R"(
kernel @k : logits.ragged (%q: rows<8 x 64 x @e2m1>, %k: row<64 x @e2m1>, %w: vec<8 x f32>) -> (f32) {
  %x = dot %q, %k : vec<8 x f32>
  %mean = weighted_sum %x, %w : f32
  %y = mul %x, %mean : vec<8 x f32>
  %s = weighted_sum %y, %w : f32
  yield %s
})",
     "schedule simt cannot do kernel @k: mul of heads needs a sum over all heads first; the heads "
     "are passed only once"},
    {"SumAfterSum", R"(
kernel @k : logits.ragged (%q: rows<8 x 64 x @e2m1>, %k: row<64 x @e2m1>, %w: vec<8 x f32>) -> (f32) {
  %x = dot %q, %k : vec<8 x f32>
  %mean = weighted_sum %x, %w : f32
  %square = mul %mean, %mean : f32
  %w2 = mul %w, %square : vec<8 x f32>
  %s = weighted_sum %x, %w2 : f32
  yield %s
})",
     "schedule simt cannot do kernel @k: mul of heads needs a sum over all heads first; the heads "
     "are passed only once"},
    {"ScoreWithoutPlace", R"(
kernel @k : logits.ragged (%q: rows<8 x 64 x @e2m1>, %k: row<64 x @e2m1>, %w: vec<8 x f32>) -> (f32) {
  %x = dot %q, %k : vec<8 x f32>
  %mixed = hadamard %x : vec<8 x f32>
  %s = weighted_sum %mixed, %w : f32
  yield %s
})",
     "schedule simt cannot do kernel @k: a score has no place for hadamard"},
    {"RowWithoutPlace", R"(
kernel @k : write_cache layout @pages (%x: vec<64 x f32>) -> (row<64 x @e2m1>) {
  %row, %scale = encode %x : row<64 x @e2m1>, f32
  %again = row_scale %row : f32
  yield %row
})",
     "schedule simt cannot do kernel @k: a row's body has no place for row_scale"},
    {"SelectionWithoutPlace", R"(
kernel @k : top_k (%logit: f32) -> (f32) {
  %x = extend %logit : f32
  yield %x
})",
     "schedule simt cannot do kernel @k: a selection's number is computed by arithmetic alone"},
    {"RopeWithoutTable", R"(
kernel @k : write_cache layout @pages (%x: vec<64 x f32>) -> (row<64 x @e2m1>) {
  %y = rope %x, %x { style = neox, place = first } : vec<64 x f32>
  %row, %scale = encode %y : row<64 x @e2m1>, f32
  yield %row
})",
     "schedule simt cannot do kernel @k: rope takes its table from the kernel's last parameter"},
    {"RopeByAnotherTable", R"(
kernel @k : write_cache layout @pages (%x: vec<64 x f32>, %t: vec<64 x f32>) -> (row<64 x @e2m1>) {
  %y = rope %x, %x { style = neox, place = first } : vec<64 x f32>
  %row, %scale = encode %y : row<64 x @e2m1>, f32
  yield %row
})",
     "schedule simt cannot do kernel @k: rope takes its table from the kernel's last parameter"},
    {"ComputedTable", R"(
kernel @k : write_cache layout @pages (%x: vec<64 x f32>, %t: vec<32 x f32>) -> (row<64 x @e2m1>) {
  %half = const 0.5 : f32
  %t2 = mul %t, %half : vec<32 x f32>
  %y = rope %x, %t2 { style = neox, place = first } : vec<64 x f32>
  %row, %scale = encode %y : row<64 x @e2m1>, f32
  yield %row
})",
     "schedule simt cannot do kernel @k: only rope reads the table, as its second operand"},
    {"TableAsRow", R"(
kernel @k : quantize_query (%x: vec<64 x f32>, %w: f32, %t: vec<64 x f32>) -> (row<64 x @e2m1>, f32) {
  %row, %scale = encode %t : row<64 x @e2m1>, f32
  yield %row, %w
})",
     "schedule simt cannot do kernel @k: only rope reads the table, as its second operand"},
    {"RopeDimensions", R"(
kernel @k : write_cache layout @pages (%x: vec<128 x f32>, %t: vec<48 x f32>) -> (row<128 x @e2m1>) {
  %y = rope %x, %t { style = neox, place = first } : vec<128 x f32>
  %row, %scale = encode %y : row<128 x @e2m1>, f32
  yield %row
})",
     "schedule simt cannot do kernel @k: rope of 48 out of 128 dims: half of them must be a power "
     "of two times 4, and they must begin at a multiple of their number"},
    {"RopeBelowALane", R"(
kernel @k : write_cache layout @pages (%x: vec<256 x f32>, %t: vec<8 x f32>) -> (row<256 x @e2m1>) {
  %y = rope %x, %t { style = interleaved, place = last } : vec<256 x f32>
  %row, %scale = encode %y : row<256 x @e2m1>, f32
  yield %row
})",
     "schedule simt cannot do kernel @k: rope of 8 out of 256 dims: half of them must be a power "
     "of two times 8, and they must begin at a multiple of their number"}};

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, SayWhy) {
  const ir::Module module = ir::ModuleOf(std::string(kDeclarations) + GetParam().kernel);
  ASSERT_EQ(module.kernels.size(), 1u);
  const auto lowered = Lower(module, target::ParseTarget("sm_86").value(), "simt");
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().code, ErrorCode::kRefused);
  EXPECT_EQ(lowered.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Simt, Refusals, testing::ValuesIn(kRefusals),
                         [](const testing::TestParamInfo<Refusal>& param) {
                           return std::string(param.param.name);
                         });

// No op makes a row of a row yet, so that text cannot say this; what lowering promises holds
// without the verifier's help.
TEST(GatherRefusal, OnlyTheRowThatItWasGiven) {
  ir::Module module = ir::ModuleOf(kDeclarations);
  ir::Kernel kernel;
  kernel.name = "k";
  kernel.kind = ir::KernelKind::kGatherCache;
  kernel.layout = 0;
  kernel.results = {ir::RowType(64, 0)};
  ir::Builder b(kernel);
  b.Parameter("given", ir::RowType(64, 0));
  const ir::ValueId other = kernel.NewValue(ir::RowType(64, 0));
  b.Yield({other});
  b.Finish();
  module.kernels = {kernel};
  const Status status = ScheduleSimt(module, target::ParseTarget("sm_86").value());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "schedule simt cannot do kernel @k: a gather hands out the row that it was given");
}

}  // namespace
}  // namespace lijit::lower
