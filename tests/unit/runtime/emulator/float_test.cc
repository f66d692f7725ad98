// SPDX-License-Identifier: Apache-2.0
// f32 and f64 arithmetic. Directed roundings are checked against long double sums and products and
// the definition of the rounding, not against the host's rounding modes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

using Rows = std::vector<std::vector<std::uint64_t>>;

float F32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
double F64(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::uint64_t Bits32(float value) {
  return std::isnan(value) ? 0x7fffffff : std::bit_cast<std::uint32_t>(value);
}

template <typename F>
void CheckF32(const std::string& text, unsigned sources, F expected) {
  const Rows inputs = FloatInputs32(sources);
  const auto results = Evaluate(text, {32, 32, 32, 32}, [&] {
    Rows padded = inputs;
    for (auto& row : padded) row.resize(3);
    return padded;
  }());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& in = inputs[i];
    const float b = sources > 1 ? F32(in[1]) : 0;
    const float c = sources > 2 ? F32(in[2]) : 0;
    ASSERT_EQ(results[i], Bits32(expected(F32(in[0]), b, c)))
        << text << " " << F32(in[0]) << " " << b << " " << c;
  }
}

TEST(FloatTest, NearestEven) {
  CheckF32("add.f32 %d, %a, %b;", 2, [](float a, float b, float) { return a + b; });
  CheckF32("sub.rn.f32 %d, %a, %b;", 2, [](float a, float b, float) { return a - b; });
  CheckF32("mul.f32 %d, %a, %b;", 2, [](float a, float b, float) { return a * b; });
  CheckF32("div.rn.f32 %d, %a, %b;", 2, [](float a, float b, float) { return a / b; });
  CheckF32("fma.rn.f32 %d, %a, %b, %c;", 3,
           [](float a, float b, float c) { return std::fma(a, b, c); });
  CheckF32("mad.rn.f32 %d, %a, %b, %c;", 3,
           [](float a, float b, float c) { return std::fma(a, b, c); });
  CheckF32("sqrt.rn.f32 %d, %a;", 1, [](float a, float, float) { return std::sqrt(a); });
  CheckF32("rcp.rn.f32 %d, %a;", 1, [](float a, float, float) { return 1 / a; });
}

TEST(FloatTest, ApproximationsAreTheExactValueRoundedOnce) {
  const auto once = [](double value) { return static_cast<float>(value); };
  CheckF32("div.full.f32 %d, %a, %b;", 2, [](float a, float b, float) { return a / b; });
  CheckF32("rcp.approx.f32 %d, %a;", 1, [](float a, float, float) { return 1 / a; });
  CheckF32("rsqrt.approx.f32 %d, %a;", 1,
           [&](float a, float, float) { return once(1 / std::sqrt(double{a})); });
  CheckF32("ex2.approx.f32 %d, %a;", 1,
           [&](float a, float, float) { return once(std::exp2(double{a})); });
  CheckF32("lg2.approx.f32 %d, %a;", 1,
           [&](float a, float, float) { return once(std::log2(double{a})); });
  CheckF32("sin.approx.f32 %d, %a;", 1,
           [&](float a, float, float) { return once(std::sin(double{a})); });
  CheckF32("cos.approx.f32 %d, %a;", 1,
           [&](float a, float, float) { return once(std::cos(double{a})); });
  CheckF32("tanh.approx.f32 %d, %a;", 1,
           [&](float a, float, float) { return once(std::tanh(double{a})); });
}

// PTX ISA, div: the range of divisors that .approx does not serve.
TEST(FloatTest, ApproximateDivisionByLargeNumbers) {
  const auto divide = [](std::uint64_t a, std::uint64_t b) {
    return EvaluateOne("div.approx.f32 %d, %a, %b;", {32, 32, 32}, {a, b});
  };
  EXPECT_EQ(divide(0x3f800000, 0x7e800000), 0x00800000u);  // 2^126
  EXPECT_EQ(divide(0x3f800000, 0x7e800001), 0u);
  EXPECT_EQ(divide(0xbf800000, 0x7f7fffff), 0x80000000u);
  EXPECT_EQ(divide(0x7f800000, 0x7f7fffff), 0x7fffffffu);
  EXPECT_EQ(divide(0x3f800000, 0x7f800000), 0u);
}

float Flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

