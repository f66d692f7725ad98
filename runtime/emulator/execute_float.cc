// SPDX-License-Identifier: Apache-2.0
// f32 and f64 arithmetic (PTX ISA, "Floating Point Instructions"). Results are correctly rounded
// wherever the ISA says so. The .approx and .full forms have an error bound there; here they are
// the exact value rounded once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"

namespace lijit::emulator {
namespace {

template <typename F>
using BitsOf = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

template <typename F>
F FloatOf(BitsOf<F> bits) {
  return std::bit_cast<F>(bits);
}

// f32 operations give one NaN; f64 ones keep the payload of an operand, as the host does.
inline std::uint32_t ResultBits(float value) {
  return value != value ? 0x7fffffff : std::bit_cast<std::uint32_t>(value);
}
inline std::uint64_t ResultBits(double value) { return std::bit_cast<std::uint64_t>(value); }

float Flush(bool ftz, float value) {
  return ftz && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
double Flush(bool, double value) { return value; }

template <typename F>
F Saturate(F value) {
  return value > F{0} ? std::min(value, F{1}) : F{0};  // NaN becomes +0
}

template <typename F>
BitsOf<F> Finish(const Instruction& in, F value) {
  value = Flush(in.ftz, value);
  return ResultBits(in.saturate ? Saturate(value) : value);
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
    return ResultBits(Op::Apply(FloatOf<F>(args)...));
  }
};

template <typename F, typename Op>
struct General {
  template <typename... Args>
  static BitsOf<F> Apply(const Instruction& in, Args... args) {
    return Finish(in, ApplyRounded<Op, F>(in.rounding, Flush(in.ftz, FloatOf<F>(args))...));
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
    return Finish(in, static_cast<F>(Op::Apply(argument)));
  }
};

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
    const bool gives_nan = in.propagate_nan || (std::isnan(a) && std::isnan(b));
    if (gives_nan) return ResultBits(std::bit_cast<F>(static_cast<BitsOf<F>>(~kSignBit<F>)));
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

// Signs are bits, of NaN too; only a number is flushed.
template <typename F, bool kNegate>
struct ChangeSign {
  static BitsOf<F> Apply(const Instruction& in, BitsOf<F> a) {
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
      return std::isnormal(value);
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

bool IsPlain(const Instruction& in) {
  return in.rounding == Rounding::kNearestEven && !in.ftz && !in.saturate;
}

void Operands(InstructionBuilder& b, unsigned sources) {
  b.Destination(b.LastType());
  for (unsigned i = 0; i < sources; ++i) b.Source(b.LastType());
}

template <typename Op>
void DecodeUnary(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  Operands(b, 1);
  b.Execute(b.LastType() == Type::kF32 ? &UnaryWith<std::uint32_t, General<float, Op>>
                                       : &UnaryWith<std::uint64_t, General<double, Op>>);
}

template <typename Op>
void DecodeApproximate(InstructionBuilder& b) {
  if (b.Of(Category::kPrecision) != Modifier::kApprox) b.Fail("needs '.approx'");
  TakeFloatModifiers(b);
  Operands(b, 1);
  b.Execute(b.LastType() == Type::kF32 ? &UnaryWith<std::uint32_t, Approximate<float, Op>>
                                       : &UnaryWith<std::uint64_t, Approximate<double, Op>>);
}

template <typename Op>
void DecodeBinary(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  Operands(b, 2);
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

template <bool kMax>
void DecodeExtreme(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  b.out().propagate_nan = b.Has(Category::kNan);
  b.out().xorsign = b.Has(Category::kXorsign);
  b.out().absolute = b.Has(Category::kAbs);
  if (b.LastType() == Type::kF64) {
    if (b.modifiers().present() != 0) b.Fail("takes no modifiers with .f64");
    Operands(b, 2);
    return b.Execute(&BinaryWith<std::uint64_t, Extreme<double, kMax>>);
  }
  const bool three = b.remaining() == 4;
  Operands(b, three ? 3 : 2);
  b.Execute(three ? &TernaryWith<std::uint32_t, Extreme3<float, kMax>>
                  : &BinaryWith<std::uint32_t, Extreme<float, kMax>>);
}

template <bool kNegate>
void DecodeChangeSign(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  Operands(b, 1);
  b.Execute(b.LastType() == Type::kF32 ? &UnaryWith<std::uint32_t, ChangeSign<float, kNegate>>
                                       : &UnaryWith<std::uint64_t, ChangeSign<double, kNegate>>);
}

}  // namespace

void DecodeAddFloat(InstructionBuilder& b) { DecodeBinary<AddOp>(b); }
void DecodeSubFloat(InstructionBuilder& b) { DecodeBinary<SubtractOp>(b); }
void DecodeMulFloat(InstructionBuilder& b) { DecodeBinary<MultiplyOp>(b); }

void DecodeFmaFloat(InstructionBuilder& b) {
  NeedsRounding(b);
  TakeFloatModifiers(b);
  Operands(b, 3);
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

// .approx and .full: f32 division of doubles, rounded once, is correctly rounded division.
void DecodeDivFloat(InstructionBuilder& b) {
  NeedsRoundingOrApprox(b, true);
  DecodeBinary<DivideOp>(b);
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
void DecodeMinFloat(InstructionBuilder& b) { DecodeExtreme<false>(b); }
void DecodeMaxFloat(InstructionBuilder& b) { DecodeExtreme<true>(b); }
void DecodeAbsFloat(InstructionBuilder& b) { DecodeChangeSign<false>(b); }
void DecodeNegFloat(InstructionBuilder& b) { DecodeChangeSign<true>(b); }

void DecodeCopysign(InstructionBuilder& b) {
  TakeFloatModifiers(b);
  Operands(b, 2);
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
