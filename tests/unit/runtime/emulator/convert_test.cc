// SPDX-License-Identifier: Apache-2.0
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
__extension__ using Int128 = __int128;

float F32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
std::uint64_t Bits64(double value) { return std::bit_cast<std::uint64_t>(value); }

struct IntegerKind {
  std::string name;
  unsigned bits;
  bool is_signed;

  Int128 ValueOf(std::uint64_t lane) const {
    const std::uint64_t low = bits == 64 ? lane : lane & ((1ull << bits) - 1);
    const bool negative = is_signed && (low >> (bits - 1) & 1) != 0;
    return negative ? Int128{low} - (Int128{1} << bits) : Int128{low};
  }
  Int128 Min() const { return is_signed ? -(Int128{1} << (bits - 1)) : 0; }
  Int128 Max() const { return (Int128{1} << (is_signed ? bits - 1 : bits)) - 1; }
};

std::vector<IntegerKind> Kinds() {
  std::vector<IntegerKind> kinds;
  for (const unsigned bits : {8u, 16u, 32u, 64u}) {
    for (const bool is_signed : {false, true}) {
      kinds.push_back({fmt::format("{}{}", is_signed ? 's' : 'u', bits), bits, is_signed});
    }
  }
  return kinds;
}

// Registers may be wider than the types: all are 64 bits here, so extension shows.
TEST(ConvertTest, IntegerToInteger) {
  for (const IntegerKind& from : Kinds()) {
    const Rows inputs = IntegerInputs(64, 1);
    for (const IntegerKind& to : Kinds()) {
      const std::string types = to.name + "." + from.name;
      const auto plain = Evaluate("cvt." + types + " %d, %a;", {64, 64}, inputs);
      const auto saturated = Evaluate("cvt.sat." + types + " %d, %a;", {64, 64}, inputs);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Int128 value = from.ValueOf(inputs[i][0]);
        const auto wrapped = static_cast<std::uint64_t>(value);
        ASSERT_EQ(plain[i], static_cast<std::uint64_t>(to.ValueOf(wrapped))) << types;
        const Int128 clamped = std::clamp(value, to.Min(), to.Max());
        ASSERT_EQ(saturated[i], static_cast<std::uint64_t>(clamped)) << types << " " << i;
      }
    }
  }
}

TEST(ConvertTest, IntegerToFloat) {
  for (const IntegerKind& from : Kinds()) {
    const Rows inputs = IntegerInputs(from.bits, 1);
    const auto to32 = Evaluate("cvt.rn.f32." + from.name + " %d, %a;", {32, from.bits}, inputs);
    const auto to64 = Evaluate("cvt.rn.f64." + from.name + " %d, %a;", {64, from.bits}, inputs);
    const auto down = Evaluate("cvt.rm.f32." + from.name + " %d, %a;", {32, from.bits}, inputs);
    const auto up = Evaluate("cvt.rp.f32." + from.name + " %d, %a;", {32, from.bits}, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Int128 value = from.ValueOf(inputs[i][0]);
      ASSERT_EQ(F32(to32[i]), static_cast<float>(value)) << from.name;
      ASSERT_EQ(to64[i], Bits64(static_cast<double>(value))) << from.name;
      const float low = F32(down[i]);
      ASSERT_LE(static_cast<Int128>(low), value);
      ASSERT_GT(
          static_cast<Int128>(std::nextafterf(low, INFINITY) * 1.0L) + (std::fabs(low) < 0x1p24f),
          value);
      ASSERT_EQ(F32(up[i]),
                static_cast<Int128>(low) == value ? low : std::nextafterf(low, INFINITY));
    }
  }
  EXPECT_EQ(EvaluateOne("cvt.rz.f64.u64 %d, %a;", {64, 64}, {~0ull}), Bits64(0x1.fffffffffffffp63));
  EXPECT_EQ(EvaluateOne("cvt.rn.f64.u64 %d, %a;", {64, 64}, {~0ull}), Bits64(0x1p64));
  EXPECT_EQ(EvaluateOne("cvt.rn.f16.u32 %d, %a;", {16, 32}, {2049}), 0x6800u);
  EXPECT_EQ(EvaluateOne("cvt.rn.f16.s32 %d, %a;", {16, 32}, {0xffffffff}), 0xbc00u);
  // Rounding a 64-bit integer to f32 in two steps would end at the tie's even side.
  EXPECT_EQ(EvaluateOne("cvt.rn.f32.u64 %d, %a;", {32, 64}, {0x8000008000000001}), 0x5f000001u);
}

double RoundAs(const std::string& rounding, double value) {
  if (rounding == "rzi") return std::trunc(value);
  if (rounding == "rmi") return std::floor(value);
  if (rounding == "rpi") return std::ceil(value);
  return value - std::remainder(value, 1.0);
}

