// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions"; products are in
// execute_multiply.cc).
#include "runtime/emulator/integer_arithmetic.h"

namespace lijit::emulator {
namespace {

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

// PTX leaves division by zero open: these give all ones, as an H200 does.
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
    if (b == 0) return static_cast<T>(~T{0});
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

template <bool kSigned, bool kMax>
struct ExtremeOfHalves {
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t b) {
    using One = Extreme<kSigned, kMax>;
    const auto low = One::Apply(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
    const auto high =
        One::Apply(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16));
    return static_cast<std::uint32_t>(high) << 16 | low;
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

template <bool kMax>
void DecodeExtreme(InstructionBuilder& b) {
  const Type type = b.LastType();
  if (b.Has(Category::kRelu)) {
    if (type != Type::kS32) b.Fail("'.relu' is for .s32 only");
    return ThreeOperands(b, type, Binary32<ExtremeRelu<kMax>>());
  }
  if (type == Type::kU16x2) return ThreeOperands(b, type, Binary32<ExtremeOfHalves<false, kMax>>());
  if (type == Type::kS16x2) return ThreeOperands(b, type, Binary32<ExtremeOfHalves<true, kMax>>());
  ThreeOperands(b, type, BinaryBySign<Extreme<false, kMax>, Extreme<true, kMax>>(type));
}

}  // namespace

void DecodeAddInteger(InstructionBuilder& b) {
  const Type type = b.LastType();
  CheckSaturation(b, type);
  if (b.Has(Category::kCarry)) return DecodeAddCarry(b, false);
  ThreeOperands(b, type, b.Has(Category::kSat) ? Binary32<AddSaturating>() : BinaryOf<Add>(type));
}

void DecodeSubInteger(InstructionBuilder& b) {
  const Type type = b.LastType();
  CheckSaturation(b, type);
  if (b.Has(Category::kCarry)) return DecodeAddCarry(b, true);
  ThreeOperands(b, type,
                b.Has(Category::kSat) ? Binary32<SubtractSaturating>() : BinaryOf<Subtract>(type));
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

}  // namespace lijit::emulator
