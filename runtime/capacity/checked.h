// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic whose overflow is remembered, so that a formula reads as a formula and is
// checked once, at its end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lijit/result.h"

namespace lijit::capacity {

class Checked {
 public:
  constexpr Checked(std::int64_t value = 0) : value_(value) {}  // NOLINT: implicit

  friend Checked operator+(Checked a, Checked b) {
    Checked sum;
    sum.overflow_ = __builtin_add_overflow(a.value_, b.value_, &sum.value_);
    return sum.Inherit(a, b);
  }
  friend Checked operator-(Checked a, Checked b) {
    Checked difference;
    difference.overflow_ = __builtin_sub_overflow(a.value_, b.value_, &difference.value_);
    return difference.Inherit(a, b);
  }
  friend Checked operator*(Checked a, Checked b) {
    Checked product;
    product.overflow_ = __builtin_mul_overflow(a.value_, b.value_, &product.value_);
    return product.Inherit(a, b);
  }
  Checked& operator+=(Checked other) { return *this = *this + other; }

  // The value, or kInvalidArgument "WHAT is larger than 2^63 - 1".
  Result<std::int64_t> Get(std::string_view what) const {
    if (!overflow_) return value_;
    return InvalidArgument(std::string(what) +
                           " exceeds 2^63 - 1; give smaller sizes, lengths or counts");
  }

 private:
  Checked Inherit(Checked a, Checked b) const {
    Checked result = *this;
    result.overflow_ = overflow_ || a.overflow_ || b.overflow_;
    return result;
  }

  std::int64_t value_ = 0;
  bool overflow_ = false;
};

// Of a >= 0 and b > 0; cannot overflow.
constexpr std::int64_t CeilDivide(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}
// The next multiple of b.
inline Checked RoundUp(std::int64_t a, std::int64_t b) { return Checked(CeilDivide(a, b)) * b; }

// floor(a * b / c) of numbers that are not negative, c > 0, by 128 bits.
inline Result<std::int64_t> MultiplyDivide(std::int64_t a, std::int64_t b, std::int64_t c,
                                           std::string_view what) {
  __extension__ using Wide = unsigned __int128;
  const Wide quotient = static_cast<Wide>(a) * static_cast<Wide>(b) / static_cast<Wide>(c);
  if (quotient > static_cast<Wide>(INT64_MAX)) {
    return InvalidArgument(std::string(what) +
                           " exceeds 2^63 - 1; give smaller sizes, lengths or counts");
  }
  return static_cast<std::int64_t>(quotient);
}

}  // namespace lijit::capacity
