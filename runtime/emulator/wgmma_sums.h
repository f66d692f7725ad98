// SPDX-License-Identifier: Apache-2.0
// The arithmetic of wgmma: 16 rows of A, a warp's share, times N columns of B.
//
// Integer sums are exact. For floats the PTX ISA leaves precision and order open; this is what an
// H200 does, equal in every bit over 200,000 sums of each type: the products of one instruction and
// the accumulator are aligned to the largest of their exponents (a product's is the sum of its
// factors', not normalized), bits below 2^-F of it are cut off, the rest is added exactly, and the
// sum is cut to min(F, 23) bits after its leading one. F is 13 for 8-bit floats and 25 for 16-bit
// ones. So a sum of 8-bit products is exact while all are multiples of some unit and no term and no
// partial sum reaches 2^14 of it. A NaN result is 0x7fffffff.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "runtime/emulator/float_formats.h"
#include "runtime/emulator/wgmma_matrix.h"

namespace lijit::emulator {

// What the exponent field says; subnormal numbers have the least one.
template <typename Element>
std::int16_t ExponentOf(float value) {
  if (value == 0) return kNoExponent;
  const auto field = static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 0xff);
  return static_cast<std::int16_t>(std::max(field - 127, 1 - Element::kCodes.bias));
}

// The exponent of the last bit that is set.
inline int LastBit(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto field = static_cast<int>(bits >> 23 & 0xff);
  const std::uint32_t mantissa = (bits & 0x7fffff) | (field != 0 ? 0x800000 : 0);
  return std::max(field, 1) - 127 - 23 + std::countr_zero(mantissa);
}

template <typename Element, unsigned K>
Line DescribeLine(const float (&values)[K]) {
  int greatest = kNoExponent;
  int least = 0x7fff;
  for (const float value : values) {
    if (!std::isfinite(value)) return {kNotFinite, 1.0f};
    if (value == 0) continue;
    greatest = std::max<int>(greatest, ExponentOf<Element>(value));
    least = std::min(least, LastBit(value));
  }
  if (greatest == kNoExponent) return {};
  if (std::abs(least) > 60) return {kTooWide, 1.0f};
  return {static_cast<std::int16_t>(greatest - least), std::ldexp(1.0f, -least)};
}

// Line `line` of a matrix, from its K decoded elements.
template <typename Element, unsigned K>
void PutLine(WgmmaMatrix& matrix, unsigned line, const float (&values)[K]) {
  for (unsigned k = 0; k < K; ++k) matrix.values[k * matrix.lines + line] = values[k];
  if constexpr (Element::kIsFloat) {
    for (unsigned k = 0; k < K; ++k) {
      matrix.exponents[k * matrix.lines + line] = ExponentOf<Element>(values[k]);
    }
    matrix.of_line[line] = DescribeLine<Element, K>(values);
  }
}

// One row of A.
template <unsigned K>
struct WgmmaRow {
  float values[K];
  std::int16_t exponents[K];
  Line line;
};

template <typename Element, unsigned K>
void DescribeRow(WgmmaRow<K>& row) {
  if constexpr (Element::kIsFloat) {
    for (unsigned k = 0; k < K; ++k) row.exponents[k] = ExponentOf<Element>(row.values[k]);
    row.line = DescribeLine<Element, K>(row.values);
  }
}

// Sums of products in single precision of one row with W columns of B.
template <unsigned W, unsigned K>
void MultiplyBlock(const WgmmaRow<K>& row, const WgmmaMatrix& b, unsigned column,
                   float (&sums)[W]) {
  float total[W] = {};
  const float* values = b.values.data() + column;
  for (unsigned k = 0; k < K; ++k, values += b.lines) {
    for (unsigned i = 0; i < W; ++i) total[i] += row.values[k] * values[i];
  }
  std::copy(std::begin(total), std::end(total), std::begin(sums));
}

// 2^exponent.
inline double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// To min(F, 23) bits after the leading one, toward zero.
template <unsigned F>
float CutSum(double sum) {
  constexpr unsigned kBits = std::min(F, 23u);
  constexpr std::uint64_t kBelow = (std::uint64_t{1} << (52 - kBits)) - 1;
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) & ~kBelow));
}

inline int ExponentOfSum(float value) {
  if (value == 0) return kNoExponent;
  return std::max(static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 0xff), 1) - 127;
}