TEST(FloatTest, FlushToZero) {
  CheckF32("add.ftz.f32 %d, %a, %b;", 2,
           [](float a, float b, float) { return Flush(Flush(a) + Flush(b)); });
  CheckF32("mul.ftz.f32 %d, %a, %b;", 2,
           [](float a, float b, float) { return Flush(Flush(a) * Flush(b)); });
  // An addend that is the least normal number itself is left to FlushesBeforeRounding.
  CheckF32(
      "{ .reg .f32 x; mul.f32 x, %c, 0f40000000; fma.rn.ftz.f32 %d, %a, %b, x; }", 3,
      [](float a, float b, float c) { return Flush(std::fma(Flush(a), Flush(b), Flush(2 * c))); });
  CheckF32("sqrt.approx.ftz.f32 %d, %a;", 1,
           [](float a, float, float) { return Flush(std::sqrt(Flush(a))); });
}

// A result below the least normal number that would round up to it is flushed (seen on an H200).
TEST(FloatTest, FlushesBeforeRounding) {
  EXPECT_EQ(EvaluateOne("fma.rn.ftz.f32 %d, %a, %b, %c;", {32, 32, 32, 32},
                        {0x00800000, 0x33800000, 0x80800000}),
            0x80000000u);
  EXPECT_EQ(EvaluateOne("fma.rn.f32 %d, %a, %b, %c;", {32, 32, 32, 32},
                        {0x00800000, 0x33800000, 0x80800000}),
            0x80800000u);
  EXPECT_EQ(EvaluateOne("div.rp.ftz.f32 %d, %a, %b;", {32, 32, 32}, {0x00800000, 0x3f800001}), 0u);
  EXPECT_EQ(EvaluateOne("mul.ftz.f32 %d, %a, %b;", {32, 32, 32}, {0x00800000, 0x3f800000}),
            0x00800000u);
}

TEST(FloatTest, NansOfDoubles) {
  const std::uint64_t a = 0x7ff8000000001234;
  const std::uint64_t b = 0xfff0000000004321;
  const std::uint64_t quiet_b = 0xfff8000000004321;
  const std::uint64_t one = 0x3ff0000000000000;
  for (const char* operation : {"add", "sub", "mul", "min", "max"}) {
    const std::string text = fmt::format("{}.f64 %d, %a, %b;", operation);
    EXPECT_EQ(EvaluateOne(text, {64, 64, 64}, {a, b}), quiet_b) << text;
  }
  EXPECT_EQ(EvaluateOne("add.f64 %d, %a, %b;", {64, 64, 64}, {a, one}), a);
  EXPECT_EQ(EvaluateOne("min.f64 %d, %a, %b;", {64, 64, 64}, {a, one}), one);
  EXPECT_EQ(EvaluateOne("neg.f64 %d, %a;", {64, 64}, {b}), quiet_b);
  EXPECT_EQ(EvaluateOne("abs.f64 %d, %a;", {64, 64}, {b}), quiet_b);
  EXPECT_EQ(EvaluateOne("sqrt.rn.f64 %d, %a;", {64, 64}, {0xbff0000000000000}),
            0xfff8000000000000u);
  EXPECT_EQ(EvaluateOne("neg.f32 %d, %a;", {32, 32}, {0xffc12345}), 0x7fffffffu);
  EXPECT_EQ(EvaluateOne("abs.f16 %d, %a;", {16, 16}, {0xfc01}), 0x7fffu);
}

TEST(FloatTest, Saturation) {
  const auto saturate = [](float value) {
    if (std::isnan(value) || value <= 0) return 0.0f;
    return value > 1 ? 1.0f : value;
  };
  CheckF32("add.sat.f32 %d, %a, %b;", 2, [&](float a, float b, float) { return saturate(a + b); });
  CheckF32("fma.rn.sat.f32 %d, %a, %b, %c;", 3,
           [&](float a, float b, float c) { return saturate(std::fma(a, b, c)); });
}

// A directed rounding is the greatest float not above the exact value, or the least not below it.
// `exact` has a sign for the error: a result r is right if it brackets the exact value.
bool IsRoundedDown(float result, long double exact, float next_up) {
  return result <= exact && next_up > exact;
}

std::string Directed(const char* format, const char* rounding) {
  return fmt::format(fmt::runtime(format), rounding);
}

