// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic against the host's, over boundary and random values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <type_traits>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// Checks `text` (with {} for the type) on all inputs of T against `expected`, which sees signed or
// unsigned values as T is.
template <typename T, typename F>
void CheckBinary(std::string_view text, F expected) {
  constexpr unsigned kBits = sizeof(T) * 8;
  const std::string name = fmt::format("{}{}", std::is_signed_v<T> ? 's' : 'u', kBits);
  const std::string instruction = fmt::format(fmt::runtime(text), name);
  const auto inputs = IntegerInputs(kBits, 2);
  const auto results = Evaluate(instruction, {kBits, kBits, kBits}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const T a = static_cast<T>(inputs[i][0]);
    const T b = static_cast<T>(inputs[i][1]);
    ASSERT_EQ(static_cast<T>(results[i]), static_cast<T>(expected(Int128{a}, Int128{b})))
        << instruction << " " << +a << " " << +b;
  }
}

template <typename F>
void CheckAllTypes(std::string_view text, F expected) {
  CheckBinary<std::uint16_t>(text, expected);
  CheckBinary<std::int16_t>(text, expected);
  CheckBinary<std::uint32_t>(text, expected);
  CheckBinary<std::int32_t>(text, expected);
  CheckBinary<std::uint64_t>(text, expected);
  CheckBinary<std::int64_t>(text, expected);
}

TEST(IntegerTest, AddSubtractAndExtremes) {
  CheckAllTypes("add.{} %d, %a, %b;", [](Int128 a, Int128 b) { return a + b; });
  CheckAllTypes("sub.{} %d, %a, %b;", [](Int128 a, Int128 b) { return a - b; });
  CheckAllTypes("min.{} %d, %a, %b;", [](Int128 a, Int128 b) { return std::min(a, b); });
  CheckAllTypes("max.{} %d, %a, %b;", [](Int128 a, Int128 b) { return std::max(a, b); });
  CheckAllTypes("mul.lo.{} %d, %a, %b;", [](Int128 a, Int128 b) {
    return static_cast<Int128>(static_cast<UInt128>(a) * static_cast<UInt128>(b));
  });
}

