// SPDX-License-Identifier: Apache-2.0
// mma.sync with block scales against exact sums on the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/runtime/emulator/mma_runner.h"

namespace lijit::emulator {
namespace {

// Scales in the lanes and bytes that the selectors choose; what is in the others does not count.
struct Scaling {
  unsigned byte_a, thread_a, byte_b, thread_b;
};

struct ScaledCase {
  FloatCase form;
  unsigned blocks;  // scales of a row of A
};

class ScaledMmaTest : public testing::TestWithParam<ScaledCase> {
 protected:
  // A word a lane for A, a word a lane for B; every byte is random.
  std::vector<std::uint32_t> RandomWords(std::uint32_t least, std::uint32_t range) {
    std::vector<std::uint32_t> words(64);
    for (auto& word : words) {
      for (int i = 0; i < 4; ++i) word = word << 8 | (least + random_() % range);
    }
    return words;
  }

  // The scale of block `block` of a row of A or a column of B: the ISA's figures.
  static double ScaleOfA(const std::vector<std::uint32_t>& words, const Scaling& scaling,
                         unsigned row, unsigned block) {
    const unsigned lane = 4 * (row % 8) + 2 * scaling.thread_a + (row >= 8 ? 1 : 0);
    return DecodeUe8m0(words[lane] >> 8 * (scaling.byte_a + block) & 0xff);
  }
  static double ScaleOfB(const std::vector<std::uint32_t>& words, const Scaling& scaling,
                         unsigned column, unsigned block) {
    const unsigned lane = 4 * column + scaling.thread_b;
    return DecodeUe8m0(words[32 + lane] >> 8 * (scaling.byte_b + block) & 0xff);
  }

  Outcome Run(const Product& product, const std::vector<std::uint32_t>& words,
              const Scaling& scaling, const std::string& before = "") {
    const Shape& shape = GetParam().form.shape;
    RunOptions options;
    options.data = Pack(shape, product);
    const std::size_t place = options.data.size() * 4;
    options.data.insert(options.data.end(), words.begin(), words.end());
    std::string text = MmaInstruction(shape);
    text.pop_back();
    return RunBody(MmaBody(shape, fmt::format(".reg .b32 %s<2>; .reg .b16 %h<2>;\n"
                                              "ld.global.b32 %s0, [%p+{}];\n"
                                              "ld.global.b32 %s1, [%p+{}];\n"
                                              "mov.b16 %h0, {}; mov.b16 %h1, {};\n{}\n"
                                              "{}, %s0, {{%h0, %h1}}, {{%s1}}, {{{}, {}}};",
                                              place, place + 128, scaling.byte_a, scaling.thread_a,
                                              before, text, scaling.byte_b, scaling.thread_b)),
                   options);
  }

  Product RandomProduct() {
    const FloatCase& form = GetParam().form;
    Product product = Zeros(form.shape);
    for (auto& code : product.a) code = RandomFloat(form.a, random_, 8);
    for (auto& code : product.b) code = RandomFloat(form.b, random_, 8);
    for (auto& code : product.c) code = RandomFloat(kF32Format, random_, 16);
    return product;
  }

  std::mt19937 random_{4};
};

TEST_P(ScaledMmaTest, IsTheExactProductRoundedOnce) {
  const auto& [form, blocks] = GetParam();
  const unsigned k_end = form.shape.k;
  for (unsigned trial = 0; trial < 16; ++trial) {
    const Scaling scaling{trial / 2 * blocks % 4, trial % 2, trial * blocks % 4, trial % 4};
    const Product product = RandomProduct();
    const std::vector<std::uint32_t> words = RandomWords(127 - trial, 1 + 2 * trial);
    const Outcome outcome = Run(product, words, scaling);
    ASSERT_EQ(outcome.error + outcome.finding, "");
    const Codes d = Unpack(outcome.data);
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        std::vector<double> summands{DecodeFloat(kF32Format, product.c[row * 8 + column])};
        for (unsigned k = 0; k < k_end; ++k) {
          const unsigned block = k / (k_end / blocks);
          summands.push_back(DecodeFloat(form.a, product.a[row * k_end + k]) *
                             ScaleOfA(words, scaling, row, block) *
                             DecodeFloat(form.b, product.b[k * 8 + column]) *
                             ScaleOfB(words, scaling, column, block));
        }
        ASSERT_EQ(d[row * 8 + column], std::bit_cast<std::uint32_t>(RoundedSum(summands, -80)))
            << trial << ": " << row << " " << column;
      }
    }
  }
}

TEST_P(ScaledMmaTest, ScalesMayBeNaNOrFarApart) {
  const auto& [form, blocks] = GetParam();
  Product product = Zeros(form.shape);
  const auto one = [](const FloatFormat& format) {
    return EncodeFloat(format, 1, Rounding::kNearestEven, true);
  };
  std::fill(product.a.begin(), product.a.end(), one(form.a));
  std::fill(product.b.begin(), product.b.end(), one(form.b));
  std::fill(product.c.begin(), product.c.end(), std::bit_cast<std::uint32_t>(0x1p-30f));
  std::vector<std::uint32_t> words(64, 0x7f7f7f7f);
  words[4] = 0x7f7f7fff;                   // row 1 of A: NaN in its first block
  words[8] = blocks == 2 ? 0xfe00 : 0xfe;  // row 2: 2^127, in the last block; 2^-127 in the first
  words[12] = 0;                           // row 3: 2^-127
  const Outcome outcome = Run(product, words, {0, 0, 0, 0});
  ASSERT_EQ(outcome.error + outcome.finding, "");
  const Codes d = Unpack(outcome.data);
  for (unsigned i = 0; i < 128; ++i) {
    const unsigned row = i / 8;
    const float expected = row == 2   ? std::numeric_limits<float>::infinity()
                           : row == 3 ? 0x1p-30f
                                      : static_cast<float>(form.shape.k);
    ASSERT_EQ(d[i], row == 1 ? 0x7fffffffu : std::bit_cast<std::uint32_t>(expected)) << i;
  }
}

TEST_P(ScaledMmaTest, SelectorsAreChecked) {
  const Product product = Zeros(GetParam().form.shape);
  const std::vector<std::uint32_t> words(64, 0x7f7f7f7f);
  EXPECT_EQ(Run(product, words, {0, 2, 0, 0}).kind, "out-of-bounds");
  EXPECT_EQ(Run(product, words, {4, 0, 0, 0}).kind, "out-of-bounds");
  EXPECT_EQ(Run(product, words, {0, 0, 0, 4}).kind, "out-of-bounds");
  EXPECT_EQ(Run(product, words, {0, 0, 1, 0}).kind, GetParam().blocks == 2 ? "out-of-bounds" : "");
  EXPECT_EQ(Run(product, words, {0, 0, 0, 0}, "setp.lt.u32 %q, %t, 4;\n@%q mov.b16 %h1, 1;").kind,
            "out-of-bounds");
}

INSTANTIATE_TEST_SUITE_P(
    All, ScaledMmaTest,
    testing::Values(
        ScaledCase{
            {{"m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 4,
              64},
             kE2m1Format,
             kE2m1Format},
            2},
        ScaledCase{{{"kind::mxf4.block_scale.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0", 4, 64},
                    kE2m1Format,
                    kE2m1Format},
                   2},
        ScaledCase{{{"kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e5m2.f32."
                     "ue8m0",
                     8, 32},
                    kE4m3Format,
                    kE5m2Format},
                   1}));

}  // namespace
}  // namespace lijit::emulator
