// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 arithmetic, single and in pairs (PTX ISA, "Half Precision Floating Point
// Instructions"). Operands are exact in double; each result is rounded once.
#include <cmath>
#include <cstdint>

#include "runtime/emulator/float_formats.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"

namespace lijit::emulator {
namespace {

struct AddOp {
  static double Apply(double a, double b) { return AddToOdd(a, b); }
};
struct SubtractOp {
  static double Apply(double a, double b) { return AddToOdd(a, -b); }
};
struct MultiplyOp {
  static double Apply(double a, double b) { return a * b; }  // at most 22 bits: exact
};
struct FmaOp {
  static double Apply(double a, double b, double c) { return AddToOdd(a * b, c); }
};
struct PowerOf2Op {
  static double Apply(double a) { return std::exp2(a); }
};
struct TanhOp {
  static double Apply(double a) { return std::tanh(a); }
};

template <const FloatFormat& kFormat>
struct Half {
  static constexpr std::uint16_t kSign = kFormat.sign_bit();
  static constexpr std::uint16_t kMagnitude = kSign - 1;

  static bool IsNan(std::uint16_t code) { return (code & kMagnitude) > kFormat.max_finite + 1; }
  static std::uint16_t Flush(bool ftz, std::uint16_t code) {
    const bool subnormal = (code & kMagnitude) >> kFormat.mantissa_bits == 0;
    return ftz && subnormal ? code & kSign : code;
  }
  static double Decode(const Instruction& in, std::uint16_t code) {
    return DecodeFloat(kFormat, Flush(in.ftz, code));
  }
  static std::uint16_t Encode(const Instruction& in, double value) {
    if (in.saturate) value = value > 0 ? std::fmin(value, 1.0) : 0.0;
    const auto code =
        static_cast<std::uint16_t>(EncodeFloat(kFormat, value, Rounding::kNearestEven, false));
    if (in.relu && (code & kSign) != 0) return 0;
    return Flush(in.ftz, code);
  }
};

template <typename H, typename Op>
struct Arithmetic {
  template <typename... Args>
  static std::uint16_t Apply(const Instruction& in, Args... args) {
    return H::Encode(in, Op::Apply(H::Decode(in, args)...));
  }
};

template <const FloatFormat& kFormat, bool kMax>
struct Extreme {
  using H = Half<kFormat>;
  static std::uint16_t Apply(const Instruction& in, std::uint16_t a, std::uint16_t b) {
    const std::uint16_t sign = in.xorsign ? (a ^ b) & H::kSign : 0;
    a = H::Flush(in.ftz, in.absolute ? a & H::kMagnitude : a);
    b = H::Flush(in.ftz, in.absolute ? b & H::kMagnitude : b);
    if (H::IsNan(a) || H::IsNan(b)) {
      const bool both = H::IsNan(a) && H::IsNan(b);
      if (both || in.propagate_nan) return static_cast<std::uint16_t>(kFormat.nan);
      return (H::IsNan(a) ? b : a) | sign;
    }
    const bool a_less = Order(a) < Order(b);
    return (a_less != kMax ? a : b) | sign;
  }
  // Codes as integers in the order of their values, -0 before +0.
  static int Order(std::uint16_t code) {
    const int magnitude = code & H::kMagnitude;
    return (code & H::kSign) != 0 ? -magnitude - 1 : magnitude;
  }
};

template <const FloatFormat& kFormat, bool kNegate>
struct ChangeSign {
  using H = Half<kFormat>;
  static std::uint16_t Apply(const Instruction& in, std::uint16_t a) {
    if (H::IsNan(a)) return static_cast<std::uint16_t>(kFormat.nan);
    const std::uint16_t flushed = H::Flush(in.ftz, a);
    return kNegate ? flushed ^ H::kSign : flushed & H::kMagnitude;
  }
};

// Both halves of a register.
template <typename Op>
struct PairOf {
  template <typename... Args>
  static std::uint32_t Apply(const Instruction& in, Args... args) {
    const std::uint32_t low = Op::Apply(in, static_cast<std::uint16_t>(args)...);
    const std::uint32_t high = Op::Apply(in, static_cast<std::uint16_t>(args >> 16)...);
    return high << 16 | low;
  }
};

void TakeModifiers(InstructionBuilder& b) {
  Instruction& out = b.out();
  const Modifier rounding = b.Of(Category::kRounding);
  if (rounding != Modifier::kNone && rounding != Modifier::kRn) b.Fail("rounds with '.rn' only");
  out.ftz = b.Has(Category::kFtz);
  out.saturate = b.Has(Category::kSat);
  out.relu = b.Has(Category::kRelu);
  out.propagate_nan = b.Has(Category::kNan);
  out.xorsign = b.Has(Category::kXorsign);
  out.absolute = b.Has(Category::kAbs);
  const bool is_bf16 = out.type == Type::kBf16 || out.type == Type::kBf16x2;
  // ex2 of bf16 always flushes and says so.
  if (is_bf16 && (out.saturate || (out.ftz && !b.Has(Category::kPrecision)))) {
    b.Fail("'.ftz' and '.sat' are not for bf16");
  }
}

// Takes an operation for each format, and the number of its sources.
template <typename F16Op, typename Bf16Op, unsigned kSources>
void DecodeHalf(InstructionBuilder& b) {
  TakeModifiers(b);
  const Type type = b.LastType();
  b.Destination(type);
  for (unsigned i = 0; i < kSources; ++i) b.Source(type);
  const auto pick = [](Type which, auto f16, auto bf16, auto f16x2, auto bf16x2) -> Handler {
    if (which == Type::kF16) return f16;
    if (which == Type::kBf16) return bf16;
    return which == Type::kF16x2 ? f16x2 : bf16x2;
  };
  if constexpr (kSources == 1) {
    b.Execute(pick(type, &UnaryWith<std::uint16_t, F16Op>, &UnaryWith<std::uint16_t, Bf16Op>,
                   &UnaryWith<std::uint32_t, PairOf<F16Op>>,
                   &UnaryWith<std::uint32_t, PairOf<Bf16Op>>));
  } else if constexpr (kSources == 2) {
    b.Execute(pick(type, &BinaryWith<std::uint16_t, F16Op>, &BinaryWith<std::uint16_t, Bf16Op>,
                   &BinaryWith<std::uint32_t, PairOf<F16Op>>,
                   &BinaryWith<std::uint32_t, PairOf<Bf16Op>>));
  } else {
    b.Execute(pick(type, &TernaryWith<std::uint16_t, F16Op>, &TernaryWith<std::uint16_t, Bf16Op>,
                   &TernaryWith<std::uint32_t, PairOf<F16Op>>,
                   &TernaryWith<std::uint32_t, PairOf<Bf16Op>>));
  }
}

template <typename Op, unsigned kSources>
void DecodeArithmetic(InstructionBuilder& b) {
  DecodeHalf<Arithmetic<Half<kF16Format>, Op>, Arithmetic<Half<kBf16Format>, Op>, kSources>(b);
}

}  // namespace

void DecodeAddHalf(InstructionBuilder& b) { DecodeArithmetic<AddOp, 2>(b); }
void DecodeSubHalf(InstructionBuilder& b) { DecodeArithmetic<SubtractOp, 2>(b); }
void DecodeMulHalf(InstructionBuilder& b) { DecodeArithmetic<MultiplyOp, 2>(b); }
void DecodeFmaHalf(InstructionBuilder& b) { DecodeArithmetic<FmaOp, 3>(b); }
void DecodeEx2Half(InstructionBuilder& b) { DecodeArithmetic<PowerOf2Op, 1>(b); }
void DecodeTanhHalf(InstructionBuilder& b) { DecodeArithmetic<TanhOp, 1>(b); }

void DecodeMinHalf(InstructionBuilder& b) {
  DecodeHalf<Extreme<kF16Format, false>, Extreme<kBf16Format, false>, 2>(b);
}
void DecodeMaxHalf(InstructionBuilder& b) {
  DecodeHalf<Extreme<kF16Format, true>, Extreme<kBf16Format, true>, 2>(b);
}
void DecodeAbsHalf(InstructionBuilder& b) {
  DecodeHalf<ChangeSign<kF16Format, false>, ChangeSign<kBf16Format, false>, 1>(b);
}
void DecodeNegHalf(InstructionBuilder& b) {
  DecodeHalf<ChangeSign<kF16Format, true>, ChangeSign<kBf16Format, true>, 1>(b);
}

}  // namespace lijit::emulator
