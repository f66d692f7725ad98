// SPDX-License-Identifier: Apache-2.0
// The arithmetic of mma.sync on floats. The PTX ISA leaves the order and the precision of the
// accumulation open: here every element of D is the exact sum of the exact products and C, rounded
// once, to nearest even. Subnormal numbers are kept. A NaN result is 0x7fffffff.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/emulator/exact_sum.h"
#include "runtime/emulator/float_formats.h"
#include "runtime/emulator/mma_fragments.h"

namespace lijit::emulator {

// Neighbouring columns of B, multiplied at once: left alone, compilers vectorize along K instead.
using ColumnPair __attribute__((vector_size(2 * sizeof(double)))) = double;

// A and B as doubles, and how wide a fixed-point number must be that holds all elements of a row of
// A, or of a column of B, exactly.
template <unsigned K>
struct FloatOperands {
  double a[kMmaRows][K];
  ColumnPair b[K][kMmaColumns / 2];
  int width_a[kMmaRows];
  int width_b[kMmaColumns];
};

inline constexpr int kNoWidth = 1 << 20;  // of infinities and NaN

// Bits from the greatest leading bit to the least last bit of `count` elements.
inline int FixedPointWidth(const float* elements, unsigned count, int mantissa_bits) {
  int greatest = 0;
  int least = 1000;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(elements[i]) & 0x7fffffff;
    const auto exponent = static_cast<int>(magnitude >> 23);
    greatest = std::max(greatest, exponent);
    least = std::min(least, magnitude == 0 ? 1000 : std::max(exponent, 1));
  }
  return greatest == 255 ? kNoWidth : greatest + 1 - (least - mantissa_bits);
}

template <typename A, typename B, unsigned K>
void ReadOperands(const Warp& warp, const Instruction& in, const MmaPlaces& places,
                  FloatOperands<K>& operands) {
  float a[kMmaRows][K];
  float b[kMmaColumns][K];
  ReadA<A>(warp, in, places.a, a);
  ReadB<B>(warp, in, places.b, b);
  for (unsigned row = 0; row < kMmaRows; ++row) {
    for (unsigned k = 0; k < K; ++k) operands.a[row][k] = a[row][k];
    operands.width_a[row] = FixedPointWidth(a[row], K, A::kMantissaBits);
  }
  for (unsigned column = 0; column < kMmaColumns; ++column) {
    for (unsigned k = 0; k < K; ++k) operands.b[k][column / 2][column % 2] = b[column][k];
    operands.width_b[column] = FixedPointWidth(b[column], K, B::kMantissaBits);
  }
}

// a + b, rounded once. A sum that is rounded to a double first is rounded wrongly only when that
// double lies halfway between two floats.
inline float AddOnce(double a, double b) {
  constexpr std::uint64_t kBelowFloat = (std::uint64_t{1} << 29) - 1;
  const double sum = a + b;
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  const bool halfway = (bits & kBelowFloat) == kBelowFloat / 2 + 1;
  const bool is_normal = (bits >> 52 & 0x7ff) > 1023 - 126;
  return static_cast<float>(halfway || !is_normal ? AddToOdd(a, b) : sum);
}

// One element of D in the general case.
template <unsigned K>
float SumProducts(const FloatOperands<K>& operands, unsigned row, unsigned column, double c) {
  const auto product = [&](unsigned k) {
    return operands.a[row][k] * operands.b[k][column / 2][column % 2];
  };
  double rounded = c;
  for (unsigned k = 0; k < K; ++k) rounded += product(k);
  if (!std::isfinite(rounded)) return static_cast<float>(rounded);
  ExactSum sum;
  for (unsigned k = 0; k < K; ++k) sum.Add(product(k));
  sum.Add(c);
  return static_cast<float>(sum.RoundToOdd());
}

// sums = A B + sums.
template <unsigned K>
void AddProducts(const FloatOperands<K>& operands, MmaSums& sums) {
  // A sum of K products of a total width up to this is a double: nothing was rounded.
  constexpr int kExactWidth = 53 - std::bit_width(K - 1);
  for (unsigned row = 0; row < kMmaRows; ++row) {
    ColumnPair products[kMmaColumns / 2] = {};
    for (unsigned k = 0; k < K; ++k) {
      for (unsigned i = 0; i < kMmaColumns / 2; ++i) {
        products[i] += operands.a[row][k] * operands.b[k][i];
      }
    }
    for (unsigned column = 0; column < kMmaColumns; ++column) {
      const double c = std::bit_cast<float>(sums[row][column]);
      const bool exact = operands.width_a[row] + operands.width_b[column] <= kExactWidth;
      const float sum = exact ? AddOnce(products[column / 2][column % 2], c)
                              : SumProducts(operands, row, column, c);
      sums[row][column] = std::isnan(sum) ? kF32Format.nan : std::bit_cast<std::uint32_t>(sum);
    }
  }
}

}  // namespace lijit::emulator
