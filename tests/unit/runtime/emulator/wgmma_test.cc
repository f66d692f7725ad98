// SPDX-License-Identifier: Apache-2.0
// wgmma: layouts, shapes and arithmetic, against sums on the host and results of an H200.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/emulator/float_formats.h"
#include "runtime/emulator/matrix_descriptor.h"
#include "tests/unit/runtime/emulator/kernel_runner.h"
#include "tests/unit/runtime/emulator/wgmma_runner.h"

namespace lijit::emulator {
namespace {

constexpr unsigned kRowBytes = 32;

Wgmma RandomBytes(const std::string& types, unsigned columns, unsigned seed) {
  std::mt19937 random(seed);
  Wgmma wgmma;
  wgmma.types = types;
  wgmma.columns = columns;
  wgmma.b_layout.stride_bytes = 1024;
  wgmma.a.resize(64 * kRowBytes);
  wgmma.b.resize(std::size_t{columns} * kRowBytes);
  wgmma.c.resize(std::size_t{64} * columns);
  for (auto& byte : wgmma.a) byte = static_cast<std::uint8_t>(random());
  for (auto& byte : wgmma.b) byte = static_cast<std::uint8_t>(random());
  for (auto& word : wgmma.c) word = static_cast<std::uint32_t>(random());
  return wgmma;
}

std::int64_t Integer(std::uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<std::int8_t>(byte) : byte;
}

void ExpectIntegers(const Wgmma& wgmma, bool a_signed, bool b_signed) {
  const bool clamps = wgmma.types.starts_with("satfinite");
  const std::vector<std::uint32_t> d = Multiply(wgmma);
  for (unsigned row = 0; row < 64; ++row) {
    for (unsigned column = 0; column < wgmma.columns; ++column) {
      const unsigned at = row * wgmma.columns + column;
      std::int64_t sum = wgmma.keeps_sums ? static_cast<std::int32_t>(wgmma.c[at]) : 0;
      for (unsigned k = 0; k < kRowBytes; ++k) {
        sum += Integer(wgmma.a[row * kRowBytes + k], a_signed) *
               Integer(wgmma.b[column * kRowBytes + k], b_signed);
      }
      using Limits = std::numeric_limits<std::int32_t>;
      if (clamps) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
      ASSERT_EQ(d[at], static_cast<std::uint32_t>(sum))
          << wgmma.types << " " << row << " " << column;
    }
  }
}

TEST(WgmmaTest, Integers) {
  for (const unsigned columns : {8u, 16u, 24u, 32u, 48u, 64u, 128u, 240u, 256u}) {
    ExpectIntegers(RandomBytes("s32.s8.s8", columns, columns), true, true);
  }
  ExpectIntegers(RandomBytes("s32.s8.u8", 32, 1), true, false);
  ExpectIntegers(RandomBytes("s32.u8.s8", 32, 2), false, true);
  ExpectIntegers(RandomBytes("s32.u8.u8", 32, 3), false, false);
  Wgmma fresh = RandomBytes("s32.s8.s8", 64, 4);
  fresh.keeps_sums = false;
  ExpectIntegers(fresh, true, true);
}

TEST(WgmmaTest, IntegersClamp) {
  Wgmma wgmma = RandomBytes("satfinite.s32.s8.s8", 16, 1);
  for (std::size_t i = 0; i < wgmma.c.size(); ++i) {
    wgmma.c[i] = i % 2 == 0 ? 0x7fffffff - static_cast<std::uint32_t>(i) * 64 : 0x80000000;
  }
  ExpectIntegers(wgmma, true, true);
}

TEST(WgmmaTest, Layouts) {
  unsigned seed = 0;
  for (const unsigned swizzle : {128u, 64u, 32u}) {
    for (const std::uint64_t start : {0u, 1024u, 4096u}) {
      for (unsigned skipped = 0; skipped < swizzle; skipped += 32) {
        Wgmma wgmma = RandomBytes("s32.s8.s8", 64, ++seed);
        wgmma.b_layout = {swizzle, start, swizzle * (start == 4096 ? 16u : 8u), 16, skipped};
        ExpectIntegers(wgmma, true, true);
        wgmma.a_layout = {swizzle, 20480, swizzle * 8u, 0, skipped};
        ExpectIntegers(wgmma, true, true);
      }
    }
  }
  for (const bool rows_first : {true, false}) {
    Wgmma wgmma = RandomBytes("s32.s8.s8", 64, ++seed);
    wgmma.b_layout = {0, 16, rows_first ? 128u : 256u, rows_first ? 1024u : 128u, 0};
    wgmma.a_layout = {0, 16400, rows_first ? 256u : 128u, rows_first ? 128u : 1024u, 0};
    ExpectIntegers(wgmma, true, true);
    // 128 elements along K: the second of four steps.
    wgmma.b_layout = {0, 0, 128, 1024, 32};
    ExpectIntegers(wgmma, true, true);
  }
}

// A pattern that does not begin at a multiple of its size says so by the base offset.
TEST(WgmmaTest, BaseOffset) {
  const MatrixDescriptor aligned(std::uint64_t{1} << 62 | std::uint64_t{64} << 32);
  for (unsigned base = 1; base < 8; ++base) {
    const std::uint64_t start = std::uint64_t{base} * 128;
    const MatrixDescriptor moved(std::uint64_t{1} << 62 | std::uint64_t{base} << 49 |
                                 std::uint64_t{64} << 32 | start >> 4);
    for (unsigned row = 0; row < 32; ++row) {
      EXPECT_EQ(moved.Offset(row, 1), aligned.Offset(row, 1) + start) << base << " " << row;
    }
  }
}

struct Format {
  FloatFormat codes;
  unsigned bytes;
  int kept_bits;  // below the largest exponent, in sums
};
constexpr Format kE4m3{kE4m3Format, 1, 13};
constexpr Format kE5m2{kE5m2Format, 1, 13};
constexpr Format kF16{kF16Format, 2, 25};
constexpr Format kBf16{kBf16Format, 2, 25};

std::uint32_t CodeAt(const std::vector<std::uint8_t>& rows, unsigned row, unsigned k,
                     unsigned bytes) {
  const std::size_t at = row * kRowBytes + k * bytes;
  return bytes == 1 ? rows[at] : rows[at] | std::uint32_t{rows[at + 1]} << 8;
}

// The exponent of a code as its field says it.
int ExponentOfCode(const FloatFormat& format, std::uint32_t code) {
  const std::uint32_t field = (code & (format.sign_bit() - 1)) >> format.mantissa_bits;
  return static_cast<int>(std::max(field, 1u)) - format.bias;
}

int ExponentOfFloat(float value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return exponent - 1;
}

// The rule of wgmma_sums.h, one sum at a time, in double precision.
float AlignedSum(const Wgmma& wgmma, const Format& a, const Format& b, unsigned row,
                 unsigned column) {
  const float c = std::bit_cast<float>(wgmma.c[row * wgmma.columns + column]);
  std::vector<double> terms;
  int greatest = c == 0 ? -10000 : ExponentOfFloat(c);
  if (c != 0) terms.push_back(c);
  for (unsigned k = 0; k < kRowBytes / a.bytes; ++k) {
    const std::uint32_t a_code = CodeAt(wgmma.a, row, k, a.bytes);
    const std::uint32_t b_code = CodeAt(wgmma.b, column, k, b.bytes);
    const double product = DecodeFloat(a.codes, a_code) * DecodeFloat(b.codes, b_code);
    if (product == 0) continue;
    terms.push_back(product);
    greatest =
        std::max(greatest, ExponentOfCode(a.codes, a_code) + ExponentOfCode(b.codes, b_code));
  }
  double units = 0;
  for (const double term : terms) units += std::trunc(std::ldexp(term, a.kept_bits - greatest));
  if (units == 0) return 0;
  int width = 0;
  std::frexp(units, &width);
  const int cut = std::max(0, width - 1 - std::min(a.kept_bits, 23));
  const double kept = std::ldexp(std::trunc(std::ldexp(units, -cut)), cut);
  return static_cast<float>(std::ldexp(kept, greatest - a.kept_bits));
}

void ExpectFloats(const Wgmma& wgmma, const Format& a, const Format& b) {
  const std::vector<std::uint32_t> d = Multiply(wgmma);
  for (unsigned row = 0; row < 64; ++row) {
    for (unsigned column = 0; column < wgmma.columns; ++column) {
      const float expected = AlignedSum(wgmma, a, b, row, column);
      ASSERT_EQ(std::bit_cast<float>(d[row * wgmma.columns + column]), expected)
          << wgmma.types << " " << row << " " << column;
    }
  }
}

// Codes whose exponents lie within `spread` of 0.
Wgmma RandomFloats(const std::string& types, unsigned columns, const Format& a, const Format& b,
                   unsigned spread, unsigned seed) {
  std::mt19937 random(seed);
  Wgmma wgmma = RandomBytes(types, columns, seed);
  wgmma.element_bytes = a.bytes;
  wgmma.signs = a.bytes == 1 ? ", 1, 1" : ", 1, 1, 0";
  const auto fill = [&](std::vector<std::uint8_t>& rows, const Format& format) {
    for (std::size_t i = 0; i < rows.size(); i += format.bytes) {
      const double exponent = static_cast<double>(random() % (2 * spread + 1)) - spread;
      const double value = std::exp2(exponent) * (1 + static_cast<double>(random() % 1024) / 1024);
      const std::uint32_t code = EncodeFloat(format.codes,
                                             random() % 7 == 0   ? 0
                                             : random() % 2 == 0 ? value
                                                                 : -value,
                                             Rounding::kNearestEven, true);
      rows[i] = static_cast<std::uint8_t>(code);
      if (format.bytes == 2) rows[i + 1] = static_cast<std::uint8_t>(code >> 8);
    }
  };
  fill(wgmma.a, a);
  fill(wgmma.b, b);
  for (auto& word : wgmma.c) {
    const float exponent =
        static_cast<float>(random() % (4 * spread + 1)) - 2.0f * static_cast<float>(spread);
    const float value = std::exp2(exponent) * static_cast<float>(random() % 4096) / 2048;
    word = random() % 5 == 0 ? 0 : std::bit_cast<std::uint32_t>(random() % 2 == 0 ? value : -value);
  }
  return wgmma;
}

TEST(WgmmaTest, Floats) {
  unsigned seed = 0;
  for (const unsigned spread : {0u, 1u, 3u, 8u}) {
    for (const unsigned columns : {8u, 40u, 64u, 256u}) {
      ExpectFloats(RandomFloats("f32.e4m3.e4m3", columns, kE4m3, kE4m3, spread, ++seed), kE4m3,
                   kE4m3);
    }
    ExpectFloats(RandomFloats("f32.e4m3.e5m2", 24, kE4m3, kE5m2, spread, ++seed), kE4m3, kE5m2);
    ExpectFloats(RandomFloats("f32.e5m2.e4m3", 24, kE5m2, kE4m3, spread, ++seed), kE5m2, kE4m3);
    ExpectFloats(RandomFloats("f32.e5m2.e5m2", 24, kE5m2, kE5m2, 2 * spread, ++seed), kE5m2, kE5m2);
    ExpectFloats(RandomFloats("f32.f16.f16", 72, kF16, kF16, spread, ++seed), kF16, kF16);
    ExpectFloats(RandomFloats("f32.bf16.bf16", 72, kBf16, kBf16, 4 * spread, ++seed), kBf16, kBf16);
  }
}

TEST(WgmmaTest, SignsAndFreshSums) {
  Wgmma wgmma = RandomFloats("f32.e4m3.e4m3", 16, kE4m3, kE4m3, 3, 1);
  wgmma.keeps_sums = false;
  const auto positive = Multiply(wgmma);
  wgmma.signs = ", -1, 1";
  const auto negative = Multiply(wgmma);
  wgmma.signs = ", -1, -1";
  EXPECT_EQ(Multiply(wgmma), positive);
  for (auto& word : wgmma.c) word = 0;
  wgmma.keeps_sums = true;
  EXPECT_EQ(Multiply(wgmma), positive);
  for (std::size_t i = 0; i < positive.size(); ++i) {
    EXPECT_EQ(std::bit_cast<float>(positive[i]), -std::bit_cast<float>(negative[i]));
  }
}

// What wgmma_e4m3 schedules rest on: multiples of a unit, below 2^14 of it, are exact.
TEST(WgmmaTest, SmallSumsOf4BitFloatsAreExact) {
  Wgmma wgmma = RandomFloats("f32.e4m3.e4m3", 64, kE4m3, kE4m3, 0, 1);
  std::mt19937 random(1);
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const auto encode = [&](std::vector<std::uint8_t>& rows, int shift) {
    for (auto& byte : rows) {
      const double value = std::ldexp(values[random() % 8], shift) * (random() % 2 == 0 ? 1 : -1);
      byte =
          static_cast<std::uint8_t>(EncodeFloat(kE4m3Format, value, Rounding::kNearestEven, true));
    }
  };
  encode(wgmma.a, 1);
  encode(wgmma.b, 0);
  for (auto& word : wgmma.c) {
    word = std::bit_cast<std::uint32_t>((static_cast<float>(random() % 8000) - 4000) / 4);
  }
  const auto d = Multiply(wgmma);
  for (unsigned i = 0; i < d.size(); ++i) {
    double sum = std::bit_cast<float>(wgmma.c[i]);
    for (unsigned k = 0; k < kRowBytes; ++k) {
      sum += DecodeFloat(kE4m3Format, wgmma.a[i / 64 * kRowBytes + k]) *
             DecodeFloat(kE4m3Format, wgmma.b[i % 64 * kRowBytes + k]);
    }
    ASSERT_LT(std::fabs(sum), 4096);
    ASSERT_EQ(double{std::bit_cast<float>(d[i])}, sum);
  }
}

TEST(WgmmaTest, SpecialValues) {
  Wgmma wgmma = RandomFloats("f32.e5m2.e5m2", 8, kE5m2, kE5m2, 2, 3);
  for (unsigned i = 0; i < 4; ++i) wgmma.b[i * kRowBytes + 1] = 0x3c;  // 1
  wgmma.a[0 * kRowBytes + 1] = 0x7c;                                   // row 0: infinity
  wgmma.a[1 * kRowBytes + 1] = 0x7f;                                   // row 1: NaN
  wgmma.c[2 * 8 + 3] = 0xff800000;
  const auto d = Multiply(wgmma);
  for (unsigned column = 0; column < 4; ++column) {
    EXPECT_EQ(d[column], 0x7f800000u);
    EXPECT_EQ(d[8 + column], 0x7fffffffu);
  }
  EXPECT_EQ(d[2 * 8 + 3], 0xff800000u);
  for (unsigned column = 4; column < 8; ++column) {
    EXPECT_EQ(std::bit_cast<float>(d[2 * 8 + column]), AlignedSum(wgmma, kE5m2, kE5m2, 2, column));
  }
}

// One instruction each on an H200: A, B, C and D of 64 x 8, for five pairs of types.
TEST(WgmmaTest, EqualsAnH200) {
  struct Measured {
    const char* types;
    unsigned element_bytes;
    unsigned count;
  };
  constexpr Measured kMeasured[] = {{"f32.e4m3.e4m3", 1, 3},
                                    {"f32.e5m2.e5m2", 1, 3},
                                    {"f32.e4m3.e5m2", 1, 3},
                                    {"f32.f16.f16", 2, 2},
                                    {"f32.bf16.bf16", 2, 2}};
  const std::string data = ReadData("wgmma_h200.bin");
  std::size_t place = 0;
  const auto take = [&](void* to, std::size_t bytes) {
    ASSERT_LE(place + bytes, data.size());
    std::memcpy(to, data.data() + place, bytes);
    place += bytes;
  };
  for (const Measured& measured : kMeasured) {
    for (unsigned i = 0; i < measured.count; ++i) {
      Wgmma wgmma = RandomBytes(measured.types, 8, 0);
      wgmma.element_bytes = measured.element_bytes;
      wgmma.signs = measured.element_bytes == 1 ? ", 1, 1" : ", 1, 1, 0";
      std::vector<std::uint32_t> expected(wgmma.c.size());
      take(wgmma.a.data(), wgmma.a.size());
      take(wgmma.b.data(), wgmma.b.size());
      take(wgmma.c.data(), wgmma.c.size() * 4);
      take(expected.data(), expected.size() * 4);
      const auto d = Multiply(wgmma);
      for (std::size_t at = 0; at < d.size(); ++at) {
        ASSERT_EQ(d[at], expected[at]) << measured.types << " " << i << " " << at;
      }
    }
  }
  EXPECT_EQ(place, data.size());
}

TEST(WgmmaTest, UnknownFormsAreErrors) {
  const auto error = [](const std::string& text) { return LoadError(WgmmaText(16, text)); };
  const std::string registers = RegisterList("c", 8);
  const auto wgmma = [&](const std::string& suffixes, const std::string& rest) {
    return error("wgmma.mma_async.sync.aligned." + suffixes + " " + registers +
                 ", %d0, %d1, %true" + rest + ";");
  };
  EXPECT_EQ(wgmma("m64n16k32.s32.s8.s8", ""), "");
  EXPECT_NE(wgmma("m64n16k16.s32.s8.s8", ""), "");
  EXPECT_NE(wgmma("m64n8k32.s32.s8.s8", ""), "");
  EXPECT_NE(wgmma("m16n8k32.s32.s8.s8", ""), "");
  EXPECT_NE(wgmma("m64n16k32.s32.s8", ""), "");
  EXPECT_NE(wgmma("m64n16k32.s32.s8.s8", ", 1, 1"), "");
  EXPECT_EQ(wgmma("m64n16k32.f32.e4m3.e4m3", ", 1, -1"), "");
  EXPECT_NE(wgmma("m64n16k32.f32.e4m3.e4m3", ""), "");
  EXPECT_NE(wgmma("m64n16k32.f32.e4m3.e4m3", ", 0, 1"), "");
  EXPECT_NE(wgmma("m64n16k32.satfinite.f32.e4m3.e4m3", ", 1, 1"), "");
  EXPECT_EQ(wgmma("m64n16k16.f32.f16.f16", ", 1, 1, 0, 0"), "");
  EXPECT_NE(wgmma("m64n16k16.f32.f16.f16", ", 1, 1, 0, 1"), "");
  EXPECT_NE(error("wgmma.sync.aligned;"), "");
  EXPECT_NE(error("wgmma.wait_group.sync.aligned;"), "");
  EXPECT_NE(error("wgmma.fence;"), "");
  std::string other = WgmmaText(16, "wgmma.fence.sync.aligned;");
  other.replace(other.find("sm_90a"), 6, "sm_90");
  EXPECT_NE(LoadError(other), "");
  for (const unsigned columns : {40u, 56u, 72u, 248u}) {
    EXPECT_NE(LoadError(WgmmaText(
                  columns, fmt::format("wgmma.mma_async.sync.aligned.m64n{}k32.s32.s8.s8 {}, %d0, "
                                       "%d1, %true;",
                                       columns, RegisterList("c", columns / 2)))),
              "")
        << columns;
  }
}

}  // namespace
}  // namespace lijit::emulator
