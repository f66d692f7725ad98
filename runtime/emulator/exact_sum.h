// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace lijit::emulator {

// Adds finite doubles without any rounding: a fixed-point number from the least subnormal to beyond
// the largest double, in digits of 32 bits that are carried late.
class ExactSum {
 public:
  void Add(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto field = static_cast<unsigned>(bits >> 52 & 0x7ff);
    std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
    if (field != 0) mantissa |= std::uint64_t{1} << 52;
    const unsigned place = field == 0 ? 0 : field - 1;  // of the last bit, in units of 2^-1074
    const std::uint64_t low = (mantissa & kDigitMask) << place % 32;
    const std::uint64_t high = (mantissa >> 32) << place % 32;
    const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
    std::int64_t* digit = &digits_[place / 32];
    digit[0] += sign * static_cast<std::int64_t>(low & kDigitMask);
    digit[1] += sign * static_cast<std::int64_t>((low >> 32) + (high & kDigitMask));
    digit[2] += sign * static_cast<std::int64_t>(high >> 32);
  }

  // The sum, with the last bit set when it is inexact ("round to odd", see AddToOdd). Call once.
  double RoundToOdd() {
    const bool negative = Carry() < 0;
    if (negative) {
      for (std::int64_t& digit : digits_) digit = -digit;
      Carry();
    }
    std::size_t top = digits_.size();
    while (top > 0 && digits_[top - 1] == 0) --top;
    if (top == 0) return 0;
    const auto width =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(digits_[top - 1])));
    const int last = static_cast<int>(top - 1) * 32 + width - 53;  // place of the last bit kept
    std::uint64_t mantissa = 0;
    bool inexact = false;
    for (std::size_t i = 0; i < top; ++i) {
      const auto digit = static_cast<std::uint64_t>(digits_[i]);
      const int shift = static_cast<int>(i) * 32 - last;
      if (shift >= 0) {
        mantissa |= digit << shift;
      } else if (shift > -32) {
        mantissa |= digit >> -shift;
        inexact |= (digit & ((std::uint64_t{1} << -shift) - 1)) != 0;
      } else {
        inexact |= digit != 0;
      }
    }
    const double magnitude =
        std::ldexp(static_cast<double>(mantissa | (inexact ? 1 : 0)), last - 1074);
    return negative ? -magnitude : magnitude;
  }

 private:
  static constexpr std::uint64_t kDigitMask = 0xffffffff;

  // Brings all digits into [0, 2^32); returns what is left over: -1 if the sum is negative.
  std::int64_t Carry() {
    std::int64_t carry = 0;
    for (std::int64_t& digit : digits_) {
      digit += carry;
      carry = digit >> 32;
      digit &= static_cast<std::int64_t>(kDigitMask);
    }
    return carry;
  }

  std::array<std::int64_t, 68> digits_{};  // 2098 bits, and room for 2^30 summands
};

}  // namespace lijit::emulator
