// SPDX-License-Identifier: Apache-2.0
// Exact conversions between double and the smaller float formats. Every value of every format below
// is a double, so rounding happens once, in EncodeFloat.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/emulator/rounding.h"

namespace lijit::emulator {

struct FloatFormat {
  unsigned exponent_bits;
  unsigned mantissa_bits;
  int bias;
  std::uint32_t max_finite;  // largest code that is a number, without the sign
  bool has_infinity;         // the code after max_finite
  std::uint32_t nan;         // what conversions give for NaN

  constexpr std::uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
};

// NaN results: PTX ISA, "Half Precision Floating Point Instructions" (canonical 0x7fff), and cvt.
inline constexpr FloatFormat kF32Format{8, 23, 127, 0x7f7fffff, true, 0x7fffffff};
inline constexpr FloatFormat kF16Format{5, 10, 15, 0x7bff, true, 0x7fff};
inline constexpr FloatFormat kBf16Format{8, 7, 127, 0x7f7f, true, 0x7fff};
inline constexpr FloatFormat kE5m2Format{5, 2, 15, 0x7b, true, 0x7f};
inline constexpr FloatFormat kE4m3Format{4, 3, 7, 0x7e, false, 0x7f};
// No NaN: NaN becomes the largest value.
inline constexpr FloatFormat kE2m1Format{2, 1, 1, 0x7, false, 0x7};

inline double DecodeFloat(const FloatFormat& format, std::uint32_t code) {
  const bool negative = (code & format.sign_bit()) != 0;
  const std::uint32_t magnitude = code & (format.sign_bit() - 1);
  const std::uint64_t sign = std::uint64_t{negative} << 63;
  if (magnitude > format.max_finite) {
    const bool infinite = format.has_infinity && magnitude == format.max_finite + 1;
    const std::uint64_t mantissa = infinite ? 0 : std::uint64_t{1} << 51;
    return std::bit_cast<double>(sign | std::uint64_t{0x7ff} << 52 | mantissa);
  }
  const std::uint64_t exponent = magnitude >> format.mantissa_bits;
  const std::uint64_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  if (exponent == 0) {
    const int unit = 1 - format.bias - static_cast<int>(format.mantissa_bits);
    const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(unit + 1023) << 52);
    const double value = static_cast<double>(mantissa) * scale;
    return negative ? -value : value;
  }
  const std::uint64_t biased = exponent + static_cast<std::uint64_t>(1023 - format.bias);
  return std::bit_cast<double>(sign | biased << 52 | mantissa << (52 - format.mantissa_bits));
}

// Is `quotient`, whose remainder is given as a comparison with one half (and as zero or not), to be
// rounded up in magnitude?
inline bool RoundsUp(Rounding rounding, bool negative, bool odd, int against_half, bool inexact) {
  switch (rounding) {
    case Rounding::kNearestEven:
      return against_half > 0 || (against_half == 0 && odd);
    case Rounding::kNearestAway:
      return against_half >= 0;
    case Rounding::kTowardZero:
      return false;
    case Rounding::kDown:
      return negative && inexact;
    case Rounding::kUp:
      return !negative && inexact;
  }
  return false;
}

// What a magnitude beyond the largest finite one becomes.
inline std::uint32_t OverflowCode(const FloatFormat& format, Rounding rounding, bool negative,
                                  bool satfinite) {
  const bool away = rounding == Rounding::kNearestEven || rounding == Rounding::kNearestAway ||
                    (rounding == Rounding::kDown && negative) ||
                    (rounding == Rounding::kUp && !negative);
  if (satfinite || !format.has_infinity || !away) return format.max_finite;
  return format.max_finite + 1;
}

// The code nearest to `value` under the rounding. With `satfinite`, values beyond the largest
// finite one, infinities too, become it.
inline std::uint32_t EncodeFloat(const FloatFormat& format, double value, Rounding rounding,
                                 bool satfinite) {
  if (std::isnan(value)) return format.nan;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = (bits >> 63) != 0;
  const std::uint32_t sign = negative ? format.sign_bit() : 0;
  const auto biased = static_cast<int>(bits >> 52 & 0x7ff);
  if (biased == 0x7ff) {
    const bool keeps = format.has_infinity && !satfinite;
    return sign | (format.max_finite + (keeps ? 1 : 0));
  }
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased != 0) mantissa |= std::uint64_t{1} << 52;
  const int exponent = biased != 0 ? biased - 1023 : -1022;  // value = mantissa * 2^(exponent - 52)
  const int least = 1 - format.bias;
  const int used = exponent < least ? least : exponent;
  const int shift = 52 - static_cast<int>(format.mantissa_bits) + used - exponent;
  std::uint64_t quotient = 0;
  int against_half = -1;
  bool inexact = mantissa != 0;
  if (shift < 55) {  // else it is less than half of the least unit
    quotient = mantissa >> shift;
    const std::uint64_t remainder = mantissa & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    against_half = remainder < half ? -1 : remainder == half ? 0 : 1;
    inexact = remainder != 0;
  }
  quotient += RoundsUp(rounding, negative, (quotient & 1) != 0, against_half, inexact);
  // The leading one of the quotient adds one to the exponent field; a carry adds another.
  const std::int64_t magnitude = (static_cast<std::int64_t>(used - least) << format.mantissa_bits) +
                                 static_cast<std::int64_t>(quotient);
  if (magnitude > static_cast<std::int64_t>(format.max_finite)) {
    return sign | OverflowCode(format, rounding, negative, satfinite);
  }
  return sign | static_cast<std::uint32_t>(magnitude);
}

// ue8m0: code c is 2^(c - 127), and 0xff is NaN. The sign of a value is ignored, and zero becomes
// code 0. Only .rz and .rp exist.
inline double DecodeUe8m0(std::uint32_t code) {
  if (code == 0xff) return std::nan("");
  return std::bit_cast<double>(static_cast<std::uint64_t>(code + 1023 - 127) << 52);
}

inline std::uint32_t EncodeUe8m0(double value, Rounding rounding, bool satfinite) {
  if (std::isnan(value)) return 0xff;
  value = std::fabs(value);
  if (std::isinf(value)) return satfinite ? 0xfe : 0xff;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  const bool inexact = (bits & ((std::uint64_t{1} << 52) - 1)) != 0;
  if (rounding == Rounding::kUp && inexact) ++exponent;
  if (exponent < -127) return 0;
  if (exponent > 127) return satfinite ? 0xfe : 0xff;
  return static_cast<std::uint32_t>(exponent + 127);
}

// a + b with the last bit set when the sum is inexact ("round to odd"): rounding that to a format
// with at least two bits fewer gives the correctly rounded sum. No overflow.
inline double AddToOdd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  // The exact sum lies between `sum` and its neighbour in the direction of the error.
  const bool grows = (error > 0) == (sum > 0);
  return std::bit_cast<double>(grows ? bits + 1 : bits - 1);
}

}  // namespace lijit::emulator
