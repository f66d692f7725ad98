// SPDX-License-Identifier: Apache-2.0
// mma.sync on integers against products on the host, and what all forms of it have in common.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>

#include "tests/unit/runtime/emulator/mma_runner.h"

namespace lijit::emulator {
namespace {

std::int64_t Integer(const std::string& type, std::uint32_t code) {
  return type == "s8" ? static_cast<std::int8_t>(code) : static_cast<std::uint8_t>(code);
}

class IntegerMmaTest
    : public testing::TestWithParam<std::tuple<std::string, std::string, bool, unsigned>> {};

TEST_P(IntegerMmaTest, IsTheExactProduct) {
  const auto& [a, b, satfinite, depth] = GetParam();
  const Shape shape{
      fmt::format("m16n8k{}.row.col.{}s32.{}.{}.s32", depth, satfinite ? "satfinite." : "", a, b),
      8, depth};
  std::mt19937 random(1);
  for (int trial = 0; trial < 10; ++trial) {
    // In some trials all elements are the largest and the sums are near the limits.
    const bool extreme = trial >= 5;
    const auto element = [&] {
      return extreme ? (random() % 2 == 0 ? 0x80u : 0x7fu + (random() % 2 << 7)) : random() & 0xff;
    };
    const auto sum = [&] {
      return extreme ? 0x7fffffffu + random() % 2 : static_cast<std::uint32_t>(random());
    };
    Product product = Zeros(shape);
    std::generate(product.a.begin(), product.a.end(), element);
    std::generate(product.b.begin(), product.b.end(), element);
    std::generate(product.c.begin(), product.c.end(), sum);
    const Codes d = Multiply(shape, product);
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        std::int64_t exact = static_cast<std::int32_t>(product.c[row * 8 + column]);
        for (unsigned k = 0; k < depth; ++k) {
          exact += Integer(a, product.a[row * depth + k]) * Integer(b, product.b[k * 8 + column]);
        }
        if (satfinite) exact = std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX);
        ASSERT_EQ(d[row * 8 + column], static_cast<std::uint32_t>(exact)) << row << " " << column;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, IntegerMmaTest,
                         testing::Combine(testing::Values("s8", "u8"), testing::Values("s8", "u8"),
                                          testing::Bool(), testing::Values(16u, 32u)));

TEST(MmaTest, SumsMayBeTheDestination) {
  const Shape shape{"m16n8k32.row.col.s32.s8.s8.s32", 8, 32};
  const Product product{Codes(16 * 32, 1), Codes(32 * 8, 2), Codes(128, 5)};
  RunOptions options;
  options.data = Pack(shape, product);
  const std::string text = MmaInstruction(shape, "{%c0, %c1, %c2, %c3}");
  const Outcome outcome =
      RunBody(MmaBody(shape, text + text +
                                 "\nmov.b32 %d0, %c0; mov.b32 %d1, %c1; mov.b32 %d2, %c2; "
                                 "mov.b32 %d3, %c3;"),
              options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(outcome.data[i], 5u + 2 * 64);
}

TEST(MmaTest, AllThreadsMustTakePart) {
  const Shape shape{"m16n8k32.row.col.s32.s8.s8.s32", 8, 32};
  RunOptions options;
  options.data = Pack(shape, Zeros(shape));
  // A thread that skips it and exits, one that waits elsewhere for ever, and a block of 31 threads.
  const std::string skips = "setp.ne.u32 %q, %t, 7;\n@%q " + MmaInstruction(shape);
  Outcome outcome = RunBody(MmaBody(shape, skips), options);
  EXPECT_EQ(outcome.kind, "divergence");
  EXPECT_EQ(
      outcome.finding,
      "divergence: kernel 'k', PTX line 20 (mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32): "
      "thread (0,0,0) of block (0,0,0) executes it with 31 threads of its warp; it is for "
      "all 32");
  const std::string waits = "setp.eq.u32 %q, %t, 7;\n@%q bar.warp.sync -1;\n@%q bra past;\n" +
                            MmaInstruction(shape) + "\npast:";
  EXPECT_EQ(RunBody(MmaBody(shape, waits), options).kind, "divergence");
  options.block = {31, 1, 1};
  outcome = RunBody(MmaBody(shape, MmaInstruction(shape)), options);
  EXPECT_EQ(outcome.kind, "divergence");
}

TEST(MmaTest, ThreadsThatCameApartMeet) {
  const Shape shape{"m16n8k32.row.col.s32.s8.s8.s32", 8, 32};
  RunOptions options;
  options.data = Pack(shape, {Codes(16 * 32, 1), Codes(32 * 8, 2), Codes(128, 5)});
  const std::string text =
      "setp.lt.u32 %q, %t, 7;\n@%q bra apart;\nadd.u32 %c0, %c0, 1;\napart:\n" +
      MmaInstruction(shape);
  const Outcome outcome = RunBody(MmaBody(shape, text), options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  EXPECT_EQ(outcome.data[0], 69u);
  EXPECT_EQ(outcome.data[8], 70u);
}

TEST(MmaTest, UnknownFormsAreErrors) {
  const auto error = [](const std::string& text) {
    return BodyError(".reg .b32 %a<4>, %b<4>, %c<4>, %d<4>; .reg .b64 %w;\n" + text);
  };
  const std::string operands = " {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, ";
  const std::string c = "{%c0,%c1,%c2,%c3};";
  EXPECT_EQ(error("mma.sync.aligned.m16n8k32.row.col.s32.s8.f16.s32" + operands + c),
            "ptx line 6: mma.sync.aligned.m16n8k32.row.col.s32.s8.f16.s32: this shape with these "
            "types is not known to the emulator");
  EXPECT_NE(error("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16" + operands + c), "");
  EXPECT_NE(error("mma.sync.aligned.m16n8k32.col.row.s32.s8.s8.s32" + operands + c), "");
  EXPECT_NE(error("mma.sync.m16n8k32.row.col.s32.s8.s8.s32" + operands + c), "");
  EXPECT_NE(error("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.s32.s8.s8.s32" + operands + c),
            "");
  EXPECT_NE(error("mma.sync.aligned.kind::mxf4.block_scale.scale_vec::1X.m16n8k64.row.col.f32.e2m1."
                  "e2m1.f32.ue8m0" +
                  operands + "{%c0,%c1,%c2,%c3}, %a0, {0,0}, %a0, {0,0};"),
            "");
  EXPECT_NE(error("mma.sync.aligned.kind::mxf4.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0" +
                  operands + "{%c0,%c1,%c2,%c3}, %a0, {0,0}, %a0, {0,0};"),
            "");
  EXPECT_EQ(error("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32" + operands + c),
            "ptx line 6: mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32: "
            "'.satfinite' is for .s32");
  EXPECT_EQ(error("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" + operands + "{%c0,%c1};"),
            "ptx line 6: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32: a fragment of 4 "
            "registers is wanted");
  EXPECT_NE(
      error("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" + operands + "{%c0,%c1,%c2,%w};"),
      "");
}

}  // namespace
}  // namespace lijit::emulator
