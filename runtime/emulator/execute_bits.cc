// SPDX-License-Identifier: Apache-2.0
// Logic, shifts and counts of bits (PTX ISA, "Logic and Shift Instructions" and the bit
// instructions of "Integer Arithmetic Instructions").
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"

namespace lijit::emulator {
namespace {

template <typename T>
constexpr unsigned kBitsOf = std::numeric_limits<T>::digits;

struct And {
  template <typename T>
  static T Apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T Apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T Apply(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <typename T>
  static T Apply(T a) {
    return static_cast<T>(~a);
  }
};
struct LogicalNot {
  template <typename T>
  static T Apply(T a) {
    return a == 0;
  }
};

// The shift amount is 32 bits wide whatever the type; amounts beyond the width shift all bits out.
struct ShiftLeft {
  template <typename T>
  static T Apply(T a, std::uint32_t amount) {
    return amount >= kBitsOf<T> ? T{0} : static_cast<T>(a << amount);
  }
};
struct ShiftRight {
  template <typename T>
  static T Apply(T a, std::uint32_t amount) {
    return amount >= kBitsOf<T> ? T{0} : static_cast<T>(a >> amount);
  }
};
struct ShiftRightSigned {
  template <typename T>
  static T Apply(T a, std::uint32_t amount) {
    const auto value = static_cast<std::make_signed_t<T>>(a);
    return static_cast<T>(value >> std::min(amount, kBitsOf<T> - 1));
  }
};

template <typename T, typename Op>
void Shift(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const auto* amount = warp.In<std::uint32_t>(in, 2);
  ForLanes(mask, [=](unsigned lane) { d[lane] = Op::Apply(a[lane], amount[lane]); });
}

template <typename Op>
void DecodeShift(InstructionBuilder& b) {
  const Type type = b.LastType();
  b.Destination(type);
  b.Source(type);
  b.Source(Type::kB32);
  b.Execute(Bits(type) == 16   ? &Shift<std::uint16_t, Op>
            : Bits(type) == 32 ? &Shift<std::uint32_t, Op>
                               : &Shift<std::uint64_t, Op>);
}

template <bool kLeft, bool kClamp>
struct FunnelShift {
  static std::uint32_t Apply(std::uint32_t low, std::uint32_t high, std::uint32_t amount) {
    const std::uint64_t both = std::uint64_t{high} << 32 | low;
    amount = kClamp ? std::min(amount, 32u) : amount & 31;
    return static_cast<std::uint32_t>(kLeft ? both << amount >> 32 : both >> amount);
  }
};

template <typename Op>
void DecodeLogic(InstructionBuilder& b, Handler predicates) {
  const Type type = b.LastType();
  b.Destination(type);
  b.Source(type);
  b.Source(type);
  b.Execute(type == Type::kPred ? predicates : BinaryOf<Op>(type));
}

template <typename Op>
void PredicateLogic(Warp& warp, const Instruction& in, Mask mask) {
  warp.PredicateOut(in, 0, mask, Op::Apply(warp.PredicateIn(in, 1), warp.PredicateIn(in, 2)));
}

void PredicateNot(Warp& warp, const Instruction& in, Mask mask) {
  warp.PredicateOut(in, 0, mask, ~warp.PredicateIn(in, 1));
}

std::uint32_t LookUp3(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::int64_t table) {
  std::uint32_t result = 0;
  if (table & 0x01) result |= ~a & ~b & ~c;
  if (table & 0x02) result |= ~a & ~b & c;
  if (table & 0x04) result |= ~a & b & ~c;
  if (table & 0x08) result |= ~a & b & c;
  if (table & 0x10) result |= a & ~b & ~c;
  if (table & 0x20) result |= a & ~b & c;
  if (table & 0x40) result |= a & b & ~c;
  if (table & 0x80) result |= a & b & c;
  return result;
}

void Lop3(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  const auto* a = warp.In<std::uint32_t>(in, 1);
  const auto* b = warp.In<std::uint32_t>(in, 2);
  const auto* c = warp.In<std::uint32_t>(in, 3);
  const std::int64_t table = in.immediate;
  ForLanes(mask, [=](unsigned lane) { d[lane] = LookUp3(a[lane], b[lane], c[lane], table); });
}

// Results are 32 bits whatever the operand.
template <typename T, typename Op>
void Count(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  const T* a = warp.In<T>(in, 1);
  ForLanes(mask, [&](unsigned lane) { d[lane] = Op::Apply(in, a[lane]); });
}

struct PopulationCount {
  template <typename T>
  static std::uint32_t Apply(const Instruction&, T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <typename T>
  static std::uint32_t Apply(const Instruction&, T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct FindHighest {
  template <typename T>
  static std::uint32_t Apply(const Instruction& in, T a) {
    if (IsSigned(in.type) && static_cast<std::make_signed_t<T>>(a) < 0) a = static_cast<T>(~a);
    if (a == 0) return 0xffffffff;
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(a));
    return in.immediate != 0 ? zeros : kBitsOf<T> - 1 - zeros;  // .shiftamt
  }
};

template <typename Op>
void DecodeCount(InstructionBuilder& b) {
  const Type type = b.LastType();
  b.Destination(Type::kB32);
  b.Source(type);
  b.Execute(Bits(type) == 32 ? &Count<std::uint32_t, Op> : &Count<std::uint64_t, Op>);
}

struct Reverse {
  template <typename T>
  static T Apply(T a) {
    T result = 0;
    for (unsigned i = 0; i < kBitsOf<T>; ++i) {
      result = static_cast<T>(result << 1 | (a >> i & 1));
    }
    return result;
  }
};

}  // namespace

void DecodeAnd(InstructionBuilder& b) { DecodeLogic<And>(b, &PredicateLogic<And>); }
void DecodeOr(InstructionBuilder& b) { DecodeLogic<Or>(b, &PredicateLogic<Or>); }
void DecodeXor(InstructionBuilder& b) { DecodeLogic<Xor>(b, &PredicateLogic<Xor>); }

void DecodeNot(InstructionBuilder& b) {
  const Type type = b.LastType();
  b.Destination(type);
  b.Source(type);
  b.Execute(type == Type::kPred ? &PredicateNot : UnaryOf<Not>(type));
}

void DecodeCnot(InstructionBuilder& b) {
  const Type type = b.LastType();
  b.Destination(type);
  b.Source(type);
  b.Execute(UnaryOf<LogicalNot>(type));
}

void DecodeShl(InstructionBuilder& b) { DecodeShift<ShiftLeft>(b); }

void DecodeShr(InstructionBuilder& b) {
  if (IsSigned(b.LastType())) return DecodeShift<ShiftRightSigned>(b);
  DecodeShift<ShiftRight>(b);
}

void DecodeShf(InstructionBuilder& b) {
  const Modifier direction = b.Of(Category::kDirection);
  const Modifier mode = b.Of(Category::kWrap);
  if (direction == Modifier::kNone || mode == Modifier::kNone) {
    b.Fail("needs .l or .r, and .clamp or .wrap");
  }
  for (int i = 0; i < 4; ++i) i == 0 ? b.Destination(Type::kB32) : b.Source(Type::kB32);
  const bool clamp = mode == Modifier::kClamp;
  if (direction == Modifier::kLeft) {
    b.Execute(clamp ? &Ternary<std::uint32_t, FunnelShift<true, true>>
                    : &Ternary<std::uint32_t, FunnelShift<true, false>>);
  } else {
    b.Execute(clamp ? &Ternary<std::uint32_t, FunnelShift<false, true>>
                    : &Ternary<std::uint32_t, FunnelShift<false, false>>);
  }
}

void DecodeLop3(InstructionBuilder& b) {
  for (int i = 0; i < 4; ++i) i == 0 ? b.Destination(Type::kB32) : b.Source(Type::kB32);
  b.out().immediate = static_cast<std::int64_t>(b.IntegerOperand() & 0xff);
  b.Execute(&Lop3);
}

void DecodePopc(InstructionBuilder& b) { DecodeCount<PopulationCount>(b); }
void DecodeClz(InstructionBuilder& b) { DecodeCount<LeadingZeros>(b); }

void DecodeBfind(InstructionBuilder& b) {
  b.out().immediate = b.Has(Category::kShiftAmount);
  DecodeCount<FindHighest>(b);
}

void DecodeBrev(InstructionBuilder& b) {
  const Type type = b.LastType();
  b.Destination(type);
  b.Source(type);
  b.Execute(UnaryOf<Reverse>(type));
}

}  // namespace lijit::emulator
