// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 arithmetic. The reference finds the nearest code by search among all codes, so it
// shares nothing with the emulator's conversion.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

struct Format {
  const char* name;
  int exponent_bits;
  int mantissa_bits;
};
constexpr Format kF16{"f16", 5, 10};
constexpr Format kBf16{"bf16", 8, 7};

double ValueOf(const Format& format, std::uint32_t code) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent =
      static_cast<int>(code >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const double mantissa = code & ((1u << format.mantissa_bits) - 1);
  const double sign = code >> 15 != 0 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits) - 1) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
  return sign *
         std::ldexp(mantissa + (1 << format.mantissa_bits), exponent - bias - format.mantissa_bits);
}

// The code whose value is nearest to an exact long double; ties to the even code.
std::uint32_t Nearest(const Format& format, long double exact) {
  if (std::isnan(exact)) return 0x7fff;
  const std::uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
  const std::uint32_t sign = std::signbit(exact) ? 0x8000 : 0;
  const long double magnitude = std::fabs(exact);
  std::uint32_t low = 0;
  std::uint32_t high = infinity;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (ValueOf(format, middle) <= magnitude ? low : high) = middle;
  }
  // Beyond the largest value, the next one counts as if the exponent range went on.
  const long double below = ValueOf(format, low);
  const long double above = high == infinity ? 2 * below - ValueOf(format, low - 1)
                                             : static_cast<long double>(ValueOf(format, high));
  if (std::isinf(magnitude)) return sign | infinity;
  const long double to_low = magnitude - below;
  const long double to_high = above - magnitude;
  const bool takes_low = to_low < to_high || (to_low == to_high && low % 2 == 0);
  return sign | (takes_low ? low : high);
}

std::vector<std::vector<std::uint64_t>> CodeInputs(unsigned columns) {
  return IntegerInputs(16, columns);
}

template <typename F>
void CheckHalf(const Format& format, const char* text, unsigned sources, F exact) {
  auto inputs = CodeInputs(sources);
  const std::string instruction = fmt::format(fmt::runtime(text), format.name);
  const auto pairs = fmt::format(fmt::runtime(text), std::string(format.name) + "x2");
  auto padded = inputs;
  for (auto& row : padded) row.resize(3);
  const auto results = Evaluate(instruction, {16, 16, 16, 16}, padded);
  // In pairs: the row in the low half, and with operands swapped in the high half.
  auto packed = padded;
  for (auto& row : packed) {
    const auto original = row;
    row[0] |= original[sources > 1 ? 1 : 0] << 16;
    row[1] |= original[0] << 16;
    row[2] |= original[2] << 16;
  }
  const auto both = Evaluate(pairs, {32, 32, 32, 32}, packed);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto value = [&](unsigned j) {
      return static_cast<long double>(ValueOf(format, static_cast<std::uint32_t>(padded[i][j])));
    };
    const std::uint32_t expected = Nearest(format, exact(value(0), value(1), value(2)));
    ASSERT_EQ(results[i], expected) << instruction << " row " << i;
    const std::uint32_t swapped =
        sources > 1 ? Nearest(format, exact(value(1), value(0), value(2))) : expected;
    ASSERT_EQ(both[i], swapped << 16 | expected) << pairs << " row " << i;
  }
}

using Exact = long double;

TEST(HalfTest, ArithmeticIsRoundedOnce) {
  CheckHalf(kF16, "add.{} %d, %a, %b;", 2, [](Exact a, Exact b, Exact) { return a + b; });
  CheckHalf(kF16, "sub.{} %d, %a, %b;", 2, [](Exact a, Exact b, Exact) { return a - b; });
  CheckHalf(kF16, "mul.{} %d, %a, %b;", 2, [](Exact a, Exact b, Exact) { return a * b; });
  CheckHalf(kBf16, "mul.{} %d, %a, %b;", 2, [](Exact a, Exact b, Exact) { return a * b; });
}