TEST(IntegerTest, ExtremesOfHalves) {
  const std::vector<std::uint64_t> values = {0x8001'7fff, 0x0002'8000};
  const auto of = [&](const char* text) { return EvaluateOne(text, {32, 32, 32}, values); };
  EXPECT_EQ(of("max.u16x2 %d, %a, %b;"), 0x8001'8000u);
  EXPECT_EQ(of("min.u16x2 %d, %a, %b;"), 0x0002'7fffu);
  EXPECT_EQ(of("max.s16x2 %d, %a, %b;"), 0x0002'7fffu);
  EXPECT_EQ(of("min.s16x2 %d, %a, %b;"), 0x8001'8000u);
}

TEST(IntegerTest, DivisionAndRemainder) {
  const auto quotient = [](Int128 a, Int128 b) { return b == 0 ? Int128{-1} : a / b; };
  const auto remainder = [](Int128 a, Int128 b) { return b == 0 ? Int128{-1} : a % b; };
  CheckAllTypes("div.{} %d, %a, %b;", quotient);
  CheckAllTypes("rem.{} %d, %a, %b;", remainder);
}

TEST(IntegerTest, SaturatingS32) {
  const auto clamp = [](Int128 value) {
    return std::clamp<Int128>(value, std::numeric_limits<std::int32_t>::min(),
                              std::numeric_limits<std::int32_t>::max());
  };
  CheckBinary<std::int32_t>("add.sat.{} %d, %a, %b;",
                            [&](Int128 a, Int128 b) { return clamp(a + b); });
  CheckBinary<std::int32_t>("sub.sat.{} %d, %a, %b;",
                            [&](Int128 a, Int128 b) { return clamp(a - b); });
  CheckBinary<std::int32_t>("max.relu.{} %d, %a, %b;", [](Int128 a, Int128 b) {
    return std::max<Int128>({a, b, 0});
  });
}

TEST(IntegerTest, HighHalves) {
  CheckBinary<std::uint16_t>("mul.hi.{} %d, %a, %b;",
                             [](Int128 a, Int128 b) { return a * b >> 16; });
  CheckBinary<std::int16_t>("mul.hi.{} %d, %a, %b;",
                            [](Int128 a, Int128 b) { return a * b >> 16; });
  CheckBinary<std::uint32_t>("mul.hi.{} %d, %a, %b;",
                             [](Int128 a, Int128 b) { return a * b >> 32; });
  CheckBinary<std::int32_t>("mul.hi.{} %d, %a, %b;",
                            [](Int128 a, Int128 b) { return a * b >> 32; });
  CheckBinary<std::int64_t>("mul.hi.{} %d, %a, %b;",
                            [](Int128 a, Int128 b) { return a * b >> 64; });
  CheckBinary<std::uint64_t>("mul.hi.{} %d, %a, %b;", [](Int128 a, Int128 b) {
    const auto product = static_cast<UInt128>(a) * static_cast<UInt128>(b);
    return static_cast<Int128>(product >> 64);
  });
}

// mad has three operands: c is taken to be ~a.
TEST(IntegerTest, MultiplyAdd) {
  const char* low = "not.b32 %d, %a; mad.lo.{0} %d, %a, %b, %d;";
  CheckBinary<std::uint32_t>(low, [](Int128 a, Int128 b) { return a * b + ~a; });
  CheckBinary<std::int32_t>(low, [](Int128 a, Int128 b) { return a * b + ~a; });
  const char* high = "not.b32 %d, %a; mad.hi.{0} %d, %a, %b, %d;";
  CheckBinary<std::uint32_t>(high, [](Int128 a, Int128 b) { return (a * b >> 32) + ~a; });
  CheckBinary<std::int32_t>(high, [](Int128 a, Int128 b) { return (a * b >> 32) + ~a; });
  CheckBinary<std::int32_t>("not.b32 %d, %a; mad.hi.sat.{0} %d, %a, %b, %d;",
                            [](Int128 a, Int128 b) {
                              const Int128 sum = (a * b >> 32) + ~a;
                              return std::clamp<Int128>(sum, INT32_MIN, INT32_MAX);
                            });
}

TEST(IntegerTest, WideProducts) {
  const auto inputs = IntegerInputs(32, 3);
  const auto u = Evaluate("mad.wide.u32 %d, %a, %b, %c;", {64, 32, 32, 64}, inputs);
  const auto s = Evaluate("mad.wide.s32 %d, %a, %b, %c;", {64, 32, 32, 64}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& row = inputs[i];
    EXPECT_EQ(u[i], row[0] * row[1] + row[2]);
    const auto a = std::int64_t{static_cast<std::int32_t>(row[0])};
    const auto b = std::int64_t{static_cast<std::int32_t>(row[1])};
    EXPECT_EQ(s[i], static_cast<std::uint64_t>(a * b) + row[2]);
  }
  EXPECT_EQ(EvaluateOne("mul.wide.u16 %d, %a, %b;", {32, 16, 16}, {0xffff, 0xffff}), 0xfffe0001u);
  EXPECT_EQ(EvaluateOne("mul.wide.s16 %d, %a, %b;", {32, 16, 16}, {0xffff, 2}), 0xfffffffeu);
}

TEST(IntegerTest, Mul24) {
  EXPECT_EQ(EvaluateOne("mul24.lo.u32 %d, %a, %b;", {32, 32, 32}, {0xff123456, 0x10}), 0x1234560u);
  EXPECT_EQ(EvaluateOne("mul24.hi.s32 %d, %a, %b;", {32, 32, 32}, {0x00ffffff, 0x00010000}),
            0xffffffffu);
  EXPECT_EQ(EvaluateOne("mad24.lo.s32 %d, %a, %b, %c;", {32, 32, 32, 32}, {0xfffffe, 3, 10}), 4u);
}

TEST(IntegerTest, UnaryAndSad) {
  CheckBinary<std::int32_t>("abs.{} %d, %a;", [](Int128 a, Int128) { return a < 0 ? -a : a; });
  CheckBinary<std::int64_t>("abs.{} %d, %a;", [](Int128 a, Int128) { return a < 0 ? -a : a; });
  CheckBinary<std::int16_t>("neg.{} %d, %a;", [](Int128 a, Int128) { return -a; });
  CheckBinary<std::uint32_t>("sad.{} %d, %a, %b, %b;",
                             [](Int128 a, Int128 b) { return (a < b ? b - a : a - b) + b; });
  CheckBinary<std::int32_t>("sad.{} %d, %a, %b, %b;",
                            [](Int128 a, Int128 b) { return (a < b ? b - a : a - b) + b; });
}

TEST(IntegerTest, CarryChains) {
  // 64-bit sums out of 32-bit halves.
  const char* parts =
      "{{ .reg .b32 al, ah, bl, bh, dl, dh; mov.b64 {{al, ah}}, %a; mov.b64 {{bl, bh}}, %b; {} "
      "mov.b64 %d, {{dl, dh}}; }}";
  const auto inputs = IntegerInputs(64, 2);
  const auto sums =
      Evaluate(fmt::format(fmt::runtime(parts), "add.cc.u32 dl, al, bl; addc.u32 dh, ah, bh;"),
               {64, 64, 64}, inputs);
  const auto differences =
      Evaluate(fmt::format(fmt::runtime(parts), "sub.cc.s32 dl, al, bl; subc.s32 dh, ah, bh;"),
               {64, 64, 64}, inputs);
  const auto products =
      Evaluate(fmt::format(fmt::runtime(parts),
                           "mul.lo.u32 dl, al, bl; mul.hi.u32 dh, al, bl; "
                           "mad.lo.cc.u32 dl, 1, bh, dl; madc.hi.u32 dh, 1, bh, dh;"),
               {64, 64, 64}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::uint64_t a = inputs[i][0];
    const std::uint64_t b = inputs[i][1];
    ASSERT_EQ(sums[i], a + b);
    ASSERT_EQ(differences[i], a - b);
    ASSERT_EQ(products[i], (a & 0xffffffff) * (b & 0xffffffff) + (b >> 32));
  }
  EXPECT_EQ(EvaluateOne("add.cc.u64 %d, %a, %b; addc.u64 %d, 0, 0;", {64, 64, 64}, {~0ull, 1}), 1u);
  // addc.cc passes the carry on; subc.cc the borrow.
  EXPECT_EQ(EvaluateOne("add.cc.u32 %d, %a, %b; addc.cc.u32 %d, %a, 0; addc.u32 %d, 0, 0;",
                        {32, 32, 32}, {0xffffffff, 1}),
            1u);
  EXPECT_EQ(EvaluateOne("sub.cc.u32 %d, %a, %b; subc.cc.u32 %d, 0, 0; subc.u32 %d, 5, 0;",
                        {32, 32, 32}, {0, 1}),
            4u);
}

TEST(IntegerTest, DotProducts) {
  const auto inputs = IntegerInputs(32, 3);
  for (const bool a_signed : {false, true}) {
    for (const bool b_signed : {false, true}) {
      const std::string types =
          fmt::format(".{}32.{}32", a_signed ? 's' : 'u', b_signed ? 's' : 'u');
      const auto four = Evaluate("dp4a" + types + " %d, %a, %b, %c;", {32, 32, 32, 32}, inputs);
      const auto low = Evaluate("dp2a.lo" + types + " %d, %a, %b, %c;", {32, 32, 32, 32}, inputs);
      const auto high = Evaluate("dp2a.hi" + types + " %d, %a, %b, %c;", {32, 32, 32, 32}, inputs);
      const auto part = [](std::uint64_t word, unsigned bits, unsigned i, bool is_signed) {
        std::int64_t value = static_cast<std::int64_t>(word >> (bits * i) & ((1u << bits) - 1));
        if (is_signed && value >> (bits - 1) != 0) value -= 1 << bits;
        return value;
      };
      for (std::size_t row = 0; row < inputs.size(); ++row) {
        const auto& in = inputs[row];
        std::int64_t sum4 = 0;
        std::int64_t sum_low = 0;
        std::int64_t sum_high = 0;
        for (unsigned i = 0; i < 4; ++i) {
          sum4 += part(in[0], 8, i, a_signed) * part(in[1], 8, i, b_signed);
        }
        for (unsigned i = 0; i < 2; ++i) {
          sum_low += part(in[0], 16, i, a_signed) * part(in[1], 8, i, b_signed);
          sum_high += part(in[0], 16, i, a_signed) * part(in[1], 8, i + 2, b_signed);
        }
        ASSERT_EQ(four[row], static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum4) + in[2]));
        ASSERT_EQ(low[row],
                  static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum_low) + in[2]));
        ASSERT_EQ(high[row],
                  static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum_high) + in[2]));
      }
    }
  }
}

}  // namespace
}  // namespace lijit::emulator
