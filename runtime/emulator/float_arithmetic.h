// SPDX-License-Identifier: Apache-2.0
// What the handlers of f32 and f64 instructions share.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"

namespace lijit::emulator {

template <typename F>
using BitsOf = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

template <typename F>
F FloatOf(BitsOf<F> bits) {
  return std::bit_cast<F>(bits);
}

inline bool IsNan(std::uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }
inline bool IsNan(std::uint64_t bits) { return bits << 1 > std::uint64_t{0xffe} << 52; }
inline std::uint64_t Quiet(std::uint64_t nan) { return nan | std::uint64_t{1} << 51; }

// f32 operations give one NaN; f64 ones keep the payload of an operand.
inline std::uint32_t ResultBits(float value) {
  return value != value ? 0x7fffffff : std::bit_cast<std::uint32_t>(value);
}
inline std::uint64_t ResultBits(double value) { return std::bit_cast<std::uint64_t>(value); }

// Which operand's payload, PTX leaves open and a host's compiler may choose. This is what an H200
// does: the second operand's, else the first's, else the third's.
template <typename... Rest>
std::uint64_t ResultOf(double value, std::uint64_t a, Rest... rest) {
  if (value == value) return ResultBits(value);
  const std::uint64_t operands[] = {a, rest...};
  if constexpr (sizeof...(rest) > 0) {
    if (IsNan(operands[1])) return Quiet(operands[1]);
  }
  for (const std::uint64_t operand : operands) {
    if (IsNan(operand)) return Quiet(operand);
  }
  return std::uint64_t{0xfff8} << 48;
}
template <typename... Rest>
std::uint32_t ResultOf(float value, std::uint32_t, Rest...) {
  return ResultBits(value);
}

inline float Flush(bool ftz, float value) {
  return ftz && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
inline double Flush(bool, double value) { return value; }

// execute_float.cc: rounding, .ftz and .sat of the instruction, and its one type.
void TakeFloatModifiers(InstructionBuilder& b);
// Destination and sources of that type.
void TakeFloatOperands(InstructionBuilder& b, unsigned sources);

}  // namespace lijit::emulator
