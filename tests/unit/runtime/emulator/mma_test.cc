// SPDX-License-Identifier: Apache-2.0
// mma.sync against products of matrices on the host, with the fragments packed as the PTX ISA
// numbers their elements.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/emulator/exact_sum.h"
#include "runtime/emulator/float_formats.h"
#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

struct Shape {
  std::string suffixes;  // after mma.sync.aligned.
  unsigned bits;         // of an element of A and B
  unsigned k;
};

using Codes = std::vector<std::uint32_t>;  // elements of a matrix by rows, not decoded

struct Product {
  Codes a;  // 16 x k
  Codes b;  // k x 8
  Codes c;  // 16 x 8, 32 bits
};

Product Zeros(const Shape& shape) { return {Codes(16 * shape.k), Codes(shape.k * 8), Codes(128)}; }

// Element i of a lane's A fragment, as in the ISA's formulas for m16n8k16 (.f16), m16n8k32 (.s8),
// m16n8k64 (.s4): an element of the first or second half of a row pair, then of the K halves.
std::pair<unsigned, unsigned> PlaceInA(const Shape& shape, unsigned lane, unsigned i) {
  const unsigned per_register = 32 / shape.bits;
  const unsigned group = lane / 4;
  const unsigned in_group = lane % 4;
  const bool first_rows = i / per_register == 0 || i / per_register == 2;
  const unsigned row = first_rows ? group : group + 8;
  unsigned column = in_group * per_register + i % per_register;
  if (i >= 2 * per_register) column += 4 * per_register;
  return {row, column};
}

std::pair<unsigned, unsigned> PlaceInB(const Shape& shape, unsigned lane, unsigned i) {
  const unsigned per_register = 32 / shape.bits;
  unsigned row = lane % 4 * per_register + i % per_register;
  if (i >= per_register) row += 4 * per_register;
  return {row, lane / 4};
}

std::pair<unsigned, unsigned> PlaceInC(unsigned lane, unsigned i) {
  return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + i % 2};
}

unsigned RegistersOfB(const Shape& shape) { return shape.k * shape.bits / 128; }
unsigned RegistersOfA(const Shape& shape) { return 2 * RegistersOfB(shape); }

// Word w of lane l at [w * 32 + l]: first A's registers, then B's, then C's.
std::vector<std::uint32_t> Pack(const Shape& shape, const Product& product) {
  const unsigned per_register = 32 / shape.bits;
  const unsigned first_b = RegistersOfA(shape);
  const unsigned first_c = first_b + RegistersOfB(shape);
  std::vector<std::uint32_t> words(32 * (first_c + 4));
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto put = [&](unsigned word, unsigned i, std::uint32_t code) {
      words[word * 32 + lane] |= code << (i % per_register * shape.bits);
    };
    for (unsigned i = 0; i < RegistersOfA(shape) * per_register; ++i) {
      const auto [row, column] = PlaceInA(shape, lane, i);
      put(i / per_register, i, product.a[row * shape.k + column]);
    }
    for (unsigned i = 0; i < RegistersOfB(shape) * per_register; ++i) {
      const auto [row, column] = PlaceInB(shape, lane, i);
      put(first_b + i / per_register, i, product.b[row * 8 + column]);
    }
    for (unsigned i = 0; i < 4; ++i) {
      const auto [row, column] = PlaceInC(lane, i);
      words[(first_c + i) * 32 + lane] = product.c[row * 8 + column];
    }
  }
  return words;
}

std::string RegisterList(char name, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return text + "}";
}

