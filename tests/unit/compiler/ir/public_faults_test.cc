// SPDX-License-Identifier: Apache-2.0
// Kinds of quantization fault that users of such kernels have reported in public: each test shows
// that the definition here is immune to one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/ir/evaluate_codes.h"
#include "compiler/ir/evaluator.h"
#include "compiler/support/float_text.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::ir {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

StoredRow Encoded(std::string_view format, const std::vector<float>& x) {
  return FormatCodes(FormatNamed(format)).Encode(x);
}

float Score(std::string_view format, std::vector<std::uint8_t> key_scales) {
  const Module module = IndexerOf(format, {{"heads", "8"}, {"dim", "32"}, {"weight", "f32"}});
  const std::vector<float> x(8 * 32, 6);
  const std::vector<float> w(8, 1);
  const auto query = EvaluateQuantizeQuery(module, *module.FindKernel("quantize_query"), 8, x, w);
  const StoredRow key = Encoded(format, std::vector<float>(32, 6));
  if (key_scales.empty()) key_scales = key.scales;
  return EvaluateLogitsRagged(module, *module.FindKernel("logits_ragged"),
                              {query.rows.values, query.rows.scales}, {key.values, key_scales},
                              query.weights, std::vector<std::int32_t>{0},
                              std::vector<std::int32_t>{1}, 1)[0];
}

// A query scale that is stored and folded into the weight would be applied twice.
TEST(PublicFaults, B59_Fp4QueryScaleIsNotAppliedTwice) {
  const Module module = IndexerOf("mxfp4", {{"heads", "8"}, {"weight", "f32"}});
  const std::vector<float> small(8 * 128, 6);
  const std::vector<float> large(8 * 128, 48);  // byte 130
  const std::vector<float> w(8, 1);
  const Kernel& kernel = *module.FindKernel("quantize_query");
  const auto a = EvaluateQuantizeQuery(module, kernel, 8, small, w);
  const auto b = EvaluateQuantizeQuery(module, kernel, 8, large, w);
  EXPECT_EQ(a.rows.scales[0], 127);
  EXPECT_EQ(b.rows.scales[0], 130);
  EXPECT_EQ(a.weights, b.weights);
}

TEST(PublicFaults, B64_TinyAndHugeBlocksStayFinite) {
  for (const char* format : {"mxfp4", "mxfp4_deepgemm", "mxfp8", "nvfp4", "fp8_e4m3"}) {
    for (const float x : {1e-35f, 1e-38f, 1e-40f, 0x1p-149f, 1e38f, 3.3e38f}) {
      const FormatCodes codes(FormatNamed(format));
      const StoredRow row = codes.Encode(std::vector<float>(32, x));
      for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_TRUE(std::isfinite(row.elements[i])) << format << FloatToText(x);
        EXPECT_TRUE(row.block_scales.empty() || std::isfinite(row.block_scales[0])) << format;
        EXPECT_TRUE(std::isfinite(row.row_scale)) << format;
      }
    }
    for (const float element : Encoded(format, std::vector<float>(32)).elements) {
      EXPECT_EQ(element, 0.0f) << format;
    }
  }
}

TEST(PublicFaults, B65_TiesGoToTheEvenCode) {
  const ElementCodes codes(FormatNamed("mxfp4").element);
  const float ties[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5};
  const std::uint32_t even[] = {0, 2, 2, 4, 4, 6, 6};
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(codes.Encode(ties[i]), even[i]);
    EXPECT_EQ(codes.Encode(-ties[i]), even[i] + 8);
  }
}

