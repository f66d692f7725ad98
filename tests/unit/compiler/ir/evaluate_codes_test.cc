// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/evaluate_codes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/support/float_text.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::ir {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float Up(float x) { return std::nextafter(x, kInf); }
float Down(float x) { return std::nextafter(x, -kInf); }

struct Golden {
  float number;
  std::uint32_t code;
};

void ExpectCodes(std::string_view format, const std::vector<Golden>& goldens) {
  const ElementCodes codes(FormatNamed(format).element);
  for (const Golden& golden : goldens) {
    EXPECT_EQ(codes.Encode(golden.number), golden.code)
        << format << " of " << FloatToText(golden.number);
  }
}

TEST(ElementCodes, E2m1RoundsToNearestEven) {
  ExpectCodes("mxfp4", {{0.25f, 0},       {Up(0.25f), 1},    {Down(0.75f), 1},
                        {0.75f, 2},       {1.25f, 2},        {Up(1.25f), 3},
                        {Down(1.75f), 3}, {1.75f, 4},        {2.5f, 4},
                        {Up(2.5f), 5},    {Down(3.5f), 5},   {3.5f, 6},
                        {5.0f, 6},        {Up(5.0f), 7},     {6.5f, 7},
                        {kInf, 7},        {-kInf, 15},       {kNan, 7},
                        {-kNan, 7},       {0.0f, 0},         {-0.0f, 8},
                        {-0.25f, 8},      {Down(-0.25f), 9}, {-6.0f, 15},
                        {0x1p-149f, 0},   {-0x1p-149f, 8},   {0x1.fffffep+127f, 7}});
}

TEST(ElementCodes, TiesTowardZeroWithoutNegativeZero) {
  for (const char* format : {"mxfp4_deepgemm", "mxfp4_trtllm"}) {
    ExpectCodes(format, {{0.25f, 0},
                         {Up(0.25f), 1},
                         {0.75f, 1},
                         {Up(0.75f), 2},
                         {1.25f, 2},
                         {1.75f, 3},
                         {2.5f, 4},
                         {3.5f, 5},
                         {5.0f, 6},
                         {Up(5.0f), 7},
                         {-0.0f, 0},
                         {-0.25f, 0},
                         {-0.75f, 9},
                         {-5.0f, 14},
                         {kNan, 0},
                         {-kInf, 15},
                         {-3.5f, 13},
                         {-1.75f, 11},
                         {kInf, 7}});
  }
}

TEST(ElementCodes, E4m3Saturates) {
  ExpectCodes(
      "fp8_e4m3",
      {{448.0f, 0x7e},      {449.0f, 0x7e},    {464.0f, 0x7e}, {465.0f, 0x7e},      {kInf, 0x7e},
       {-kInf, 0xfe},       {kNan, 0x7f},      {-kNan, 0x7f},  {-0.0f, 0x80},       {0x1p-10f, 0},
       {Up(0x1p-10f), 1},   {-0x1p-10f, 0x80}, {1.0f, 0x38},   {1.0625f, 0x38},     {1.1875f, 0x3a},
       {Up(1.0625f), 0x39}, {0x1p-9f, 1},      {0x1.8p-9f, 2}, {0x1.4p-8f, 2},      {0x1p-6f, 8},
       {432.0f, 0x7e},      {Down(432), 0x7d}, {0x1.ep-7f, 8}, {Down(0x1.ep-7f), 7}});
}

TEST(ElementCodes, Bf16IsTheUpperHalfOfF32) {
  ExpectCodes("bf16", {{1.0f, 0x3f80},
                       {1.00390625f, 0x3f80},
                       {Up(1.00390625f), 0x3f81},
                       {1.01171875f, 0x3f82},
                       {-0.0f, 0x8000},
                       {kInf, 0x7f80},
                       {-kInf, 0xff80},
                       {kNan, 0x7fff},
                       {-kNan, 0x7fff},
                       {0x1.fep+127f, 0x7f7f},
                       {Down(0x1.ffp+127f), 0x7f7f},
                       {0x1.ffp+127f, 0x7f80},
                       {0x1p-133f, 1},
                       {0x1p-134f, 0},
                       {0x1.8p-133f, 2}});
}