// Loads the fragments, runs `text` between, and stores D over the first four words.
std::string Body(const Shape& shape, const std::string& text) {
  const unsigned count_a = RegistersOfA(shape);
  const unsigned count_b = RegistersOfB(shape);
  std::string body =
      ".reg .b64 %p; .reg .b32 %t, %a<4>, %b<4>, %c<4>, %d<4>; .reg .pred %q;\n"
      "mov.u32 %t, %tid.x;\nld.param.u64 %p, [data];\nmad.wide.u32 %p, %t, 4, %p;\n";
  unsigned word = 0;
  const auto load = [&](char name, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      body += fmt::format("ld.global.b32 %{}{}, [%p+{}];\n", name, i, 128 * word++);
    }
  };
  load('a', count_a);
  load('b', count_b);
  load('c', 4);
  body += text;
  for (unsigned i = 0; i < 4; ++i) {
    body += fmt::format("\nst.global.b32 [%p+{}], %d{};", 128 * i, i);
  }
  return body;
}

std::string Instruction(const Shape& shape, const std::string& d = "{%d0, %d1, %d2, %d3}",
                        const std::string& c = "{%c0, %c1, %c2, %c3}") {
  return fmt::format("mma.sync.aligned.{} {}, {}, {}, {};", shape.suffixes, d,
                     RegisterList('a', RegistersOfA(shape)), RegisterList('b', RegistersOfB(shape)),
                     c);
}

// D, by rows, from the first four words of the lanes.
Codes Unpack(const std::vector<std::uint32_t>& words) {
  Codes d(128);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      const auto [row, column] = PlaceInC(lane, i);
      d[row * 8 + column] = words[i * 32 + lane];
    }
  }
  return d;
}

Codes Multiply(const Shape& shape, const Product& product) {
  RunOptions options;
  options.data = Pack(shape, product);
  const Outcome outcome = RunBody(Body(shape, Instruction(shape)), options);
  EXPECT_EQ(outcome.error + outcome.finding, "") << shape.suffixes;
  return Unpack(outcome.data);
}

std::int64_t Integer(const std::string& type, std::uint32_t code) {
  return type == "s8" ? static_cast<std::int8_t>(code) : static_cast<std::uint8_t>(code);
}

class IntegerMmaTest
    : public testing::TestWithParam<std::tuple<std::string, std::string, bool, unsigned>> {};

TEST_P(IntegerMmaTest, IsTheExactProduct) {
  const auto& [a, b, satfinite, depth] = GetParam();
  const Shape shape{
      fmt::format("m16n8k{}.row.col.{}s32.{}.{}.s32", depth, satfinite ? "satfinite." : "", a, b),
      8, depth};
  std::mt19937 random(1);
  for (int trial = 0; trial < 10; ++trial) {
    // In some trials all elements are the largest and the sums are near the limits.
    const bool extreme = trial >= 5;
    const auto element = [&] {
      return extreme ? (random() % 2 == 0 ? 0x80u : 0x7fu + (random() % 2 << 7)) : random() & 0xff;
    };
    const auto sum = [&] {
      return extreme ? 0x7fffffffu + random() % 2 : static_cast<std::uint32_t>(random());
    };
    Product product = Zeros(shape);
    std::generate(product.a.begin(), product.a.end(), element);
    std::generate(product.b.begin(), product.b.end(), element);
    std::generate(product.c.begin(), product.c.end(), sum);
    const Codes d = Multiply(shape, product);
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        std::int64_t exact = static_cast<std::int32_t>(product.c[row * 8 + column]);
        for (unsigned k = 0; k < depth; ++k) {
          exact += Integer(a, product.a[row * depth + k]) * Integer(b, product.b[k * 8 + column]);
        }
        if (satfinite) exact = std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX);
        ASSERT_EQ(d[row * 8 + column], static_cast<std::uint32_t>(exact)) << row << " " << column;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, IntegerMmaTest,
                         testing::Combine(testing::Values("s8", "u8"), testing::Values("s8", "u8"),
                                          testing::Bool(), testing::Values(16u, 32u)));

struct FloatCase {
  Shape shape;
  FloatFormat a;
  FloatFormat b;
};