TEST(HalfTest, FmaOfCloseMagnitudes) {
  // Where an intermediate rounding to f32 would show: a*b + c with c far smaller than a*b's ulp.
  std::vector<std::vector<std::uint64_t>> inputs;
  for (std::uint64_t a = 0x3c00; a < 0x3c80; ++a) inputs.push_back({a, 0x3c01 + a % 64, 0x0001});
  for (std::uint64_t a = 0x3c00; a < 0x3c80; ++a) inputs.push_back({a, 0x3c01 + a % 64, 0x8001});
  const auto results = Evaluate("fma.rn.f16 %d, %a, %b, %c;", {16, 16, 16, 16}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto value = [&](unsigned j) -> Exact {
      return ValueOf(kF16, static_cast<std::uint32_t>(inputs[i][j]));
    };
    ASSERT_EQ(results[i], Nearest(kF16, value(0) * value(1) + value(2)));
  }
  // The same for bf16: 1.51171875 lies between 0x3fc1 and 0x3fc2, and the tiny addend decides.
  const char* fma = "fma.rn.bf16 %d, %a, %b, %c;";
  EXPECT_EQ(EvaluateOne(fma, {16, 16, 16, 16}, {0x3f81, 0x3fc0, 0x0000}), 0x3fc2u);
  EXPECT_EQ(EvaluateOne(fma, {16, 16, 16, 16}, {0x3f81, 0x3fc0, 0x0001}), 0x3fc2u);
  EXPECT_EQ(EvaluateOne(fma, {16, 16, 16, 16}, {0x3f81, 0x3fc0, 0x8001}), 0x3fc1u);
}

TEST(HalfTest, Bf16SumsOfFarMagnitudes) {
  // 1 + 2^-8 is a tie; a tiny third bit decides it, which double cannot hold with the sum.
  EXPECT_EQ(EvaluateOne("add.bf16 %d, %a, %b;", {16, 16, 16}, {0x3f80, 0x3b80}), 0x3f80u);
  EXPECT_EQ(EvaluateOne("add.bf16 %d, %a, %b;", {16, 16, 16}, {0x3f80, 0x3b81}), 0x3f81u);
  EXPECT_EQ(EvaluateOne("sub.bf16 %d, %a, %b;", {16, 16, 16}, {0x3f80, 0x0001}), 0x3f80u);
  EXPECT_EQ(EvaluateOne("add.bf16 %d, %a, %b;", {16, 16, 16}, {0x7f80, 0xff80}), 0x7fffu);
}

TEST(HalfTest, FlushSaturateRelu) {
  EXPECT_EQ(EvaluateOne("add.ftz.f16 %d, %a, %b;", {16, 16, 16}, {0x0001, 0x0001}), 0u);
  EXPECT_EQ(EvaluateOne("add.f16 %d, %a, %b;", {16, 16, 16}, {0x0001, 0x0001}), 2u);
  EXPECT_EQ(EvaluateOne("mul.sat.f16 %d, %a, %b;", {16, 16, 16}, {0x4000, 0x4000}), 0x3c00u);
  EXPECT_EQ(EvaluateOne("mul.sat.f16 %d, %a, %b;", {16, 16, 16}, {0xc000, 0x4000}), 0u);
  EXPECT_EQ(EvaluateOne("fma.rn.relu.f16 %d, %a, %a, %b;", {16, 16, 16}, {0x3c00, 0xc000}), 0u);
  EXPECT_EQ(
      EvaluateOne("fma.rn.relu.bf16x2 %d, %a, %a, %b;", {32, 32, 32}, {0x3f803f80, 0xc0004000}),
      0x00004040u);
  EXPECT_EQ(EvaluateOne("fma.rn.relu.f16 %d, %a, %a, %b;", {16, 16, 16}, {0x7e00, 0}), 0x7fffu);
}

TEST(HalfTest, MinAndMax) {
  EXPECT_EQ(EvaluateOne("min.f16 %d, %a, %b;", {16, 16, 16}, {0x0000, 0x8000}), 0x8000u);
  EXPECT_EQ(EvaluateOne("max.f16 %d, %a, %b;", {16, 16, 16}, {0x7e00, 0xbc00}), 0xbc00u);
  EXPECT_EQ(EvaluateOne("max.NaN.f16 %d, %a, %b;", {16, 16, 16}, {0x7e00, 0xbc00}), 0x7fffu);
  EXPECT_EQ(EvaluateOne("max.bf16x2 %d, %a, %b;", {32, 32, 32}, {0x3f80c000, 0x40003f80}),
            0x40003f80u);
  EXPECT_EQ(
      EvaluateOne("min.xorsign.abs.f16x2 %d, %a, %b;", {32, 32, 32}, {0xbc00bc00, 0x4000c000}),
      0xbc003c00u);
  EXPECT_EQ(EvaluateOne("abs.bf16 %d, %a;", {16, 16}, {0xbf80}), 0x3f80u);
}

TEST(HalfTest, Functions) {
  EXPECT_EQ(EvaluateOne("ex2.approx.f16 %d, %a;", {16, 16}, {0x4200}), 0x4800u);  // 2^3
  EXPECT_EQ(EvaluateOne("ex2.approx.ftz.bf16x2 %d, %a;", {32, 32}, {0x4040bf80}), 0x41003f00u);
  EXPECT_EQ(EvaluateOne("tanh.approx.f16 %d, %a;", {16, 16}, {0x0000}), 0u);
}

}  // namespace
}  // namespace lijit::emulator