TEST(ConvertTest, FloatToInteger) {
  const Rows inputs = FloatInputs32(1);
  for (const IntegerKind& to : Kinds()) {
    for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"}) {
      const std::string text = "cvt." + rounding + "." + to.name + ".f32 %d, %a;";
      const auto results = Evaluate(text, {64, 32}, inputs);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const double value = F32(inputs[i][0]);
        Int128 expected = 0;
        if (std::isnan(value)) {
          expected = to.bits == 64 ? to.ValueOf(1ull << 63) : 0;
        } else if (std::fabs(value) > 0x1p100) {
          expected = value > 0 ? to.Max() : to.Min();
        } else {
          expected = std::clamp(static_cast<Int128>(RoundAs(rounding, value)), to.Min(), to.Max());
        }
        ASSERT_EQ(results[i], static_cast<std::uint64_t>(expected)) << text << " " << value;
      }
    }
  }
  // NaN of f64 gives the top bit for every type.
  EXPECT_EQ(EvaluateOne("cvt.rzi.s32.f64 %d, %a;", {32, 64}, {Bits64(NAN)}), 0x80000000u);
  EXPECT_EQ(EvaluateOne("cvt.rni.s32.f64 %d, %a;", {32, 64}, {Bits64(2.5)}), 2u);
  EXPECT_EQ(EvaluateOne("cvt.rpi.ftz.s32.f32 %d, %a;", {32, 32}, {1}), 0u);
  EXPECT_EQ(EvaluateOne("cvt.rpi.s32.f32 %d, %a;", {32, 32}, {1}), 1u);
  EXPECT_EQ(EvaluateOne("cvt.rzi.u32.f16 %d, %a;", {32, 16}, {0x7bff}), 65504u);
}

TEST(ConvertTest, BetweenFloats) {
  const Rows inputs = FloatInputs32(1);
  const auto wide = Evaluate("cvt.f64.f32 %d, %a;", {64, 32}, inputs);
  const auto back =
      Evaluate("{ .reg .f64 w; cvt.f64.f32 w, %a; cvt.rn.f32.f64 %d, w; }", {32, 32}, inputs);
  const auto whole = Evaluate("cvt.rni.f32.f32 %d, %a;", {32, 32}, inputs);
  const auto saturated = Evaluate("cvt.sat.f32.f32 %d, %a;", {32, 32}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const float value = F32(inputs[i][0]);
    if (std::isnan(value)) {
      EXPECT_EQ(back[i], inputs[i][0] | 0x00400000u);  // quiet, with its payload
      EXPECT_EQ(saturated[i], 0u);
      continue;
    }
    EXPECT_EQ(wide[i], Bits64(value));
    EXPECT_EQ(back[i], inputs[i][0]);
    EXPECT_EQ(F32(whole[i]), std::isinf(value) ? value : RoundAs("rni", value));
    EXPECT_EQ(F32(saturated[i]), value > 0 ? std::min(value, 1.0f) : 0.0f);
  }
  const auto third = Bits64(1.0 / 3);
  EXPECT_EQ(EvaluateOne("cvt.rn.f32.f64 %d, %a;", {32, 64}, {third}), 0x3eaaaaabu);
  EXPECT_EQ(EvaluateOne("cvt.rz.f32.f64 %d, %a;", {32, 64}, {third}), 0x3eaaaaaau);
  EXPECT_EQ(EvaluateOne("cvt.rp.f32.f64 %d, %a;", {32, 64}, {Bits64(1e-60)}), 1u);
  EXPECT_EQ(EvaluateOne("cvt.rn.f32.f64 %d, %a;", {32, 64}, {Bits64(1e300)}), 0x7f800000u);
  EXPECT_EQ(EvaluateOne("cvt.rz.f32.f64 %d, %a;", {32, 64}, {Bits64(1e300)}), 0x7f7fffffu);
}