TEST(PublicFaults, B66_NoBitIsLostBeforeRounding) {
  const ElementCodes codes(FormatNamed("mxfp4").element);
  float x = 0.25f;
  for (int ulps = 1; ulps <= 3; ++ulps) {
    x = std::nextafter(x, 1.0f);
    EXPECT_EQ(codes.Decode(codes.Encode(x)), 0.5f);
  }
  // Just above the midpoint of two E4M3 numbers, and nearest to it in f16: one rounding goes up,
  // two would go to the even code below.
  const ElementCodes e4m3(FormatNamed("fp8_e4m3").element);
  EXPECT_EQ(e4m3.Decode(e4m3.Encode(0x1.100002p+0f)), 0x1.2p+0f);
  EXPECT_EQ(e4m3.Decode(e4m3.Encode(0x1.1p+0f)), 0x1p+0f);
}

TEST(PublicFaults, B67_EvenElementIsTheLowNibble) {
  const float grid[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  std::vector<float> x(32);
  for (std::size_t i = 0; i < 32; ++i) x[i] = grid[i % 8];
  const StoredRow row = Encoded("mxfp4", x);
  EXPECT_EQ(row.scales[0], 127);
  for (std::size_t j = 0; j < 16; ++j) {
    const std::size_t low = 2 * j % 8;
    EXPECT_EQ(row.values[j], low + 16 * (low + 1)) << j;
  }
}

TEST(PublicFaults, B68_EveryScaleByteIsExact) {
  const FormatCodes codes(FormatNamed("mxfp4"));
  for (const int byte : {0, 1, 103, 112, 113, 142, 254}) {
    EXPECT_EQ(codes.ScaleNumber(byte), std::ldexp(1.0f, byte - 127));
    const auto scale = static_cast<std::uint8_t>(byte);
    const double expected = std::ldexp(double{Score("mxfp4", {127, 127, 127, 127})}, byte - 127);
    EXPECT_FLOAT_EQ(Score("mxfp4", {scale, 127, 127, 127}), static_cast<float>(expected)) << byte;
  }
  EXPECT_TRUE(std::isnan(Score("mxfp4", {255, 127, 127, 127})));
}

TEST(PublicFaults, B69_ScaleAndElementsAreRoundedOnce) {
  // 6 + 2^-20 rounds to 6 in bf16; its scale is that of a number above 6.
  std::vector<float> x(32);
  x[0] = 6 + 0x1p-20f;
  EXPECT_EQ(Encoded("mxfp4", x).scales[0], 128);
  const ElementCodes e4m3(FormatNamed("fp8_e4m3").element);
  for (const float large : {449.0f, 465.0f, 1e30f, kInf}) EXPECT_EQ(e4m3.Encode(large), 0x7e);
  // 957 is 1.87 * 2^9: half of it is beyond 448 and the scale is 4, so that it is not cut to 896.
  x[0] = 957;
  const StoredRow row = Encoded("mxfp8", x);
  EXPECT_EQ(row.elements[0] * row.block_scales[0], 960);
}

TEST(PublicFaults, B70_ScaleIsRoundedUpNotToNearest) {
  std::vector<float> x(32);
  x[0] = 7.2f;  // a / 6 = 1.2, whose nearest power of two is 1
  EXPECT_EQ(Encoded("mxfp4", x).scales[0], 128);
}

TEST(PublicFaults, B71_SmallRowsAreNotZeroedByTheFloor) {
  std::vector<float> x(32);
  x[0] = 1e-5f;
  EXPECT_EQ(Encoded("mxfp4", x).scales[0], 108);
  EXPECT_EQ(Encoded("mxfp4_deepgemm", x).scales[0], 112);
  EXPECT_GE(Encoded("mxfp4", x).elements[0], 4.0f);
}

// Small weights differ in bits that bf16 does not have.
TEST(PublicFaults, B60_WeightsKeepTheirF32Bits) {
  const Module module = IndexerOf("mxfp4", {{"heads", "8"}, {"weight", "f32"}});
  std::vector<float> w(8, 1);
  w[1] = 1 + 0x1p-10f;
  const auto query = EvaluateQuantizeQuery(module, *module.FindKernel("quantize_query"), 8,
                                           std::vector<float>(8 * 128, 1), w);
  EXPECT_GT(query.weights[1], query.weights[0]);
}

}  // namespace
}  // namespace lijit::ir
