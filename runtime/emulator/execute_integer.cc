// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer
// Arithmetic Instructions").
#include <limits>
#include <type_traits>

#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"

namespace lijit::emulator {
namespace {

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

struct Add {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a + b);
  }
};

struct Subtract {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a - b);
  }
};

std::uint32_t SaturateSigned(std::int64_t value) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::uint32_t>(value < kMin ? kMin : value > kMax ? kMax : value);
}

std::int64_t AsSigned(std::uint32_t value) { return static_cast<std::int32_t>(value); }

struct AddSaturating {
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t b) {
    return SaturateSigned(AsSigned(a) + AsSigned(b));
  }
};

struct SubtractSaturating {
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t b) {
    return SaturateSigned(AsSigned(a) - AsSigned(b));
  }
};

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

struct MultiplyAddLow {
  template <typename T>
  static T Apply(T a, T b, T c) {
    return static_cast<T>(MultiplyLow::Apply(a, b) + c);
  }
};

template <bool kSigned>
struct MultiplyAddHigh {
  template <typename T>
  static T Apply(T a, T b, T c) {
    return static_cast<T>(MultiplyHigh<kSigned>::Apply(a, b) + c);
  }
};

struct MultiplyAddHighSaturating {
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return SaturateSigned(AsSigned(MultiplyHigh<true>::Apply(a, b)) + AsSigned(c));
  }
};

// mul.wide and, with an addend, mad.wide.
template <typename T, bool kSigned, bool kAddend>
void MultiplyWide(Warp& warp, const Instruction& in, Mask mask) {
  using Wide = Wider<T>;
  auto* d = warp.Out<Wide>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* b = warp.In<T>(in, 2);
  const Wide* c = kAddend ? warp.In<Wide>(in, 3) : nullptr;
  ForLanes(mask, [=](unsigned lane) {
    const auto product = static_cast<Wide>(Widen(a[lane], kSigned) * Widen(b[lane], kSigned));
    d[lane] = kAddend ? static_cast<Wide>(product + c[lane]) : product;
  });
}

template <bool kAddend>
Handler MultiplyWideOf(Type type) {
  const bool is_signed = IsSigned(type);
  if (Bits(type) == 16) {
    return is_signed ? &MultiplyWide<std::uint16_t, true, kAddend>
                     : &MultiplyWide<std::uint16_t, false, kAddend>;
  }
  return is_signed ? &MultiplyWide<std::uint32_t, true, kAddend>
                   : &MultiplyWide<std::uint32_t, false, kAddend>;
}

Type WideTypeOf(Type type) { return Bits(type) == 16 ? Type::kB32 : Type::kB64; }

// PTX leaves division by zero open: these give all ones, and for rem the dividend.
template <bool kSigned>
struct Divide {
  template <typename T>
  static T Apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (kSigned) {
      if (b == static_cast<T>(~T{0})) return static_cast<T>(T{0} - a);
      return static_cast<T>(static_cast<Signed<T>>(a) / static_cast<Signed<T>>(b));
    }
    return static_cast<T>(a / b);
  }
};

template <bool kSigned>
struct Remainder {
  template <typename T>
  static T Apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (kSigned) {
      if (b == static_cast<T>(~T{0})) return 0;
      return static_cast<T>(static_cast<Signed<T>>(a) % static_cast<Signed<T>>(b));
    }
    return static_cast<T>(a % b);
  }
};

struct AbsoluteValue {
  template <typename T>
  static T Apply(T a) {
    return static_cast<Signed<T>>(a) < 0 ? static_cast<T>(T{0} - a) : a;
  }
};

struct Negate {
  template <typename T>
  static T Apply(T a) {
    return static_cast<T>(T{0} - a);
  }
};

template <bool kSigned, bool kMax>
struct Extreme {
  template <typename T>
  static T Apply(T a, T b) {
    using Compared = std::conditional_t<kSigned, Signed<T>, T>;
    const bool less = static_cast<Compared>(a) < static_cast<Compared>(b);
    return less != kMax ? a : b;
  }
};

template <bool kMax>
struct ExtremeRelu {
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t value = Extreme<true, kMax>::Apply(a, b);
    return AsSigned(value) < 0 ? 0 : value;
  }
};

template <bool kSigned>
struct SumOfAbsoluteDifferences {
  template <typename T>
  static T Apply(T a, T b, T c) {
    const T low = Extreme<kSigned, false>::Apply(a, b);
    const T high = Extreme<kSigned, true>::Apply(a, b);
    return static_cast<T>(c + static_cast<T>(high - low));
  }
};