// The rule above, for one row and W columns; every term is finite. Term holds sums of K products in
// units of the last bit that is kept.
template <unsigned F, typename Term, unsigned W, unsigned K>
void AddAligned(const WgmmaRow<K>& row, const WgmmaMatrix& b, unsigned column, float (&sums)[W]) {
  std::int16_t greatest[W];
  std::fill(std::begin(greatest), std::end(greatest), std::int16_t{2 * kNoExponent});
  for (unsigned k = 0; k < K; ++k) {
    const std::int16_t* other = b.exponents.data() + std::size_t{k} * b.lines + column;
    for (unsigned i = 0; i < W; ++i) {
      const auto exponent = static_cast<std::int16_t>(row.exponents[k] + other[i]);
      greatest[i] = std::max(greatest[i], exponent);
    }
  }
  int exponent[W];
  Term scale[W];
  for (unsigned i = 0; i < W; ++i) {
    const bool has_products = greatest[i] > kNoExponent / 2;
    exponent[i] = has_products ? std::max<int>(greatest[i], ExponentOfSum(sums[i])) : 0;
    scale[i] = static_cast<Term>(PowerOfTwo(static_cast<int>(F) - exponent[i]));
  }
  Term total[W] = {};
  for (unsigned k = 0; k < K; ++k) {
    const float* other = b.values.data() + std::size_t{k} * b.lines + column;
    for (unsigned i = 0; i < W; ++i) {
      const Term product = static_cast<Term>(row.values[k]) * static_cast<Term>(other[i]);
      total[i] += static_cast<Term>(static_cast<std::int32_t>(product * scale[i]));
    }
  }
  for (unsigned i = 0; i < W; ++i) {
    if (greatest[i] <= kNoExponent / 2) {
      sums[i] = CutSum<F>(sums[i]) + 0.0f;  // no negative zero
      continue;
    }
    const int last = exponent[i] - static_cast<int>(F);
    const double kept = std::trunc(double{sums[i]} * PowerOfTwo(-last));
    sums[i] = CutSum<F>((kept + double{total[i]}) * PowerOfTwo(last));
  }
}

// Whether nothing is cut off in any of the columns before the last step: all terms are multiples of
// a unit, and none reaches 2^(F+1) of it.
template <unsigned F, unsigned W>
bool IsAligned(const Line& row, const WgmmaMatrix& b, unsigned column, const float (&sums)[W]) {
  bool aligned = true;
  for (unsigned i = 0; i < W; ++i) {
    const Line& line = b.of_line[column + i];
    aligned &= row.width + line.width <= static_cast<int>(F);
    const float units = sums[i] * (row.inverse_unit * line.inverse_unit);
    const bool small = std::fabs(units) < static_cast<float>(2u << F);
    aligned &= small && units == std::trunc(small ? units : 0.0f);
  }
  return aligned;
}

// With an infinity or a NaN among the terms.
template <unsigned K>
float AddSpecial(const WgmmaRow<K>& row, const WgmmaMatrix& b, unsigned column, float sum) {
  for (unsigned k = 0; k < K; ++k) sum += row.values[k] * b.values[k * b.lines + column];
  return sum;
}

template <unsigned F, typename Term, unsigned W, unsigned K>
void AddFloats(const WgmmaRow<K>& row, const WgmmaMatrix& b, unsigned column, float (&sums)[W]) {
  if constexpr (F == 13) {  // products and their sums are exact in single precision
    if (IsAligned<F>(row.line, b, column, sums)) {
      float products[W];
      MultiplyBlock(row, b, column, products);
      for (unsigned i = 0; i < W; ++i) sums[i] = CutSum<F>(double{sums[i] + products[i]});
      return;
    }
  }
  bool finite = row.line.width != kNotFinite;
  for (unsigned i = 0; i < W; ++i) {
    finite &= b.of_line[column + i].width != kNotFinite && std::isfinite(sums[i]);
  }
  if (finite) return AddAligned<F, Term>(row, b, column, sums);
  for (unsigned i = 0; i < W; ++i) {
    if (row.line.width == kNotFinite || b.of_line[column + i].width == kNotFinite ||
        !std::isfinite(sums[i])) {
      sums[i] = AddSpecial(row, b, column + i, sums[i]);
      continue;
    }
    float one[1] = {sums[i]};
    AddAligned<F, Term>(row, b, column + i, one);
    sums[i] = one[0];
  }
}

}  // namespace lijit::emulator
