// SPDX-License-Identifier: Apache-2.0
// f32 and f64 arithmetic (PTX ISA, "Floating Point Instructions"). Results are correctly rounded
// wherever the ISA says so. The .approx and .full forms have an error bound there; here they are
// the exact value rounded once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/emulator/float_arithmetic.h"

namespace lijit::emulator {
namespace {

template <typename F>
F Saturate(F value) {
  return value > F{0} ? std::min(value, F{1}) : F{0};  // NaN becomes +0
}

// .sat gives a number, so its NaN needs no operand.
template <typename F, typename... Args>
BitsOf<F> Finish(const Instruction& in, F value, Args... operands) {
  value = Flush(in.ftz, value);
  return in.saturate ? ResultBits(Saturate(value)) : ResultOf(value, operands...);
}

// Arithmetic in the host's current rounding.
struct AddOp {
  template <typename F>
  static F Apply(F a, F b) {
    return a + b;
  }
};
struct SubtractOp {
  template <typename F>
  static F Apply(F a, F b) {
    return a - b;
  }
};
struct MultiplyOp {
  template <typename F>
  static F Apply(F a, F b) {
    return a * b;
  }
};
struct DivideOp {
  template <typename F>
  static F Apply(F a, F b) {
    return a / b;
  }
};
// div.approx: divisors above 2^126 give a zero (PTX ISA, div).
struct DivideApproximatelyOp {
  static float Apply(float a, float b) {
    if (!(std::fabs(b) > 0x1p126f) || std::isinf(b)) return a / b;
    const float zero = std::signbit(a) != std::signbit(b) ? -0.0f : 0.0f;
    return std::isfinite(a) ? zero : std::numeric_limits<float>::quiet_NaN();
  }
};
struct FmaOp {
  template <typename F>
  static F Apply(F a, F b, F c) {
    return std::fma(a, b, c);
  }
};
struct ReciprocalOp {
  template <typename F>
  static F Apply(F a) {
    return F{1} / a;
  }
};
struct SquareRootOp {
  template <typename F>
  static F Apply(F a) {
    return std::sqrt(a);
  }
};

template <typename Op, typename F, typename... Rest>
F ApplyRounded(Rounding rounding, F first, Rest... rest) {
  if (rounding == Rounding::kNearestEven) return Op::Apply(first, rest...);
  const ScopedRounding scope(rounding);
  volatile F hidden = first;
  volatile F result = Op::Apply(static_cast<F>(hidden), rest...);
  return result;
}

// Round to nearest, no flushing, no saturation: what nearly all code uses.
template <typename F, typename Op>
struct Plain {
  template <typename... Args>
  static BitsOf<F> Apply(Args... args) {
    return ResultOf(Op::Apply(FloatOf<F>(args)...), args...);
  }
};

template <typename F, typename Op>
struct General {
  template <typename... Args>
  static BitsOf<F> Apply(const Instruction& in, Args... args) {
    F value = ApplyRounded<Op, F>(in.rounding, Flush(in.ftz, FloatOf<F>(args))...);
    // .ftz flushes what is below the least normal number before it is rounded.
    if (in.ftz && std::fabs(value) == std::numeric_limits<F>::min()) {
      value = ApplyRounded<Op, F>(Rounding::kTowardZero, Flush(in.ftz, FloatOf<F>(args))...);
    }
    return Finish(in, value, args...);
  }
};

struct ReciprocalRootOp {
  static double Apply(double a) { return 1.0 / std::sqrt(a); }
};
struct PowerOf2Op {
  static double Apply(double a) { return std::exp2(a); }
};
struct Log2Op {
  static double Apply(double a) { return std::log2(a); }
};
struct SineOp {
  static double Apply(double a) { return std::sin(a); }
};
struct CosineOp {
  static double Apply(double a) { return std::cos(a); }
};
struct TanhOp {
  static double Apply(double a) { return std::tanh(a); }
};

// The double result, rounded once.
template <typename F, typename Op>
struct Approximate {
  static BitsOf<F> Apply(const Instruction& in, BitsOf<F> a) {
    const double argument = Flush(in.ftz, FloatOf<F>(a));
    return Finish(in, static_cast<F>(Op::Apply(argument)), a);
  }
};

#if defined(__x86_64__)
// std::fma is a call on a host that may lack the instruction; this is for those that have it.
__attribute__((target("avx2,fma"))) void FmaF32WithHardware(Warp& warp, const Instruction& in,
                                                            Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  const auto* a = warp.In<std::uint32_t>(in, 1);
  const auto* b = warp.In<std::uint32_t>(in, 2);
  const auto* c = warp.In<std::uint32_t>(in, 3);
  float sums[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    sums[lane] = __builtin_fmaf(std::bit_cast<float>(a[lane]), std::bit_cast<float>(b[lane]),
                                std::bit_cast<float>(c[lane]));
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const float sum = sums[lane];
    const std::uint32_t bits = sum != sum ? 0x7fffffff : std::bit_cast<std::uint32_t>(sum);
    d[lane] = (mask >> lane & 1) != 0 ? bits : d[lane];
  }
}
#endif

Handler PlainFmaF32() {
#if defined(__x86_64__)
  static const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_fma) return &FmaF32WithHardware;
#endif
  return &Ternary<std::uint32_t, Plain<float, FmaOp>>;
}

// Two f32 in one register.
template <typename Op>
struct PairOf {
  template <typename... Args>
  static std::uint64_t Apply(const Instruction& in, Args... args) {
    const std::uint32_t low = General<float, Op>::Apply(in, static_cast<std::uint32_t>(args)...);
    const std::uint32_t high =
        General<float, Op>::Apply(in, static_cast<std::uint32_t>(args >> 32)...);
    return std::uint64_t{high} << 32 | low;
  }
};

bool IsPlain(const Instruction& in) {
  return in.rounding == Rounding::kNearestEven && !in.ftz && !in.saturate;
}

template <typename Op>
void DecodeUnary(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  TakeFloatOperands(b, 1);
  b.Execute(b.LastType() == Type::kF32 ? &UnaryWith<std::uint32_t, General<float, Op>>
                                       : &UnaryWith<std::uint64_t, General<double, Op>>);
}

template <typename Op>
void DecodeApproximate(InstructionBuilder& b) {
  if (b.Of(Category::kPrecision) != Modifier::kApprox) b.Fail("needs '.approx'");
  TakeFloatModifiers(b);
  TakeFloatOperands(b, 1);
  b.Execute(b.LastType() == Type::kF32 ? &UnaryWith<std::uint32_t, Approximate<float, Op>>
                                       : &UnaryWith<std::uint64_t, Approximate<double, Op>>);
}

template <typename Op>
void DecodeBinary(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  TakeFloatOperands(b, 2);
  const bool plain = IsPlain(b.out());
  if (b.LastType() == Type::kF32) {
    b.Execute(plain ? &Binary<std::uint32_t, Plain<float, Op>>
                    : &BinaryWith<std::uint32_t, General<float, Op>>);
  } else if (b.LastType() == Type::kF64) {
    b.Execute(plain ? &Binary<std::uint64_t, Plain<double, Op>>
                    : &BinaryWith<std::uint64_t, General<double, Op>>);
  } else {
    b.Execute(&BinaryWith<std::uint64_t, PairOf<Op>>);
  }
}

void NeedsRounding(InstructionBuilder& b) {
  if (!b.Has(Category::kRounding)) b.Fail("needs a rounding");
}

void NeedsRoundingOrApprox(InstructionBuilder& b, bool may_be_full) {
  if (!may_be_full && b.Of(Category::kPrecision) == Modifier::kFull) b.Fail("has no '.full'");
  if (b.Has(Category::kRounding) == b.Has(Category::kPrecision)) {
    b.Fail("needs either a rounding or '.approx'");
  }
}

}  // namespace

