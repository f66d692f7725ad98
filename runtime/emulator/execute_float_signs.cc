// SPDX-License-Identifier: Apache-2.0
// f32 and f64 without rounding: min, max, abs, neg, copysign, testp.
#include "runtime/emulator/float_arithmetic.h"

namespace lijit::emulator {
namespace {

template <typename F>
constexpr BitsOf<F> kSignBit = BitsOf<F>{1} << (sizeof(F) * 8 - 1);

template <typename F, bool kMax>
BitsOf<F> ExtremeOf(const Instruction& in, BitsOf<F> a_bits, BitsOf<F> b_bits) {
  const BitsOf<F> sign = (a_bits ^ b_bits) & kSignBit<F>;
  if (in.absolute) {
    a_bits &= ~kSignBit<F>;
    b_bits &= ~kSignBit<F>;
  }
  const F a = Flush(in.ftz, FloatOf<F>(a_bits));
  const F b = Flush(in.ftz, FloatOf<F>(b_bits));
  if (std::isnan(a) || std::isnan(b)) {
    if (std::isnan(a) && std::isnan(b)) return ResultOf(b, b_bits);
    if (in.propagate_nan) return ResultOf(std::isnan(a) ? a : b, std::isnan(a) ? a_bits : b_bits);
    const F number = std::isnan(a) ? b : a;
    return ResultBits(number) | (in.xorsign ? sign : 0);
  }
  // -0 is less than +0.
  const bool a_less = a < b || (a == b && std::signbit(a));
  const F chosen = a_less != kMax ? a : b;
  return ResultBits(chosen) | (in.xorsign ? sign : 0);
}

template <typename F, bool kMax>
struct Extreme {
  static BitsOf<F> Apply(const Instruction& in, BitsOf<F> a, BitsOf<F> b) {
    return ExtremeOf<F, kMax>(in, a, b);
  }
};

template <typename F, bool kMax>
struct Extreme3 {
  static BitsOf<F> Apply(const Instruction& in, BitsOf<F> a, BitsOf<F> b, BitsOf<F> c) {
    return ExtremeOf<F, kMax>(in, ExtremeOf<F, kMax>(in, a, b), c);
  }
};

// A NaN is that of other operations; its sign does not change.
template <typename F, bool kNegate>
struct ChangeSign {
  static BitsOf<F> Apply(const Instruction& in, BitsOf<F> a) {
    if (IsNan(a)) return ResultOf(FloatOf<F>(a), a);
    const auto flushed = std::bit_cast<BitsOf<F>>(Flush(in.ftz, FloatOf<F>(a)));
    return kNegate ? flushed ^ kSignBit<F> : flushed & ~kSignBit<F>;
  }
};

template <typename F>
struct CopySign {
  static BitsOf<F> Apply(BitsOf<F> a, BitsOf<F> b) {
    return (a & kSignBit<F>) | (b & ~kSignBit<F>);
  }
};

template <typename F>
bool TestProperty(Modifier property, F value) {
  switch (property) {
    case Modifier::kFinite:
      return std::isfinite(value);
    case Modifier::kInfinite:
      return std::isinf(value);
    case Modifier::kNumber:
      return !std::isnan(value);
    case Modifier::kNotANumber:
      return std::isnan(value);
    case Modifier::kNormal:
      return std::isnormal(value) || value == F{0};  // zeros count as normal (PTX ISA, testp)
    default:
      return std::fpclassify(value) == FP_SUBNORMAL;
  }
}

template <typename F>
void TestPropertyOf(Warp& warp, const Instruction& in, Mask mask) {
  const auto* a = warp.In<BitsOf<F>>(in, 1);
  Mask result = 0;
  ForLanes(mask, [&](unsigned lane) {
    result |= Mask{TestProperty(in.operation, FloatOf<F>(a[lane]))} << lane;
  });
  warp.PredicateOut(in, 0, mask, result);
}

template <bool kMax>
void DecodeExtreme(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  b.out().propagate_nan = b.Has(Category::kNan);
  b.out().xorsign = b.Has(Category::kXorsign);
  b.out().absolute = b.Has(Category::kAbs);
  if (b.LastType() == Type::kF64) {
    if (b.modifiers().present() != 0) b.Fail("takes no modifiers with .f64");
    TakeFloatOperands(b, 2);
    return b.Execute(&BinaryWith<std::uint64_t, Extreme<double, kMax>>);
  }
  const bool three = b.remaining() == 4;
  TakeFloatOperands(b, three ? 3 : 2);
  b.Execute(three ? &TernaryWith<std::uint32_t, Extreme3<float, kMax>>
                  : &BinaryWith<std::uint32_t, Extreme<float, kMax>>);
}

template <bool kNegate>
void DecodeChangeSign(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  TakeFloatOperands(b, 1);
  b.Execute(b.LastType() == Type::kF32 ? &UnaryWith<std::uint32_t, ChangeSign<float, kNegate>>
                                       : &UnaryWith<std::uint64_t, ChangeSign<double, kNegate>>);
}

}  // namespace

void DecodeMinFloat(InstructionBuilder& b) { DecodeExtreme<false>(b); }
void DecodeMaxFloat(InstructionBuilder& b) { DecodeExtreme<true>(b); }
void DecodeAbsFloat(InstructionBuilder& b) { DecodeChangeSign<false>(b); }
void DecodeNegFloat(InstructionBuilder& b) { DecodeChangeSign<true>(b); }

void DecodeCopysign(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  TakeFloatOperands(b, 2);
  b.Execute(b.LastType() == Type::kF32 ? &Binary<std::uint32_t, CopySign<float>>
                                       : &Binary<std::uint64_t, CopySign<double>>);
}

void DecodeTestp(InstructionBuilder& b) {
  if (!b.Has(Category::kTest)) b.Fail("needs a property");
  b.out().operation = b.Of(Category::kTest);
  b.PredicateDestination();
  b.Source(b.LastType());
  b.Execute(b.LastType() == Type::kF32 ? &TestPropertyOf<float> : &TestPropertyOf<double>);
}

}  // namespace lijit::emulator