// The low 24 bits of a and b, and of their product either the low 32 bits or bits 16 to 47.
template <bool kSigned, bool kHigh>
struct Multiply24 {
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t b) {
    const std::uint64_t product = Extend(a) * Extend(b);
    return static_cast<std::uint32_t>(product >> (kHigh ? 16 : 0));
  }
  static std::uint64_t Extend(std::uint32_t value) {
    const std::uint32_t top = value << 8;
    if (!kSigned) return top >> 8;
    return static_cast<std::uint64_t>(AsSigned(top) >> 8);
  }
};

template <bool kSigned, bool kHigh>
struct MultiplyAdd24 {
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return Multiply24<kSigned, kHigh>::Apply(a, b) + c;
  }
};

// Four products of bytes, or two of a half and a byte, added to c.
template <bool kSignedA, bool kSignedB>
struct DotProduct {
  static std::int32_t Byte(std::uint32_t value, unsigned i, bool is_signed) {
    const auto byte = static_cast<std::uint8_t>(value >> (8 * i));
    return is_signed ? static_cast<std::int8_t>(byte) : byte;
  }
  static std::int32_t Half(std::uint32_t value, unsigned i) {
    const auto half = static_cast<std::uint16_t>(value >> (16 * i));
    return kSignedA ? static_cast<std::int16_t>(half) : half;
  }
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned i = 0; i < 4; ++i) {
      c += static_cast<std::uint32_t>(Byte(a, i, kSignedA) * Byte(b, i, kSignedB));
    }
    return c;
  }
};

template <bool kSignedA, bool kSignedB, bool kHigh>
struct DotProduct2 {
  using Parts = DotProduct<kSignedA, kSignedB>;
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned i = 0; i < 2; ++i) {
      c += static_cast<std::uint32_t>(Parts::Half(a, i) *
                                      Parts::Byte(b, i + (kHigh ? 2 : 0), kSignedB));
    }
    return c;
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

void ThreeOperands(InstructionBuilder& b, Type type, Handler handler) {
  b.Destination(type);
  b.Source(type);
  b.Source(type);
  b.Execute(handler);
}

void FourOperands(InstructionBuilder& b, Type type, Handler handler) {
  ThreeOperands(b, type, handler);
  b.Source(type);
}

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

// .lo or .hi, which some instructions need.
bool TakesHigh(InstructionBuilder& b) {
  const Modifier half = b.Of(Category::kCompare);
  if (half != Modifier::kLo && half != Modifier::kHi) b.Fail("needs .lo or .hi");
  return half == Modifier::kHi;
}

void CheckSaturation(InstructionBuilder& b, Type type) {
  if (b.Has(Category::kSat) && type != Type::kS32) b.Fail("'.sat' is for .s32 only");
}

template <template <bool, bool> typename Op>
Handler DotProductOf(Type a, Type b) {
  if (IsSigned(a)) {
    return IsSigned(b) ? Ternary32<Op<true, true>>() : Ternary32<Op<true, false>>();
  }
  return IsSigned(b) ? Ternary32<Op<false, true>>() : Ternary32<Op<false, false>>();
}

template <bool kA, bool kB>
using DotProduct2Low = DotProduct2<kA, kB, false>;
template <bool kA, bool kB>
using DotProduct2High = DotProduct2<kA, kB, true>;

void DotOperands(InstructionBuilder& b, Handler handler) {
  const Type a_type = b.TypeAt(0);
  const Type b_type = b.TypeAt(1);
  if (Bits(a_type) != 32 || Bits(b_type) != 32) b.Fail("needs two types of .u32 and .s32");
  FourOperands(b, Type::kB32, handler);
}

template <bool kSigned>
Handler Multiply24Of(bool high) {
  return high ? Binary32<Multiply24<kSigned, true>>() : Binary32<Multiply24<kSigned, false>>();
}

template <bool kSigned>
Handler MultiplyAdd24Of(bool high) {
  return high ? Ternary32<MultiplyAdd24<kSigned, true>>()
              : Ternary32<MultiplyAdd24<kSigned, false>>();
}

template <bool kMax>
void DecodeExtreme(InstructionBuilder& b) {
  const Type type = b.LastType();
  if (b.Has(Category::kRelu)) {
    if (type != Type::kS32) b.Fail("'.relu' is for .s32 only");
    return ThreeOperands(b, type, Binary32<ExtremeRelu<kMax>>());
  }
  ThreeOperands(b, type, BinaryBySign<Extreme<false, kMax>, Extreme<true, kMax>>(type));
}

}  // namespace

void DecodeAddInteger(InstructionBuilder& b) {
  const Type type = b.LastType();
  CheckSaturation(b, type);
  if (b.Has(Category::kCarry)) return DecodeCarrySum<false, false>(b);
  ThreeOperands(b, type, b.Has(Category::kSat) ? Binary32<AddSaturating>() : BinaryOf<Add>(type));
}