// Rounds an exact sum of integers times 2^unit with wide integers only: a second way, independent
// of ExactSum. All summands must be multiples of 2^unit and below 2^(unit + 120).
__extension__ using Wide = __int128;
float RoundedSum(const std::vector<double>& summands, int unit) {
  Wide sum = 0;
  for (const double value : summands) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
    const int shift = exponent - 53 - unit;
    sum += shift >= 0 ? Wide{mantissa} << shift : Wide{mantissa >> -shift};
  }
  const bool negative = sum < 0;
  if (negative) sum = -sum;
  int shift = 0;
  while ((sum >> shift) >= (Wide{1} << 24)) ++shift;
  Wide quotient = sum >> shift;
  const Wide rest = sum - (quotient << shift);
  const Wide half = shift > 0 ? Wide{1} << (shift - 1) : 0;
  if (shift > 0 && (rest > half || (rest == half && (quotient & 1) != 0))) ++quotient;
  const auto result = static_cast<float>(std::ldexp(static_cast<double>(quotient), shift + unit));
  return negative ? -result : result;
}

class FloatMmaTest : public testing::TestWithParam<FloatCase> {};

// Random codes of finite numbers whose exponents lie in a range of `spread` below the greatest.
std::uint32_t RandomFloat(const FloatFormat& format, std::mt19937& random, unsigned spread) {
  const unsigned exponents = (1u << format.exponent_bits) - 1;
  const auto middle = static_cast<unsigned>(format.bias);
  const unsigned low = middle > spread / 2 ? middle - spread / 2 : 0;
  const unsigned exponent = std::min(low + static_cast<unsigned>(random() % (spread + 1)),
                                     exponents - (format.has_infinity ? 1 : 0));
  const std::uint32_t code =
      exponent << format.mantissa_bits | (random() & ((1u << format.mantissa_bits) - 1));
  return std::min(code, format.max_finite) | (random() % 2 == 0 ? format.sign_bit() : 0);
}

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

// Scales in the lanes and bytes that the selectors choose; what is in the others does not count.
struct Scaling {
  unsigned byte_a, thread_a, byte_b, thread_b;
};

struct ScaledCase {
  FloatCase form;
  unsigned blocks;  // scales of a row of A
};

class ScaledMmaTest : public testing::TestWithParam<ScaledCase> {
 protected:
  // A word a lane for A, a word a lane for B; every byte is random.
  std::vector<std::uint32_t> RandomWords(std::uint32_t least, std::uint32_t range) {
    std::vector<std::uint32_t> words(64);
    for (auto& word : words) {
      for (int i = 0; i < 4; ++i) word = word << 8 | (least + random_() % range);
    }
    return words;
  }

  // The scale of block `block` of a row of A or a column of B: the ISA's figures.
  static double ScaleOfA(const std::vector<std::uint32_t>& words, const Scaling& scaling,
                         unsigned row, unsigned block) {
    const unsigned lane = 4 * (row % 8) + 2 * scaling.thread_a + (row >= 8 ? 1 : 0);
    return DecodeUe8m0(words[lane] >> 8 * (scaling.byte_a + block) & 0xff);
  }
  static double ScaleOfB(const std::vector<std::uint32_t>& words, const Scaling& scaling,
                         unsigned column, unsigned block) {
    const unsigned lane = 4 * column + scaling.thread_b;
    return DecodeUe8m0(words[32 + lane] >> 8 * (scaling.byte_b + block) & 0xff);
  }

