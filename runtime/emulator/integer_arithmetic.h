// SPDX-License-Identifier: Apache-2.0
// What the handlers of integer instructions share.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"

namespace lijit::emulator {

template <typename T>
using Signed = std::make_signed_t<T>;

// Twice as wide, and long enough that products of 16 bits are not done in int.
template <typename T>
struct WiderOf;
template <>
struct WiderOf<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct WiderOf<std::uint32_t> {
  using Type = std::uint64_t;
};
template <>
struct WiderOf<std::uint64_t> {
  __extension__ using Type = unsigned __int128;
};
template <typename T>
using Wider = typename WiderOf<T>::Type;

template <typename T>
Wider<T> Widen(T value, bool is_signed) {
  constexpr unsigned kBits = std::numeric_limits<T>::digits;
  auto wide = static_cast<Wider<T>>(value);
  if (is_signed && (value >> (kBits - 1)) != 0) {
    wide |= static_cast<Wider<T>>(~Wider<T>{0} << kBits);
  }
  return wide;
}

inline std::uint32_t SaturateSigned(std::int64_t value) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::uint32_t>(value < kMin ? kMin : value > kMax ? kMax : value);
}

inline std::int64_t AsSigned(std::uint32_t value) { return static_cast<std::int32_t>(value); }

struct MultiplyLow {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(Wider<T>{a} * b);
  }
};

template <bool kSigned>
struct MultiplyHigh {
  template <typename T>
  static T Apply(T a, T b) {
    const Wider<T> product = static_cast<Wider<T>>(Widen(a, kSigned) * Widen(b, kSigned));
    return static_cast<T>(product >> std::numeric_limits<T>::digits);
  }
};

template <typename Unsigned, typename SignedOp>
Handler BinaryBySign(Type type) {
  return IsSigned(type) ? BinaryOf<SignedOp>(type) : BinaryOf<Unsigned>(type);
}

template <typename Op>
Handler Binary32() {
  return &Binary<std::uint32_t, Op>;
}
template <typename Op>
Handler Ternary32() {
  return &Ternary<std::uint32_t, Op>;
}

inline void ThreeOperands(InstructionBuilder& b, Type type, Handler handler) {
  b.Destination(type);
  b.Source(type);
  b.Source(type);
  b.Execute(handler);
}

inline void FourOperands(InstructionBuilder& b, Type type, Handler handler) {
  ThreeOperands(b, type, handler);
  b.Source(type);
}

// .lo or .hi, which some instructions need.
inline bool TakesHigh(InstructionBuilder& b) {
  const Modifier half = b.Of(Category::kCompare);
  if (half != Modifier::kLo && half != Modifier::kHi) b.Fail("needs .lo or .hi");
  return half == Modifier::kHi;
}

inline void CheckSaturation(InstructionBuilder& b, Type type) {
  if (b.Has(Category::kSat) && type != Type::kS32) b.Fail("'.sat' is for .s32 only");
}

// execute_carry.cc: add.cc or sub.cc, and mad.cc.
void DecodeAddCarry(InstructionBuilder& b, bool subtract);
void DecodeMadCarry(InstructionBuilder& b);

}  // namespace lijit::emulator