void TakeFloatModifiers(InstructionBuilder& b) {
  Instruction& out = b.out();
  out.ftz = b.Has(Category::kFtz);
  out.saturate = b.Has(Category::kSat);
  out.rounding = RoundingOf(b.Of(Category::kRounding));
  const Modifier rounding = b.Of(Category::kRounding);
  if (rounding >= Modifier::kRni && rounding <= Modifier::kRpi) b.Fail("rounds to a float");
  if (rounding == Modifier::kRna) b.Fail("has no rounding '.rna'");
  if (b.modifiers().type_count() != 1) b.Fail("takes one type");
  if (out.type == Type::kF64 && (out.ftz || out.saturate) && !b.Has(Category::kPrecision)) {
    b.Fail("'.ftz' and '.sat' are not for .f64");
  }
}

void TakeFloatOperands(InstructionBuilder& b, unsigned sources) {
  b.Destination(b.LastType());
  for (unsigned i = 0; i < sources; ++i) b.Source(b.LastType());
}

void DecodeAddFloat(InstructionBuilder& b) { DecodeBinary<AddOp>(b); }
void DecodeSubFloat(InstructionBuilder& b) { DecodeBinary<SubtractOp>(b); }
void DecodeMulFloat(InstructionBuilder& b) { DecodeBinary<MultiplyOp>(b); }

void DecodeFmaFloat(InstructionBuilder& b) {
  NeedsRounding(b);
  TakeFloatModifiers(b);
  TakeFloatOperands(b, 3);
  const bool plain = IsPlain(b.out());
  if (b.LastType() == Type::kF32) {
    b.Execute(plain ? PlainFmaF32() : &TernaryWith<std::uint32_t, General<float, FmaOp>>);
  } else if (b.LastType() == Type::kF64) {
    b.Execute(plain ? &Ternary<std::uint64_t, Plain<double, FmaOp>>
                    : &TernaryWith<std::uint64_t, General<double, FmaOp>>);
  } else {
    b.Execute(&TernaryWith<std::uint64_t, PairOf<FmaOp>>);
  }
}

// .full: f32 division of doubles, rounded once, is correctly rounded division.
void DecodeDivFloat(InstructionBuilder& b) {
  NeedsRoundingOrApprox(b, true);
  if (b.Of(Category::kPrecision) != Modifier::kApprox) return DecodeBinary<DivideOp>(b);
  if (b.LastType() != Type::kF32) b.Fail("has '.approx' for .f32 only");
  TakeFloatModifiers(b);
  TakeFloatOperands(b, 2);
  b.Execute(&BinaryWith<std::uint32_t, General<float, DivideApproximatelyOp>>);
}

void DecodeRcp(InstructionBuilder& b) {
  NeedsRoundingOrApprox(b, false);
  DecodeUnary<ReciprocalOp>(b);
}

void DecodeSqrt(InstructionBuilder& b) {
  NeedsRoundingOrApprox(b, false);
  DecodeUnary<SquareRootOp>(b);
}

void DecodeRsqrt(InstructionBuilder& b) { DecodeApproximate<ReciprocalRootOp>(b); }
void DecodeEx2(InstructionBuilder& b) { DecodeApproximate<PowerOf2Op>(b); }
void DecodeLg2(InstructionBuilder& b) { DecodeApproximate<Log2Op>(b); }
void DecodeSin(InstructionBuilder& b) { DecodeApproximate<SineOp>(b); }
void DecodeCos(InstructionBuilder& b) { DecodeApproximate<CosineOp>(b); }
void DecodeTanh(InstructionBuilder& b) { DecodeApproximate<TanhOp>(b); }
}  // namespace lijit::emulator