  Outcome Run(const Product& product, const std::vector<std::uint32_t>& words,
              const Scaling& scaling, const std::string& before = "") {
    const Shape& shape = GetParam().form.shape;
    RunOptions options;
    options.data = Pack(shape, product);
    const std::size_t place = options.data.size() * 4;
    options.data.insert(options.data.end(), words.begin(), words.end());
    std::string text = Instruction(shape);
    text.pop_back();
    return RunBody(Body(shape, fmt::format(".reg .b32 %s<2>; .reg .b16 %h<2>;\n"
                                           "ld.global.b32 %s0, [%p+{}];\n"
                                           "ld.global.b32 %s1, [%p+{}];\n"
                                           "mov.b16 %h0, {}; mov.b16 %h1, {};\n{}\n"
                                           "{}, %s0, {{%h0, %h1}}, {{%s1}}, {{{}, {}}};",
                                           place, place + 128, scaling.byte_a, scaling.thread_a,
                                           before, text, scaling.byte_b, scaling.thread_b)),
                   options);
  }

  Product RandomProduct() {
    const FloatCase& form = GetParam().form;
    Product product = Zeros(form.shape);
    for (auto& code : product.a) code = RandomFloat(form.a, random_, 8);
    for (auto& code : product.b) code = RandomFloat(form.b, random_, 8);
    for (auto& code : product.c) code = RandomFloat(kF32Format, random_, 16);
    return product;
  }

  std::mt19937 random_{4};
};

TEST_P(ScaledMmaTest, IsTheExactProductRoundedOnce) {
  const auto& [form, blocks] = GetParam();
  const unsigned k_end = form.shape.k;
  for (unsigned trial = 0; trial < 16; ++trial) {
    const Scaling scaling{trial / 2 * blocks % 4, trial % 2, trial * blocks % 4, trial % 4};
    const Product product = RandomProduct();
    const std::vector<std::uint32_t> words = RandomWords(127 - trial, 1 + 2 * trial);
    const Outcome outcome = Run(product, words, scaling);
    ASSERT_EQ(outcome.error + outcome.finding, "");
    const Codes d = Unpack(outcome.data);
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        std::vector<double> summands{DecodeFloat(kF32Format, product.c[row * 8 + column])};
        for (unsigned k = 0; k < k_end; ++k) {
          const unsigned block = k / (k_end / blocks);
          summands.push_back(DecodeFloat(form.a, product.a[row * k_end + k]) *
                             ScaleOfA(words, scaling, row, block) *
                             DecodeFloat(form.b, product.b[k * 8 + column]) *
                             ScaleOfB(words, scaling, column, block));
        }
        ASSERT_EQ(d[row * 8 + column], std::bit_cast<std::uint32_t>(RoundedSum(summands, -80)))
            << trial << ": " << row << " " << column;
      }
    }
  }
}

TEST_P(ScaledMmaTest, ScalesMayBeNaNOrFarApart) {
  const auto& [form, blocks] = GetParam();
  Product product = Zeros(form.shape);
  const auto one = [](const FloatFormat& format) {
    return EncodeFloat(format, 1, Rounding::kNearestEven, true);
  };
  std::fill(product.a.begin(), product.a.end(), one(form.a));
  std::fill(product.b.begin(), product.b.end(), one(form.b));
  std::fill(product.c.begin(), product.c.end(), std::bit_cast<std::uint32_t>(0x1p-30f));
  std::vector<std::uint32_t> words(64, 0x7f7f7f7f);
  words[4] = 0x7f7f7fff;                   // row 1 of A: NaN in its first block
  words[8] = blocks == 2 ? 0xfe00 : 0xfe;  // row 2: 2^127, in the last block; 2^-127 in the first
  words[12] = 0;                           // row 3: 2^-127
  const Outcome outcome = Run(product, words, {0, 0, 0, 0});
  ASSERT_EQ(outcome.error + outcome.finding, "");
  const Codes d = Unpack(outcome.data);
  for (unsigned i = 0; i < 128; ++i) {
    const unsigned row = i / 8;
    const float expected = row == 2   ? std::numeric_limits<float>::infinity()
                           : row == 3 ? 0x1p-30f
                                      : static_cast<float>(form.shape.k);
    ASSERT_EQ(d[i], row == 1 ? 0x7fffffffu : std::bit_cast<std::uint32_t>(expected)) << i;
  }
}