TEST(ElementCodes, F16) {
  ExpectCodes("f16", {{65504.0f, 0x7bff},
                      {65519.0f, 0x7bff},
                      {65520.0f, 0x7c00},
                      {0x1p-24f, 1},
                      {0x1p-25f, 0},
                      {Up(0x1p-25f), 1},
                      {1.0f, 0x3c00},
                      {0x1.002p+0f, 0x3c00},
                      {0x1.006p+0f, 0x3c02}});
}

TEST(ElementCodes, E5m2HasInfinityButSaturatesToTheLargestNumber) {
  ExpectCodes("mxfp8_e5m2",
              {{57344.0f, 0x7b}, {1e9f, 0x7b}, {kInf, 0x7b}, {kNan, 0x7f}, {1, 0x3c}});
  const ElementCodes codes(FormatNamed("mxfp8_e5m2").element);
  EXPECT_EQ(codes.Decode(0x7c), kInf);
  EXPECT_EQ(codes.Decode(0xfc), -kInf);
  EXPECT_TRUE(std::isnan(codes.Decode(0x7d)));
  EXPECT_TRUE(std::isnan(codes.Decode(0xff)));
}

TEST(ElementCodes, E3m0HasPowersOfTwoOnly) {
  ExpectCodes("e3m0", {{0.125f, 0},
                       {Up(0.125f), 1},
                       {0.25f, 1},
                       {0.375f, 1},
                       {Up(0.375f), 2},
                       {16.0f, 7},
                       {12.0f, 6},
                       {Up(12.0f), 7},
                       {-0.1f, 0},
                       {-3.1f, 13},
                       {kNan, 7}});
}

// Encode(Decode(code)) is the code, for all codes of numbers of all formats.
TEST(ElementCodes, NumbersOfCodesHaveThatCode) {
  for (const Format& format : AllFormats().formats) {
    const ElementCodes codes(format.element);
    for (std::uint32_t code = 0; code < 2 * format.element.SignBit(); ++code) {
      const float number = codes.Decode(code);
      const bool saturated = std::isinf(number) && format.element.overflow == Overflow::kSaturate;
      const bool negative_zero =
          code == format.element.SignBit() && format.element.zero == Zero::kPositive;
      if (std::isnan(number) || saturated || negative_zero) continue;
      EXPECT_EQ(codes.Encode(number), code) << format.name;
    }
  }
}

// Codes of a row with `first` in element 0 and zeros behind it.
StoredRow RowWith(std::string_view format, std::vector<float> first, int dim = 128) {
  first.resize(static_cast<std::size_t>(dim));
  return FormatCodes(FormatNamed(format)).Encode(first);
}

TEST(FormatCodes, PackedExamples) {
  const std::vector<float> block = {7, -7, 3.5f, 0.75f, -0.25f, 1.75f, 5, 0};
  const StoredRow up = RowWith("mxfp4", block, 32);
  EXPECT_EQ(up.scales[0], 128);
  EXPECT_EQ(std::vector(up.values.begin(), up.values.begin() + 4),
            (std::vector<std::uint8_t>{0xe6, 0x14, 0x28, 0x04}));
  const StoredRow down = RowWith("mxfp4_ocp_floor", block, 32);
  EXPECT_EQ(down.scales[0], 127);
  EXPECT_EQ(std::vector(down.values.begin(), down.values.begin() + 4),
            (std::vector<std::uint8_t>{0xf7, 0x26, 0x48, 0x06}));
}

TEST(FormatCodes, HighFirstSwapsThePair) {
  // With a = 16, the largest number of E3M0, the scale is 1.
  const StoredRow row = RowWith("e3m0", {16, 1}, 32);
  EXPECT_EQ(row.scales[0], 127);
  EXPECT_EQ(row.values[0], 0x73);
}

