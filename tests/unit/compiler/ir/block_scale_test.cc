// SPDX-License-Identifier: Apache-2.0
// The scale byte of a block by its largest magnitude, against the values that the named public
// implementations give.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/ir/evaluate_codes.h"
#include "compiler/support/float_text.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::ir {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kBf16Max = 0x1.fep+127f;

struct Row {
  float largest;
  int ds_v4;
  int deepgemm;
  int ocp_floor;
  int even;
};

// The reference's byte for infinity is 255; here it is 254 (docs/numerics.md).
const Row kRows[] = {
    {0, 1, 112, 0, 0},
    {0x1p-149f, 1, 112, 0, 0},
    {0x1p-127f, 1, 112, 0, 0},
    {0x1p-126f, 1, 112, 0, 0},
    {0x1.8p-125f, 1, 112, 0, 0},
    {0x1.8p-124f, 1, 112, 1, 1},
    {1e-5f, 108, 112, 108, 108},
    {1e-4f, 112, 112, 111, 111},
    {1, 125, 125, 125, 125},
    {3, 126, 126, 126, 126},
    {4, 127, 127, 127, 127},
    {5, 127, 127, 127, 127},
    {6, 127, 127, 127, 127},
    {0x1.800002p+2f, 128, 128, 127, 127},
    {7, 128, 128, 127, 128},
    {7.5f, 128, 128, 127, 128},
    {8, 128, 128, 128, 128},
    {0x1.8p+12f, 137, 137, 137, 137},
    {0x1.800002p+12f, 138, 138, 137, 137},
    {kBf16Max, 253, 253, 252, 253},
    {kInf, 254, 254, 255, 255},
    {kNan, 1, 112, 255, 255},
};

int CodeOf(std::string_view format, float largest) {
  std::vector<float> block(32);
  block[17] = -largest;
  return FormatCodes(FormatNamed(format)).BlockScaleCodeOf(block, 1);
}

TEST(BlockScale, GoldenBytes) {
  for (const Row& row : kRows) {
    const std::string text = FloatToText(row.largest);
    EXPECT_EQ(CodeOf("mxfp4", row.largest), row.ds_v4) << text;
    EXPECT_EQ(CodeOf("mxfp4_deepgemm", row.largest), row.deepgemm) << text;
    EXPECT_EQ(CodeOf("mxfp4_ocp_floor", row.largest), row.ocp_floor) << text;
    EXPECT_EQ(CodeOf("mxfp4_even", row.largest), row.even) << text;
  }
}

TEST(BlockScale, ZeroBlockTellsTheFloor) {
  EXPECT_EQ(CodeOf("mxfp4", 0), 1);
  EXPECT_EQ(CodeOf("mxfp4_trtllm", 0), 85);
  EXPECT_EQ(CodeOf("mxfp4_deepgemm", 0), 112);
}

// The smallest power of two not below a / 6, found by trying all of them.
int CodeByTrying(float largest, double max) {
  int code = 1;
  while (code < 254 && std::ldexp(max, code - 127) < double{largest}) ++code;
  return code;
}

TEST(BlockScale, Pow2CeilIsTheSmallestThatHolds) {
  const double e4m3_max = 448;
  for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += 0x6fffd) {
    const float a = FloatFromBits(bits);
    const float floored = std::max(a, 0x1.8p-124f);
    ASSERT_EQ(CodeOf("mxfp4", a), CodeByTrying(floored, 6)) << FloatToText(a);
    ASSERT_EQ(CodeOf("mxfp8", a), CodeByTrying(a, e4m3_max)) << FloatToText(a);
  }
  for (int exponent = -126; exponent < 124; ++exponent) {
    const float edge = std::ldexp(6.0f, exponent);
    for (const float a : {std::nextafter(edge, 0.0f), edge, std::nextafter(edge, kInf)}) {
      const float floored = std::max(a, 0x1.8p-124f);
      ASSERT_EQ(CodeOf("mxfp4", a), CodeByTrying(floored, 6)) << FloatToText(a);
    }
  }
}

// The models' reference multiplies with 1/6 in f32; its byte is that of the quotient for every a.
TEST(BlockScale, ProductWithASixthHasTheSameByte) {
  const auto byte = [](float quotient) {
    const std::uint32_t bits = BitsOfFloat(quotient);
    return (bits >> 23) + ((bits & 0x7fffff) != 0 ? 1 : 0);
  };
  // Results are normal numbers: one exponent of `a` stands for all of them.
  for (std::uint32_t mantissa = 0; mantissa < 1u << 23; ++mantissa) {
    const float a = FloatFromBits(127u << 23 | mantissa);
    ASSERT_EQ(byte(a / 6.0f), byte(a * (1.0f / 6.0f))) << FloatToText(a);
  }
}

TEST(BlockScale, NamedBytesAreExactPowersOfTwo) {
  const FormatCodes codes(FormatNamed("mxfp4"));
  EXPECT_EQ(codes.ScaleNumber(0), 0x1p-127f);
  EXPECT_EQ(codes.ScaleNumber(1), 0x1p-126f);
  EXPECT_EQ(codes.ScaleNumber(103), 0x1p-24f);
  EXPECT_EQ(codes.ScaleNumber(112), 0x1p-15f);
  EXPECT_EQ(codes.ScaleNumber(254), 0x1p+127f);
  EXPECT_TRUE(std::isnan(codes.ScaleNumber(255)));
}

}  // namespace
}  // namespace lijit::ir