TEST_P(ScaledMmaTest, SelectorsAreChecked) {
  const Product product = Zeros(GetParam().form.shape);
  const std::vector<std::uint32_t> words(64, 0x7f7f7f7f);
  EXPECT_EQ(Run(product, words, {0, 2, 0, 0}).kind, "out-of-bounds");
  EXPECT_EQ(Run(product, words, {4, 0, 0, 0}).kind, "out-of-bounds");
  EXPECT_EQ(Run(product, words, {0, 0, 0, 4}).kind, "out-of-bounds");
  EXPECT_EQ(Run(product, words, {0, 0, 1, 0}).kind, GetParam().blocks == 2 ? "out-of-bounds" : "");
  EXPECT_EQ(Run(product, words, {0, 0, 0, 0}, "setp.lt.u32 %q, %t, 4;\n@%q mov.b16 %h1, 1;").kind,
            "out-of-bounds");
}

INSTANTIATE_TEST_SUITE_P(
    All, ScaledMmaTest,
    testing::Values(
        ScaledCase{
            {{"m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 4,
              64},
             kE2m1Format,
             kE2m1Format},
            2},
        ScaledCase{{{"kind::mxf4.block_scale.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0", 4, 64},
                    kE2m1Format,
                    kE2m1Format},
                   2},
        ScaledCase{{{"kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e5m2.f32."
                     "ue8m0",
                     8, 32},
                    kE4m3Format,
                    kE5m2Format},
                   1}));

