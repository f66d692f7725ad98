// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/emulator/mma_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lijit::emulator {
namespace {

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

std::string RegisterList(char name, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return text + "}";
}

__extension__ using Wide = __int128;

}  // namespace

Product Zeros(const Shape& shape) { return {Codes(16 * shape.k), Codes(shape.k * 8), Codes(128)}; }

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

std::string MmaBody(const Shape& shape, const std::string& text) {
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

std::string MmaInstruction(const Shape& shape, const std::string& d) {
  return fmt::format("mma.sync.aligned.{} {}, {}, {}, {};", shape.suffixes, d,
                     RegisterList('a', RegistersOfA(shape)), RegisterList('b', RegistersOfB(shape)),
                     RegisterList('c', 4));
}

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
  const Outcome outcome = RunBody(MmaBody(shape, MmaInstruction(shape)), options);
  EXPECT_EQ(outcome.error + outcome.finding, "") << shape.suffixes;
  return Unpack(outcome.data);
}

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

}  // namespace lijit::emulator
