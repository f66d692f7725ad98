// SPDX-License-Identifier: Apache-2.0
// Integer products: mul, mad, mul24, mad24, dp4a, dp2a (PTX ISA, "Integer Arithmetic
// Instructions").
#include "runtime/emulator/integer_arithmetic.h"

namespace lijit::emulator {
namespace {

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

}  // namespace

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
    return DecodeMadCarry(b);
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

void DecodeDp4a(InstructionBuilder& b) {
  DotOperands(b, DotProductOf<DotProduct>(b.TypeAt(0), b.TypeAt(1)));
}

void DecodeDp2a(InstructionBuilder& b) {
  const bool high = TakesHigh(b);
  DotOperands(b, high ? DotProductOf<DotProduct2High>(b.TypeAt(0), b.TypeAt(1))
                      : DotProductOf<DotProduct2Low>(b.TypeAt(0), b.TypeAt(1)));
}

}  // namespace lijit::emulator
