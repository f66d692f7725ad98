// SPDX-License-Identifier: Apache-2.0
// Sums and products with the carry flag (PTX ISA, "Extended-Precision Integer Arithmetic
// Instructions").
#include "runtime/emulator/integer_arithmetic.h"

namespace lijit::emulator {
namespace {

// Sums of two with the carry flag, which is the last operand.
template <typename T, bool kSubtract, bool kCarryIn>
void AddWithCarry(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* b = warp.In<T>(in, 2);
  const Mask carries = kCarryIn ? warp.PredicateIn(in, 3) : 0;
  Mask out = 0;
  ForLanes(mask, [&](unsigned lane) {
    const Wider<T> carry = carries >> lane & 1;
    const Wider<T> wide = kSubtract ? static_cast<Wider<T>>(Wider<T>{a[lane]} - b[lane] - carry)
                                    : static_cast<Wider<T>>(Wider<T>{a[lane]} + b[lane] + carry);
    d[lane] = static_cast<T>(wide);
    out |= static_cast<Mask>(wide >> std::numeric_limits<T>::digits & 1) << lane;
  });
  if (in.saturate) warp.PredicateOut(in, 3, mask, out);  // .cc
}

template <typename T, bool kHigh, bool kCarryIn>
void MultiplyAddWithCarry(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* b = warp.In<T>(in, 2);
  const T* c = warp.In<T>(in, 3);
  const Mask carries = kCarryIn ? warp.PredicateIn(in, 4) : 0;
  const bool is_signed = IsSigned(in.type);
  Mask out = 0;
  ForLanes(mask, [&](unsigned lane) {
    const T high = is_signed ? MultiplyHigh<true>::Apply(a[lane], b[lane])
                             : MultiplyHigh<false>::Apply(a[lane], b[lane]);
    const T part = kHigh ? high : MultiplyLow::Apply(a[lane], b[lane]);
    const auto wide = static_cast<Wider<T>>(Wider<T>{part} + c[lane] + (carries >> lane & 1));
    d[lane] = static_cast<T>(wide);
    out |= static_cast<Mask>(wide >> std::numeric_limits<T>::digits & 1) << lane;
  });
  if (in.saturate) warp.PredicateOut(in, 4, mask, out);
}

template <bool kSubtract, bool kCarryIn>
void DecodeCarrySum(InstructionBuilder& b) {
  const Type type = b.LastType();
  ThreeOperands(b, type,
                Bits(type) == 32 ? &AddWithCarry<std::uint32_t, kSubtract, kCarryIn>
                                 : &AddWithCarry<std::uint64_t, kSubtract, kCarryIn>);
  b.Add(b.kernel().CarryFlag());
  b.out().saturate = b.Has(Category::kCarry);
}

template <bool kHigh, bool kCarryIn>
Handler MultiplyAddCarryOf(Type type) {
  return Bits(type) == 32 ? &MultiplyAddWithCarry<std::uint32_t, kHigh, kCarryIn>
                          : &MultiplyAddWithCarry<std::uint64_t, kHigh, kCarryIn>;
}

template <bool kCarryIn>
void DecodeCarryProduct(InstructionBuilder& b, bool high) {
  const Type type = b.LastType();
  FourOperands(
      b, type,
      high ? MultiplyAddCarryOf<true, kCarryIn>(type) : MultiplyAddCarryOf<false, kCarryIn>(type));
  b.Add(b.kernel().CarryFlag());
  b.out().saturate = b.Has(Category::kCarry);
}

}  // namespace

void DecodeAddCarry(InstructionBuilder& b, bool subtract) {
  if (subtract) return DecodeCarrySum<true, false>(b);
  DecodeCarrySum<false, false>(b);
}

void DecodeMadCarry(InstructionBuilder& b) { DecodeCarryProduct<false>(b, TakesHigh(b)); }

void DecodeAddc(InstructionBuilder& b) { DecodeCarrySum<false, true>(b); }
void DecodeSubc(InstructionBuilder& b) { DecodeCarrySum<true, true>(b); }
void DecodeMadc(InstructionBuilder& b) { DecodeCarryProduct<true>(b, TakesHigh(b)); }

}  // namespace lijit::emulator