// Products and quotients of moderate values: long double shows on which side they lie.
void CheckDirected(const char* format, long double (*exact_of)(float, float)) {
  Rows inputs;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const std::uint32_t a = 0x3f000000 + i * 7919;
    const std::uint32_t b = (0x3e000001 + i * 104729) ^ (i % 2 << 31);
    inputs.push_back({a, b});
  }
  const auto down = Evaluate(Directed(format, "rm"), {32, 32, 32}, inputs);
  const auto up = Evaluate(Directed(format, "rp"), {32, 32, 32}, inputs);
  const auto zero = Evaluate(Directed(format, "rz"), {32, 32, 32}, inputs);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const long double exact = exact_of(F32(inputs[i][0]), F32(inputs[i][1]));
    const float low = F32(down[i]);
    ASSERT_TRUE(IsRoundedDown(low, exact, std::nextafterf(low, kInfinity))) << format << i;
    const float high = low == exact ? low : std::nextafterf(low, kInfinity);
    ASSERT_EQ(F32(up[i]), high) << format << i;
    ASSERT_EQ(F32(zero[i]), exact >= 0 ? low : high) << format << i;
  }
}

TEST(FloatTest, DirectedRoundings) {
  CheckDirected("mul.{}.f32 %d, %a, %b;",
                [](float a, float b) { return static_cast<long double>(a) * b; });
  CheckDirected("add.{}.f32 %d, %a, %b;",
                [](float a, float b) { return static_cast<long double>(a) + b; });
  CheckDirected("div.{}.f32 %d, %a, %b;",
                [](float a, float b) { return static_cast<long double>(a) / b; });
  CheckDirected("fma.{}.f32 %d, %a, %b, %a;",
                [](float a, float b) { return static_cast<long double>(a) * b + a; });
  CheckDirected("sqrt.{}.f32 %d, %a;",
                [](float a, float) { return std::sqrt(static_cast<long double>(a)); });
  CheckDirected("rcp.{}.f32 %d, %b;",
                [](float, float b) { return 1 / static_cast<long double>(b); });
  // Overflow stays finite when rounding toward zero.
  EXPECT_EQ(EvaluateOne("mul.rz.f32 %d, %a, %a;", {32, 32}, {0x7f000000}), 0x7f7fffffu);
  EXPECT_EQ(EvaluateOne("mul.rp.f32 %d, %a, %a;", {32, 32}, {0x7f000000}), 0x7f800000u);
}

TEST(FloatTest, MinAndMax) {
  const auto less = [](float a, float b) { return a < b || (a == b && std::signbit(a)); };
  CheckF32("min.f32 %d, %a, %b;", 2, [&](float a, float b, float) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    return less(a, b) ? a : b;
  });
  CheckF32("max.f32 %d, %a, %b;", 2, [&](float a, float b, float) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    return less(a, b) ? b : a;
  });
  CheckF32("max.NaN.f32 %d, %a, %b;", 2, [&](float a, float b, float) {
    if (std::isnan(a) || std::isnan(b)) return NAN;
    return less(a, b) ? b : a;
  });
  CheckF32("min.xorsign.abs.f32 %d, %a, %b;", 2, [&](float a, float b, float) {
    const float sign = std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f;
    if (std::isnan(a) && std::isnan(b)) return NAN;
    if (std::isnan(a) || std::isnan(b)) {
      return std::copysign(std::isnan(a) ? b : a, sign);
    }
    return std::copysign(std::fmin(std::fabs(a), std::fabs(b)), sign);
  });
  CheckF32("max.f32 %d, %a, %b, %c;", 3, [&](float a, float b, float c) {
    float best = NAN;
    for (const float value : {a, b, c}) {
      if (std::isnan(best) || (!std::isnan(value) && less(best, value))) best = value;
    }
    return best;
  });
}