void DecodeSubInteger(InstructionBuilder& b) {
  const Type type = b.LastType();
  CheckSaturation(b, type);
  if (b.Has(Category::kCarry)) return DecodeCarrySum<true, false>(b);
  ThreeOperands(b, type,
                b.Has(Category::kSat) ? Binary32<SubtractSaturating>() : BinaryOf<Subtract>(type));
}

void DecodeAddc(InstructionBuilder& b) { DecodeCarrySum<false, true>(b); }
void DecodeSubc(InstructionBuilder& b) { DecodeCarrySum<true, true>(b); }
void DecodeMadc(InstructionBuilder& b) { DecodeCarryProduct<true>(b, TakesHigh(b)); }

void DecodeMulInteger(InstructionBuilder& b) {
  const Type type = b.LastType();
  if (b.Has(Category::kWide)) {
    if (Bits(type) == 64) b.Fail("'.wide' is not for 64 bits");
    b.Destination(WideTypeOf(type));
    b.Source(type);
    b.Source(type);
    return b.Execute(MultiplyWideOf<false>(type));
  }
  ThreeOperands(b, type,
                TakesHigh(b) ? BinaryBySign<MultiplyHigh<false>, MultiplyHigh<true>>(type)
                             : BinaryOf<MultiplyLow>(type));
}

void DecodeMadInteger(InstructionBuilder& b) {
  const Type type = b.LastType();
  CheckSaturation(b, type);
  if (b.Has(Category::kWide)) {
    if (Bits(type) == 64) b.Fail("'.wide' is not for 64 bits");
    b.Destination(WideTypeOf(type));
    b.Source(type);
    b.Source(type);
    b.Source(WideTypeOf(type));
    return b.Execute(MultiplyWideOf<true>(type));
  }
  const bool high = TakesHigh(b);
  if (b.Has(Category::kCarry)) {
    if (Bits(type) == 16) b.Fail("'.cc' is not for 16 bits");
    return DecodeCarryProduct<false>(b, high);
  }
  if (b.Has(Category::kSat)) {
    if (!high) b.Fail("'.sat' needs .hi");
    return FourOperands(b, type, Ternary32<MultiplyAddHighSaturating>());
  }
  const Handler high_handler = IsSigned(type) ? TernaryOf<MultiplyAddHigh<true>>(type)
                                              : TernaryOf<MultiplyAddHigh<false>>(type);
  FourOperands(b, type, high ? high_handler : TernaryOf<MultiplyAddLow>(type));
}

void DecodeMul24(InstructionBuilder& b) {
  const Type type = b.LastType();
  const bool high = TakesHigh(b);
  ThreeOperands(b, type, IsSigned(type) ? Multiply24Of<true>(high) : Multiply24Of<false>(high));
}

void DecodeMad24(InstructionBuilder& b) {
  const Type type = b.LastType();
  const bool high = TakesHigh(b);
  FourOperands(b, type,
               IsSigned(type) ? MultiplyAdd24Of<true>(high) : MultiplyAdd24Of<false>(high));
}

void DecodeSad(InstructionBuilder& b) {
  const Type type = b.LastType();
  FourOperands(b, type,
               IsSigned(type) ? TernaryOf<SumOfAbsoluteDifferences<true>>(type)
                              : TernaryOf<SumOfAbsoluteDifferences<false>>(type));
}

void DecodeDivInteger(InstructionBuilder& b) {
  const Type type = b.LastType();
  ThreeOperands(b, type, BinaryBySign<Divide<false>, Divide<true>>(type));
}

void DecodeRem(InstructionBuilder& b) {
  const Type type = b.LastType();
  ThreeOperands(b, type, BinaryBySign<Remainder<false>, Remainder<true>>(type));
}

void DecodeAbsInteger(InstructionBuilder& b) {
  const Type type = b.LastType();
  if (!IsSigned(type)) b.Fail("is for signed types");
  b.Destination(type);
  b.Source(type);
  b.Execute(UnaryOf<AbsoluteValue>(type));
}

void DecodeNegInteger(InstructionBuilder& b) {
  const Type type = b.LastType();
  if (!IsSigned(type)) b.Fail("is for signed types");
  b.Destination(type);
  b.Source(type);
  b.Execute(UnaryOf<Negate>(type));
}

void DecodeMinInteger(InstructionBuilder& b) { DecodeExtreme<false>(b); }
void DecodeMaxInteger(InstructionBuilder& b) { DecodeExtreme<true>(b); }

void DecodeDp4a(InstructionBuilder& b) {
  DotOperands(b, DotProductOf<DotProduct>(b.TypeAt(0), b.TypeAt(1)));
}

void DecodeDp2a(InstructionBuilder& b) {
  const bool high = TakesHigh(b);
  DotOperands(b, high ? DotProductOf<DotProduct2High>(b.TypeAt(0), b.TypeAt(1))
                      : DotProductOf<DotProduct2Low>(b.TypeAt(0), b.TypeAt(1)));
}

}  // namespace lijit::emulator