TEST(MmaTest, SumsMayBeTheDestination) {
  const Shape shape{"m16n8k32.row.col.s32.s8.s8.s32", 8, 32};
  const Product product{Codes(16 * 32, 1), Codes(32 * 8, 2), Codes(128, 5)};
  RunOptions options;
  options.data = Pack(shape, product);
  const std::string text = Instruction(shape, "{%c0, %c1, %c2, %c3}");
  const Outcome outcome =
      RunBody(Body(shape, text + text +
                              "\nmov.b32 %d0, %c0; mov.b32 %d1, %c1; mov.b32 %d2, %c2; "
                              "mov.b32 %d3, %c3;"),
              options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(outcome.data[i], 5u + 2 * 64);
}

TEST(MmaTest, AllThreadsMustTakePart) {
  const Shape shape{"m16n8k32.row.col.s32.s8.s8.s32", 8, 32};
  RunOptions options;
  options.data = Pack(shape, Zeros(shape));
  // A thread that skips it and exits, one that waits elsewhere for ever, and a block of 31 threads.
  const std::string skips = "setp.ne.u32 %q, %t, 7;\n@%q " + Instruction(shape);
  Outcome outcome = RunBody(Body(shape, skips), options);
  EXPECT_EQ(outcome.kind, "divergence");
  EXPECT_EQ(
      outcome.finding,
      "divergence: kernel 'k', PTX line 20 (mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32): "
      "thread (0,0,0) of block (0,0,0) executes it with 31 threads of its warp; it is for "
      "all 32");
  const std::string waits = "setp.eq.u32 %q, %t, 7;\n@%q bar.warp.sync -1;\n@%q bra past;\n" +
                            Instruction(shape) + "\npast:";
  EXPECT_EQ(RunBody(Body(shape, waits), options).kind, "divergence");
  options.block = {31, 1, 1};
  outcome = RunBody(Body(shape, Instruction(shape)), options);
  EXPECT_EQ(outcome.kind, "divergence");
}

TEST(MmaTest, ThreadsThatCameApartMeet) {
  const Shape shape{"m16n8k32.row.col.s32.s8.s8.s32", 8, 32};
  RunOptions options;
  options.data = Pack(shape, {Codes(16 * 32, 1), Codes(32 * 8, 2), Codes(128, 5)});
  const std::string text =
      "setp.lt.u32 %q, %t, 7;\n@%q bra apart;\nadd.u32 %c0, %c0, 1;\napart:\n" + Instruction(shape);
  const Outcome outcome = RunBody(Body(shape, text), options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  EXPECT_EQ(outcome.data[0], 69u);
  EXPECT_EQ(outcome.data[8], 70u);
}

TEST(MmaTest, UnknownFormsAreErrors) {
  const auto error = [](const std::string& text) {
    return BodyError(".reg .b32 %a<4>, %b<4>, %c<4>, %d<4>; .reg .b64 %w;\n" + text);
  };
  const std::string operands = " {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, ";
  const std::string c = "{%c0,%c1,%c2,%c3};";
  EXPECT_EQ(error("mma.sync.aligned.m16n8k32.row.col.s32.s8.f16.s32" + operands + c),
            "ptx line 6: mma.sync.aligned.m16n8k32.row.col.s32.s8.f16.s32: this shape with these "
            "types is not known to the emulator");
  EXPECT_NE(error("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16" + operands + c), "");
  EXPECT_NE(error("mma.sync.aligned.m16n8k32.col.row.s32.s8.s8.s32" + operands + c), "");
  EXPECT_NE(error("mma.sync.m16n8k32.row.col.s32.s8.s8.s32" + operands + c), "");
  EXPECT_NE(error("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.s32.s8.s8.s32" + operands + c),
            "");
  EXPECT_NE(error("mma.sync.aligned.kind::mxf4.block_scale.scale_vec::1X.m16n8k64.row.col.f32.e2m1."
                  "e2m1.f32.ue8m0" +
                  operands + "{%c0,%c1,%c2,%c3}, %a0, {0,0}, %a0, {0,0};"),
            "");
  EXPECT_NE(error("mma.sync.aligned.kind::mxf4.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0" +
                  operands + "{%c0,%c1,%c2,%c3}, %a0, {0,0}, %a0, {0,0};"),
            "");
  EXPECT_EQ(error("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32" + operands + c),
            "ptx line 6: mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32: "
            "'.satfinite' is for .s32");
  EXPECT_EQ(error("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" + operands + "{%c0,%c1};"),
            "ptx line 6: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32: a fragment of 4 "
            "registers is wanted");
  EXPECT_NE(
      error("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" + operands + "{%c0,%c1,%c2,%w};"),
      "");
}

TEST(ExactSumTest, CancelsAndRoundsToOdd) {
  ExactSum sum;
  for (const double value : {0x1p1000, 1.0, -0x1p1000, 0x1p-1074, -0x1p-1074}) sum.Add(value);
  EXPECT_EQ(sum.RoundToOdd(), 1.0);
  ExactSum sticky;
  for (const double value : {1.0, 0x1p-300}) sticky.Add(value);
  EXPECT_EQ(sticky.RoundToOdd(), 1 + 0x1p-52);
  ExactSum below;
  for (const double value : {-1.0, 0x1p-1074}) below.Add(value);
  EXPECT_EQ(below.RoundToOdd(), -(1 - 0x1p-53));
  ExactSum small;
  for (int i = 0; i < 3; ++i) small.Add(-0x1p-1074);
  EXPECT_EQ(small.RoundToOdd(), -0x3p-1074);
  ExactSum none;
  EXPECT_EQ(none.RoundToOdd(), 0.0);
}

// A sum of two is what AddToOdd gives.
TEST(ExactSumTest, AgreesWithAddToOdd) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const auto value = [&] {
      const std::uint64_t exponent = 1023 - 40 + random() % 80;
      return std::bit_cast<double>((random() & 0x800fffffffffffff) | exponent << 52);
    };
    const double a = value();
    const double b = value();
    ExactSum sum;
    sum.Add(a);
    sum.Add(b);
    ASSERT_EQ(sum.RoundToOdd(), AddToOdd(a, b)) << a << " " << b;
  }
}

}  // namespace
}  // namespace lijit::emulator
