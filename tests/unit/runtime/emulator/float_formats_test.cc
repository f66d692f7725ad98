// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/float_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace lijit::emulator {
namespace {

TEST(FloatFormatsTest, E2m1Values) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::uint32_t code = 0; code < 8; ++code) {
    EXPECT_EQ(DecodeFloat(kE2m1Format, code), values[code]);
    EXPECT_EQ(DecodeFloat(kE2m1Format, code | 8), -values[code]);
    EXPECT_TRUE(std::signbit(DecodeFloat(kE2m1Format, code | 8)));
  }
  // Ties go to the even code.
  const std::pair<double, std::uint32_t> ties[] = {{0.25, 0}, {0.75, 2}, {1.25, 2}, {1.75, 4},
                                                   {2.5, 4},  {3.5, 6},  {5, 6},    {-0.25, 8}};
  for (const auto& [value, code] : ties) {
    EXPECT_EQ(EncodeFloat(kE2m1Format, value, Rounding::kNearestEven, true), code) << value;
  }
  EXPECT_EQ(EncodeFloat(kE2m1Format, NAN, Rounding::kNearestEven, true), 7u);
  EXPECT_EQ(EncodeFloat(kE2m1Format, -INFINITY, Rounding::kNearestEven, true), 15u);
}

TEST(FloatFormatsTest, E4m3Limits) {
  EXPECT_EQ(DecodeFloat(kE4m3Format, 0x7e), 448);
  EXPECT_EQ(DecodeFloat(kE4m3Format, 0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(DecodeFloat(kE4m3Format, 0xff)));
  EXPECT_EQ(EncodeFloat(kE4m3Format, 1e9, Rounding::kNearestEven, true), 0x7eu);
  EXPECT_EQ(EncodeFloat(kE4m3Format, 0x1p-10, Rounding::kNearestEven, true), 0u);
  EXPECT_EQ(EncodeFloat(kE4m3Format, 0x1.8p-10, Rounding::kNearestEven, true), 1u);
}

// Every code of every format is its own nearest, under every rounding.
TEST(FloatFormatsTest, CodesSurviveTheRoundTrip) {
  for (const FloatFormat* format :
       {&kF16Format, &kBf16Format, &kE5m2Format, &kE4m3Format, &kE2m1Format}) {
    for (std::uint32_t code = 0; code < 2 * format->sign_bit(); ++code) {
      const double value = DecodeFloat(*format, code);
      if (std::isnan(value)) continue;
      for (const Rounding rounding : {Rounding::kNearestEven, Rounding::kNearestAway,
                                      Rounding::kTowardZero, Rounding::kDown, Rounding::kUp}) {
        ASSERT_EQ(EncodeFloat(*format, value, rounding, false), code);
      }
    }
  }
}

// Between neighbours a < x < b: the roundings are what their names say.
TEST(FloatFormatsTest, RoundingsBetweenNeighbours) {
  for (std::uint32_t code = 0; code < kF16Format.max_finite; ++code) {
    const double low = DecodeFloat(kF16Format, code);
    const double high = DecodeFloat(kF16Format, code + 1);
    const double middle = (low + high) / 2;
    const auto encode = [](double value, Rounding rounding) {
      return EncodeFloat(kF16Format, value, rounding, false);
    };
    const double above = std::nextafter(middle, high);
    ASSERT_EQ(encode(middle, Rounding::kNearestEven), code + code % 2);
    ASSERT_EQ(encode(middle, Rounding::kNearestAway), code + 1);
    ASSERT_EQ(encode(above, Rounding::kNearestEven), code + 1);
    ASSERT_EQ(encode(above, Rounding::kTowardZero), code);
    ASSERT_EQ(encode(above, Rounding::kDown), code);
    ASSERT_EQ(encode(above, Rounding::kUp), code + 1);
    ASSERT_EQ(encode(-above, Rounding::kDown), (code + 1) | 0x8000);
    ASSERT_EQ(encode(-above, Rounding::kUp), code | 0x8000);
  }
}

TEST(FloatFormatsTest, OverflowFollowsTheRounding) {
  const auto encode = [](double value, Rounding rounding, bool satfinite) {
    return EncodeFloat(kF16Format, value, rounding, satfinite);
  };
  EXPECT_EQ(encode(65520, Rounding::kNearestEven, false), 0x7c00u);
  EXPECT_EQ(encode(65519, Rounding::kNearestEven, false), 0x7bffu);
  EXPECT_EQ(encode(1e10, Rounding::kTowardZero, false), 0x7bffu);
  EXPECT_EQ(encode(1e10, Rounding::kDown, false), 0x7bffu);
  EXPECT_EQ(encode(-1e10, Rounding::kDown, false), 0xfc00u);
  EXPECT_EQ(encode(1e10, Rounding::kUp, false), 0x7c00u);
  EXPECT_EQ(encode(INFINITY, Rounding::kTowardZero, false), 0x7c00u);
  EXPECT_EQ(encode(INFINITY, Rounding::kNearestEven, true), 0x7bffu);
}

TEST(FloatFormatsTest, Ue8m0) {
  EXPECT_EQ(DecodeUe8m0(0), 0x1p-127);
  EXPECT_EQ(DecodeUe8m0(254), 0x1p127);
  EXPECT_TRUE(std::isnan(DecodeUe8m0(255)));
  for (std::uint32_t code = 0; code < 255; ++code) {
    EXPECT_EQ(EncodeUe8m0(DecodeUe8m0(code), Rounding::kUp, false), code);
    EXPECT_EQ(EncodeUe8m0(DecodeUe8m0(code) * 1.5, Rounding::kTowardZero, false), code);
    EXPECT_EQ(EncodeUe8m0(DecodeUe8m0(code) * 1.5, Rounding::kUp, true), std::min(code + 1, 254u));
  }
}

TEST(FloatFormatsTest, SumsRoundedToOdd) {
  EXPECT_EQ(AddToOdd(1, 0x1p-60), 1 + 0x1p-52);
  EXPECT_EQ(AddToOdd(1, -0x1p-60), 1 - 0x1p-53);
  EXPECT_EQ(AddToOdd(-1, 0x1p-60), -1 + 0x1p-53);
  EXPECT_EQ(AddToOdd(1, 0x1p-52), 1 + 0x1p-52);
  EXPECT_EQ(AddToOdd(0x1p-60, 1), 1 + 0x1p-52);
  EXPECT_EQ(AddToOdd(3, 4), 7);
}

}  // namespace
}  // namespace lijit::emulator