TEST(ConvertTest, Bf16AndF16) {
  Rows codes;
  for (std::uint64_t code = 0; code < 65536; ++code) codes.push_back({code});
  const auto widened = Evaluate("cvt.f32.bf16 %d, %a;", {32, 16}, codes);
  const auto narrowed =
      Evaluate("{ .reg .f32 w; cvt.f32.f16 w, %a; cvt.rn.f16.f32 %d, w; }", {16, 16}, codes);
  for (std::uint64_t code = 0; code < 65536; ++code) {
    ASSERT_EQ(widened[code], code << 16);
    const bool is_nan = (code & 0x7fff) > 0x7c00;
    ASSERT_EQ(narrowed[code], is_nan ? 0x7fff : code);
  }
  // Nearest even by the usual integer trick.
  const Rows inputs = FloatInputs32(1);
  const auto bf16 = Evaluate("cvt.rn.bf16.f32 %d, %a;", {16, 32}, inputs);
  const auto truncated = Evaluate("cvt.rz.bf16.f32 %d, %a;", {16, 32}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto bits = inputs[i][0];
    if (std::isnan(F32(bits))) {
      EXPECT_EQ(bf16[i], 0x7fffu);
      continue;
    }
    EXPECT_EQ(bf16[i], (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    EXPECT_EQ(truncated[i], bits >> 16);
  }
  EXPECT_EQ(EvaluateOne("cvt.rn.relu.bf16.f32 %d, %a;", {16, 32}, {0xbf800000}), 0u);
  EXPECT_EQ(EvaluateOne("cvt.rn.satfinite.f16.f32 %d, %a;", {16, 32}, {0x7f000000}), 0x7bffu);
  EXPECT_EQ(EvaluateOne("cvt.rna.tf32.f32 %d, %a;", {32, 32}, {0x3f801000}), 0x3f802000u);
  EXPECT_EQ(EvaluateOne("cvt.rna.tf32.f32 %d, %a;", {32, 32}, {0xffc12345}), 0xffc12000u);
  EXPECT_EQ(EvaluateOne("cvt.rn.tf32.f32 %d, %a;", {32, 32}, {0xffc12345}), 0x7fffe000u);
  EXPECT_EQ(EvaluateOne("cvt.rz.relu.tf32.f32 %d, %a;", {32, 32}, {0xbfc12345}), 0u);
  EXPECT_EQ(EvaluateOne("cvt.rn.tf32.f32 %d, %a;", {32, 32}, {0x3f801000}), 0x3f800000u);
}

// What an H200 does where PTX leaves the NaN open.
TEST(ConvertTest, NanPayloads) {
  const std::uint64_t wide = 0xfff0000012345678;
  EXPECT_EQ(EvaluateOne("cvt.rn.f32.f64 %d, %a;", {32, 64}, {wide}), 0xffc00000u);
  EXPECT_EQ(EvaluateOne("cvt.rz.f32.f64 %d, %a;", {32, 64}, {wide | 0x0000000020000000}),
            0xffc00001u);
  EXPECT_EQ(EvaluateOne("cvt.rzi.f64.f64 %d, %a;", {64, 64}, {wide}), wide | 1ull << 51);
  EXPECT_EQ(EvaluateOne("cvt.f64.f32 %d, %a;", {64, 32}, {0x7f812345}), 0x7ff82468a0000000u);
  EXPECT_EQ(EvaluateOne("cvt.ftz.f64.f32 %d, %a;", {64, 32}, {0x7f812345}), 0x7fffffffe0000000u);
  EXPECT_EQ(EvaluateOne("cvt.f32.f32 %d, %a;", {32, 32}, {0xff812345}), 0xff812345u);
  EXPECT_EQ(EvaluateOne("cvt.rni.f32.f32 %d, %a;", {32, 32}, {0xff812345}), 0x7fffffffu);
}

// Sources and destinations may be wider than their types: only the type's bits count.
TEST(ConvertTest, WideRegisters) {
  const std::uint64_t lanes = 0xdeadbeef00000007;
  EXPECT_EQ(EvaluateOne("cvt.rn.f32.s32 %d, %a;", {32, 64}, {lanes}), 0x40e00000u);
  EXPECT_EQ(EvaluateOne("cvt.rn.f32.s32 %d, %a;", {64, 64}, {lanes}), 0x40e00000u);
  EXPECT_EQ(EvaluateOne("cvt.f32.bf16 %d, %a;", {32, 32}, {0xffff3f80}), 0x3f800000u);
  EXPECT_EQ(EvaluateOne("cvt.f32.bf16 %d, %a;", {64, 16}, {0x3f80}), 0x3f800000u);
  EXPECT_EQ(EvaluateOne("cvt.rn.f32.f64 %d, %a;", {64, 64}, {Bits64(1.5)}), 0x3fc00000u);
}

TEST(ConvertTest, RoundingsThatDoNotFitAreErrors) {
  const auto error = [](const char* text) {
    return BodyError(fmt::format(".reg .f32 f; .reg .f64 g; .reg .b32 r; .reg .b16 h;\n{}", text));
  };
  EXPECT_EQ(error("cvt.s32.f32 r, f;"),
            "ptx line 6: cvt.s32.f32: needs '.rni', '.rzi', '.rmi' or '.rpi'");
  EXPECT_EQ(error("cvt.f32.s32 f, r;"), "ptx line 6: cvt.f32.s32: needs a rounding");
  EXPECT_EQ(error("cvt.rn.f64.f32 g, f;"), "ptx line 6: cvt.rn.f64.f32: takes no rounding");
  EXPECT_EQ(error("cvt.rn.s32.u32 r, r;"),
            "ptx line 6: cvt.rn.s32.u32: no rounding between integers");
  EXPECT_EQ(error("cvt.f16.f32 h, f;"), "ptx line 6: cvt.f16.f32: needs a rounding");
}

}  // namespace
}  // namespace lijit::emulator