TEST(FloatTest, SignsAndTests) {
  EXPECT_EQ(EvaluateOne("abs.f32 %d, %a;", {32, 32}, {0xbf800000}), 0x3f800000u);
  EXPECT_EQ(EvaluateOne("neg.f32 %d, %a;", {32, 32}, {0}), 0x80000000u);
  EXPECT_EQ(EvaluateOne("neg.ftz.f32 %d, %a;", {32, 32}, {1}), 0x80000000u);
  EXPECT_EQ(EvaluateOne("abs.f64 %d, %a;", {64, 64}, {1ull << 63}), 0u);
  EXPECT_EQ(EvaluateOne("copysign.f32 %d, %a, %b;", {32, 32, 32}, {0x80000000, 0x3f800000}),
            0xbf800000u);
  const std::pair<const char*, std::array<std::uint64_t, 5>> tests[] = {
      // of 1.0, infinity, NaN, the least subnormal, zero
      {"finite", {1, 0, 0, 1, 1}},     {"infinite", {0, 1, 0, 0, 0}},  {"number", {1, 1, 0, 1, 1}},
      {"notanumber", {0, 0, 1, 0, 0}}, {"subnormal", {0, 0, 0, 1, 0}}, {"normal", {1, 0, 0, 0, 1}}};
  for (const auto& [name, expected] : tests) {
    const Rows values{{0x3f800000}, {0x7f800000}, {0x7fc00000}, {1}, {0}};
    const auto results = Evaluate(fmt::format("testp.{}.f32 %d, %a;", name), {1, 32}, values);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(results[i], expected[i]) << name << i;
  }
}

TEST(FloatTest, Doubles) {
  const Rows inputs = IntegerInputs(64, 2);
  const auto sums = Evaluate("add.f64 %d, %a, %b;", {64, 64, 64}, inputs);
  const auto products = Evaluate("mul.rn.f64 %d, %a, %b;", {64, 64, 64}, inputs);
  const auto chains = Evaluate("fma.rn.f64 %d, %a, %b, %a;", {64, 64, 64}, inputs);
  const auto quotients = Evaluate("div.rn.f64 %d, %a, %b;", {64, 64, 64}, inputs);
  const auto same = [](std::uint64_t bits, double value) {
    return (std::isnan(F64(bits)) && std::isnan(value)) ||
           bits == std::bit_cast<std::uint64_t>(value);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double a = F64(inputs[i][0]);
    const double b = F64(inputs[i][1]);
    ASSERT_TRUE(same(sums[i], a + b));
    ASSERT_TRUE(same(products[i], a * b));
    ASSERT_TRUE(same(chains[i], std::fma(a, b, a)));
    ASSERT_TRUE(same(quotients[i], a / b));
  }
  const auto one = std::bit_cast<std::uint64_t>(1.0);
  const auto tiny = std::bit_cast<std::uint64_t>(0x1p-60);
  EXPECT_EQ(F64(EvaluateOne("add.rp.f64 %d, %a, %b;", {64, 64, 64}, {one, tiny})), 1 + 0x1p-52);
  EXPECT_EQ(F64(EvaluateOne("sub.rz.f64 %d, %a, %b;", {64, 64, 64}, {one, tiny})), 1 - 0x1p-53);
  EXPECT_EQ(F64(EvaluateOne("sqrt.rn.f64 %d, %a;", {64, 64}, {one})), 1.0);
  EXPECT_EQ(F64(EvaluateOne("min.f64 %d, %a, %b;", {64, 64, 64}, {one, tiny})), 0x1p-60);
}

TEST(FloatTest, Pairs) {
  const auto pair = [](float low, float high) {
    return std::uint64_t{std::bit_cast<std::uint32_t>(high)} << 32 |
           std::bit_cast<std::uint32_t>(low);
  };
  EXPECT_EQ(EvaluateOne("fma.rn.f32x2 %d, %a, %b, %c;", {64, 64, 64, 64},
                        {pair(1, 2), pair(3, 4), pair(5, 6)}),
            pair(8, 14));
  EXPECT_EQ(EvaluateOne("add.rn.f32x2 %d, %a, %b;", {64, 64, 64}, {pair(1, 2), pair(3, 4)}),
            pair(4, 6));
}

TEST(FloatTest, ImmediatesOfEitherWidth) {
  EXPECT_EQ(F32(EvaluateOne("add.f32 %d, %a, 0f3F800000;", {32, 32}, {0})), 1.0f);
  EXPECT_EQ(F32(EvaluateOne("add.f32 %d, %a, 0.5;", {32, 32}, {0})), 0.5f);
  EXPECT_EQ(F32(EvaluateOne("add.f32 %d, %a, -0.5;", {32, 32}, {0})), -0.5f);
  EXPECT_EQ(F64(EvaluateOne("add.f64 %d, %a, 0d3FF0000000000000;", {64, 64}, {0})), 1.0);
  EXPECT_EQ(BodyError(".reg .f32 a;\nadd.f32 a, a, 1;"),
            "ptx line 6: add.f32: an integer where a float is wanted");
}

}  // namespace
}  // namespace lijit::emulator