TEST(FormatCodes, BlockScalesAreInOrderAndPadded) {
  std::vector<float> x(32);
  x[0] = 6;
  const StoredRow one = RowWith("mxfp4", x, 32);
  EXPECT_EQ(one.scales, (std::vector<std::uint8_t>{127, 127, 127, 127}));
  x.resize(128);
  x[32] = 12;
  x[64] = 24;
  x[96] = 48;
  EXPECT_EQ(RowWith("mxfp4", x).scales, (std::vector<std::uint8_t>{127, 128, 129, 130}));
}

TEST(FormatCodes, Fp8RowScaleIsRoundedBeforeTheElements) {
  const StoredRow exact = RowWith("fp8_e4m3", {449, 1});
  EXPECT_EQ(exact.row_scale, 449.0f / 448.0f);
  EXPECT_EQ(exact.values[0], 0x7e);
  EXPECT_EQ(BitsOfFloat(RowWith("fp8_e4m3", {}).row_scale), 0x346facadu);
  const StoredRow pow2 = RowWith("fp8_e4m3_pow2", {449});
  EXPECT_EQ(pow2.row_scale, 2.0f);
  EXPECT_EQ(pow2.values[0], 0x76);
  EXPECT_EQ(RowWith("fp8_e4m3_pow2", {}).row_scale, 0x1p-22f);
  EXPECT_EQ(RowWith("fp8_e4m3_pow2", {448}).row_scale, 1.0f);
}

TEST(FormatCodes, RowScaleIsStoredLittleEndianBehindTheBlockScales) {
  const StoredRow fp8 = RowWith("fp8_e4m3", {448});
  EXPECT_EQ(fp8.scales, (std::vector<std::uint8_t>{0, 0, 0x80, 0x3f}));
  // Largest magnitude 2688 = 6 * 448: a row scale of 1, the first block's scale 448, others 0.
  const StoredRow nv = RowWith("nvfp4", {2688}, 32);
  EXPECT_EQ(nv.scales, (std::vector<std::uint8_t>{0x7e, 0, 0x38, 0x38, 0, 0, 0x80, 0x3f}));
  EXPECT_EQ(nv.values[0], 0x07);
}

TEST(FormatCodes, DecodeReadsWhatEncodeWrote) {
  std::vector<float> x(128);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(static_cast<float>(i) - 60, -3);
  for (const Format& format : AllFormats().formats) {
    const FormatCodes codes(format);
    const StoredRow written = codes.Encode(x);
    ASSERT_EQ(written.values.size(), static_cast<std::size_t>(format.ValueBytes(128)));
    ASSERT_EQ(written.scales.size(), static_cast<std::size_t>(format.ScaleBytes(128)));
    const StoredRow read = codes.Decode(written.values, written.scales, 128);
    EXPECT_EQ(read.elements, written.elements) << format.name;
    EXPECT_EQ(read.scale_codes, written.scale_codes) << format.name;
    EXPECT_EQ(read.row_scale, written.row_scale) << format.name;
  }
}

TEST(FormatCodes, NanElementsBecomeTheNanCode) {
  const StoredRow fp4 = RowWith("mxfp4", {kNan, 6});
  EXPECT_EQ(fp4.scales[0], 127);
  EXPECT_EQ(fp4.values[0], 0x77);
  const StoredRow fp8 = RowWith("fp8_e4m3", {kNan, 448});
  EXPECT_EQ(fp8.row_scale, 1.0f);
  EXPECT_EQ(fp8.values[0], 0x7f);
  EXPECT_EQ(fp8.values[1], 0x7e);
}

TEST(FormatCodes, PropagatedNanMakesTheBlockNan) {
  for (const float x : {kNan, kInf, -kInf}) {
    const StoredRow row = RowWith("mxfp4_even", {x, 6});
    EXPECT_EQ(row.scales, (std::vector<std::uint8_t>{255, 0, 0, 0}));
    EXPECT_EQ(row.values[0], 0x77);  // x / NaN
    EXPECT_TRUE(std::isnan(row.block_scales[0]));
  }
}

}  // namespace
}  // namespace lijit::ir
