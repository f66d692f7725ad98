// SPDX-License-Identifier: Apache-2.0
// Reported faults of quantization and of the weights, in the kernels of a target without native
// conversions and of one with them.
#include <cmath>

#include "compiler/ir/evaluate_codes.h"
#include "tests/emulated/reported_faults.h"

namespace lijit::tests {
namespace {

using Bytes = std::vector<std::uint8_t>;

// One row of f32 numbers (padded with zeros) as the device quantizes it.
struct Quantized {
  Bytes values, scales;
  std::vector<float> weights;
};

Quantized Quantize(std::string_view format, const char* target, std::vector<float> row,
                   std::vector<float> w = std::vector<float>(8, 1)) {
  IndexerConfig config = Small(format);
  config.input = DType::kF32;
  row.resize(8 * 128);
  QueryCase c(TestIndexer::Of(config, target), {.tokens = 1, .q = row, .w = std::move(w)});
  c.Check();
  return {c.expected.rows.values, c.expected.rows.scales, c.expected.weights};
}

// A scale that is stored and folded into the weight is applied twice.
TEST_F(ReportedFaults, B59_Fp4ScalesAreNotFolded) {
  for (const char* target : kTargets) {
    const Quantized small = Quantize("mxfp4", target, std::vector<float>(8 * 128, 6));
    const Quantized large = Quantize("mxfp4", target, std::vector<float>(8 * 128, 48));
    EXPECT_EQ(small.scales[0], 127);
    EXPECT_EQ(large.scales[0], 130);
    EXPECT_EQ(small.weights, large.weights);
    const Quantized fp8 = Quantize("fp8_e4m3", target, std::vector<float>(8 * 128, 448));
    EXPECT_NE(fp8.weights, Quantize("fp8_e4m3", target, std::vector<float>(8 * 128, 1)).weights);
  }
}

// Weights that bf16 cannot tell from one another.
TEST_F(ReportedFaults, B60_WeightsAreNotRounded) {
  std::vector<float> w(8, 1);
  w[1] = 1 + 0x1p-10f;
  const Quantized q = Quantize("mxfp4", "sm_86", std::vector<float>(8 * 128, 6), w);
  EXPECT_GT(q.weights[1], q.weights[0]);
  RaggedCase ragged(TestIndexer::Of(Small("mxfp4")),
                    {.keys = 1, .starts = {0, 0}, .ends = {1, 1}, .scoring = {.w = [] {
                                                                    std::vector<float> rows(16, 1);
                                                                    rows[8] = 1 + 0x1p-10f;
                                                                    return rows;
                                                                  }()}});
  ragged.Check();
}

// Zero times infinity, and inverses that were flushed to zero.
TEST_F(ReportedFaults, B64_TinyAndHugeBlocks) {
  for (const char* target : kTargets) {
    for (const char* format : kFormats) {
      for (const float x : {1e-35f, 1e-38f, 1e-40f, 0x1p-149f, 1e38f, 3.4e38f}) {
        const Quantized q = Quantize(format, target, std::vector<float>(128, x));
        for (const std::uint8_t byte : q.values) EXPECT_NE(byte & 0x7f, 0x7f) << format << x;
        for (const std::uint8_t scale : q.scales) EXPECT_NE(scale, 255) << format << x;
        for (const float w : q.weights) EXPECT_TRUE(std::isfinite(w)) << format << x;
      }
      const Quantized zeros = Quantize(format, target, {});
      EXPECT_EQ(zeros.values, Bytes(zeros.values.size(), 0)) << format;
    }
  }
}

// Blocks whose largest number is 6 have scale 1: elements are rounded as they are.
Bytes CodesOf(const char* target, std::vector<float> block) {
  block.resize(31);
  block.push_back(6);
  const Quantized q = Quantize("mxfp4", target, block);
  EXPECT_EQ(q.scales[0], 127);
  Bytes codes;
  for (std::size_t i = 0; i < 16; ++i) {
    codes.push_back(q.values[i] & 15);
    codes.push_back(q.values[i] >> 4);
  }
  return codes;
}

TEST_F(ReportedFaults, B65_TiesGoToTheEvenCode) {
  for (const char* target : kTargets) {
    const Bytes codes = CodesOf(target, {.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.f, -.25f, -.75f,
                                         -1.25f, -1.75f, -2.5f, -3.5f, -5.f, -0.f});
    const Bytes wanted = {0, 2, 2, 4, 4, 6, 6, 8, 10, 10, 12, 12, 14, 14, 8};
    EXPECT_EQ(Bytes(codes.begin(), codes.begin() + 15), wanted) << target;
  }
}

// Bits dropped before rounding, or two roundings.
TEST_F(ReportedFaults, B66_OneRounding) {
  const float ties[] = {.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.f};
  std::vector<float> above, below;
  for (const float tie : ties) {
    above.push_back(std::nextafter(tie, 10.f));
    below.push_back(std::nextafter(tie, 0.f));
  }
  for (const char* target : kTargets) {
    const Bytes up = CodesOf(target, above), down = CodesOf(target, below);
    for (std::size_t i = 0; i < std::size(ties); ++i) {
      EXPECT_EQ(up[i], i + 1) << target << ties[i];
      EXPECT_EQ(down[i], i) << target << ties[i];
    }
  }
}

// Nibbles in the order of another format.
TEST_F(ReportedFaults, B67_TheEvenElementIsTheLowNibble) {
  const float numbers[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6};
  std::vector<float> ramp;
  for (std::size_t i = 0; i < 128; ++i) ramp.push_back(numbers[i % 8]);
  for (const char* target : kTargets) {
    const Quantized q = Quantize("mxfp4", target, ramp);
    EXPECT_EQ(Bytes(q.values.begin(), q.values.begin() + 4), (Bytes{0x10, 0x32, 0x54, 0x76}));
    EXPECT_EQ(Bytes(q.scales.begin(), q.scales.begin() + 4), Bytes(4, 127));
  }
}

// The largest magnitude was rounded to bf16 first.
TEST_F(ReportedFaults, B69_MagnitudesAreNotRoundedFirst) {
  for (const char* target : kTargets) {
    EXPECT_EQ(Quantize("mxfp4", target, {6 + 0x1p-20f}).scales[0], 128);
    EXPECT_EQ(Quantize("fp8_e4m3", target, {465.f}).values[0], 0x7e);
  }
}

// Scales rounded to the nearest power of two.
TEST_F(ReportedFaults, B70_ScalesAreRoundedUp) {
  for (const char* target : kTargets) {
    EXPECT_EQ(Quantize("mxfp4", target, {7.2f}).scales[0], 128);
    EXPECT_EQ(Quantize("mxfp4", target, {6}).scales[0], 127);
  }
}

// One mode's floor in another's rows.
TEST_F(ReportedFaults, B71_SmallRowsAreNotZeroed) {
  for (const char* target : kTargets) {
    EXPECT_EQ(Quantize("mxfp4", target, {1e-5f}).scales[0], 108);
    EXPECT_EQ(Quantize("mxfp4_deepgemm", target, {1e-5f}).scales[0], 112);
    EXPECT_EQ(Quantize("mxfp4", target, {1e-5f}).values[0] & 15, 7);
  }
}

}  // namespace
}  // namespace lijit::tests
