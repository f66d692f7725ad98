// SPDX-License-Identifier: Apache-2.0
// mma.sync on floats against exact sums on the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/runtime/emulator/mma_runner.h"

namespace lijit::emulator {
namespace {

class FloatMmaTest : public testing::TestWithParam<FloatCase> {};

TEST_P(FloatMmaTest, IsTheExactProductRoundedOnce) {
  const auto& [shape, a_format, b_format] = GetParam();
  std::mt19937 random(2);
  for (const unsigned spread : {3u, 8u, 20u, 30u}) {
    Product product = Zeros(shape);
    for (auto& code : product.a) code = RandomFloat(a_format, random, spread);
    for (auto& code : product.b) code = RandomFloat(b_format, random, spread);
    for (auto& code : product.c) code = RandomFloat(kF32Format, random, spread);
    for (unsigned i = 0; i < shape.k; i += 5) product.a[3 * shape.k + i] = 0;
    const Codes d = Multiply(shape, product);
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        std::vector<double> summands{DecodeFloat(kF32Format, product.c[row * 8 + column])};
        for (unsigned k = 0; k < shape.k; ++k) {
          summands.push_back(DecodeFloat(a_format, product.a[row * shape.k + k]) *
                             DecodeFloat(b_format, product.b[k * 8 + column]));
        }
        const float expected = RoundedSum(summands, -80);
        ASSERT_EQ(d[row * 8 + column], std::bit_cast<std::uint32_t>(expected))
            << spread << ": " << row << " " << column << " "
            << std::bit_cast<float>(d[row * 8 + column]) << " " << expected;
      }
    }
  }
}

// One row times one column: K elements each, the rest is zero.
float Dot(const FloatCase& test, const std::vector<std::uint32_t>& a,
          const std::vector<std::uint32_t>& b, float c) {
  const Shape& shape = test.shape;
  Product product = Zeros(shape);
  for (unsigned k = 0; k < a.size(); ++k) {
    product.a[11 * shape.k + k] = a[k];
    product.b[k * 8 + 5] = b[k];
  }
  product.c[11 * 8 + 5] = std::bit_cast<std::uint32_t>(c);
  const Codes d = Multiply(shape, product);
  for (unsigned i = 0; i < 128; ++i) {
    if (i / 8 != 11 && i % 8 != 5) {
      EXPECT_EQ(d[i], 0u) << i;
    }
  }
  return std::bit_cast<float>(d[11 * 8 + 5]);
}

TEST_P(FloatMmaTest, SpecialValues) {
  const FloatCase& test = GetParam();
  const auto a = [&](double value) {
    return EncodeFloat(test.a, value, Rounding::kNearestEven, true);
  };
  const auto b = [&](double value) {
    return EncodeFloat(test.b, value, Rounding::kNearestEven, true);
  };
  constexpr float kInf = std::numeric_limits<float>::infinity();
  // Products that cancel leave c, however small; c alone may be subnormal.
  EXPECT_EQ(Dot(test, {a(4), a(-4)}, {b(4), b(4)}, 1e-40f), 1e-40f);
  EXPECT_EQ(Dot(test, {a(1), a(1)}, {b(1), b(-1)}, -0x1p-149f), -0x1p-149f);
  // A tie, broken by a product that is far smaller: only a sum that is exact sees it.
  EXPECT_EQ(Dot(test, {a(1), a(1)}, {b(1), b(1)}, 0x1p25f), 0x1p25f);
  EXPECT_EQ(Dot(test, {a(1), a(1), a(0x1p-5)}, {b(1), b(1), b(0x1p-4)}, 0x1p25f), 0x1p25f + 4);
  EXPECT_EQ(Dot(test, {a(1)}, {b(1)}, kInf), kInf);
  EXPECT_EQ(Dot(test, {a(1)}, {b(1)}, std::numeric_limits<float>::max()),
            std::numeric_limits<float>::max());
  const float nan = Dot(test, {a(1)}, {b(1)}, std::nanf(""));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(nan), 0x7fffffffu);
  EXPECT_TRUE(std::isnan(Dot(test, {test.a.nan}, {b(0)}, 0)));
  if (!test.a.has_infinity) return;
  const std::uint32_t infinity = test.a.max_finite + 1;
  EXPECT_EQ(Dot(test, {infinity}, {b(-2)}, 3), -kInf);
  EXPECT_TRUE(std::isnan(Dot(test, {infinity}, {b(0)}, 3)));
  EXPECT_TRUE(std::isnan(Dot(test, {infinity}, {b(1)}, -kInf)));
  EXPECT_TRUE(std::isnan(Dot(test, {infinity, infinity}, {b(1), b(-1)}, 0)));
}

// The greatest numbers of the type that cancel, beside the least one.
TEST_P(FloatMmaTest, WidestRange) {
  const FloatCase& test = GetParam();
  const std::uint32_t great = test.a.max_finite;
  const std::uint32_t least = 1;
  const double product = DecodeFloat(test.a, least) * DecodeFloat(test.b, least);
  const float result = Dot(test, {great, great | test.a.sign_bit(), least},
                           {test.b.max_finite, test.b.max_finite, least}, 0x1p-100f);
  EXPECT_EQ(result, static_cast<float>(product + 0x1p-100));
}

std::vector<FloatCase> FloatCases() {
  std::vector<FloatCase> cases;
  const auto add = [&](const std::string& kind, unsigned k, const std::string& a,
                       const std::string& b, const FloatFormat& a_format,
                       const FloatFormat& b_format) {
    const unsigned bits = 1 + a_format.exponent_bits + a_format.mantissa_bits;
    cases.push_back({{fmt::format("{}m16n8k{}.row.col.f32.{}.{}.f32", kind, k, a, b), bits, k},
                     a_format,
                     b_format});
  };
  for (const unsigned k : {8u, 16u}) {
    add("", k, "f16", "f16", kF16Format, kF16Format);
    add("", k, "bf16", "bf16", kBf16Format, kBf16Format);
  }
  for (const char* kind : {"", "kind::f8f6f4."}) {
    for (const unsigned k : {16u, 32u}) {
      add(kind, k, "e4m3", "e4m3", kE4m3Format, kE4m3Format);
      add(kind, k, "e4m3", "e5m2", kE4m3Format, kE5m2Format);
      add(kind, k, "e5m2", "e4m3", kE5m2Format, kE4m3Format);
      add(kind, k, "e5m2", "e5m2", kE5m2Format, kE5m2Format);
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, FloatMmaTest, testing::ValuesIn(FloatCases()),
                         [](const auto& instance) {
                           std::string name = instance.param.shape.suffixes;
                           for (char& c : name) c = c == '.' || c == ':' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace lijit::emulator
