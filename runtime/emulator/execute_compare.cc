// SPDX-License-Identifier: Apache-2.0
// Comparisons and selections (PTX ISA, "Comparison and Selection Instructions").
#include <bit>
#include <cmath>
#include <type_traits>

#include "runtime/emulator/float_arithmetic.h"
#include "runtime/emulator/float_formats.h"

namespace lijit::emulator {
namespace {

// How the lanes of a register are read for a comparison.
template <typename V>
struct IntegerValue {
  using Lane = std::make_unsigned_t<V>;
  static V Read(Lane lane, bool) { return static_cast<V>(lane); }
};
struct F32Value {
  using Lane = std::uint32_t;
  static float Read(Lane lane, bool ftz) { return Flush(ftz, std::bit_cast<float>(lane)); }
};
struct F64Value {
  using Lane = std::uint64_t;
  static double Read(Lane lane, bool) { return std::bit_cast<double>(lane); }
};
template <const FloatFormat& kFormat>
struct HalfValue {
  using Lane = std::uint16_t;
  static double Read(Lane lane, bool) { return DecodeFloat(kFormat, lane); }
};

template <typename V>
bool Unordered(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) return std::isnan(a) || std::isnan(b);
  return false;
}

// With kOrUnordered, comparisons with NaN are true.
template <Modifier kCompare, bool kOrUnordered>
struct Comparison {
  template <typename V>
  static bool Apply(V a, V b) {
    if (Unordered(a, b)) return kOrUnordered;
    switch (kCompare) {
      case Modifier::kEq:
        return a == b;
      case Modifier::kNe:
        return a != b;
      case Modifier::kLt:
        return a < b;
      case Modifier::kLe:
        return a <= b;
      case Modifier::kGt:
        return a > b;
      case Modifier::kGe:
        return a >= b;
      case Modifier::kUnordered:
        return false;
      default:
        return true;  // .num
    }
  }
};

// Compares operands 2 and 3.
template <typename Value, typename Op>
Mask Compare(Warp& warp, const Instruction& in, Mask mask) {
  const auto* a = warp.In<typename Value::Lane>(in, 2);
  const auto* b = warp.In<typename Value::Lane>(in, 3);
  const bool ftz = in.ftz;
  Mask result = 0;
  ForLanes(mask, [&](unsigned lane) {
    const bool holds = Op::Apply(Value::Read(a[lane], ftz), Value::Read(b[lane], ftz));
    result |= Mask{holds} << lane;
  });
  return result;
}

using Comparer = Mask (*)(Warp&, const Instruction&, Mask);

Mask Combine(Modifier operation, Mask a, Mask b) {
  switch (operation) {
    case Modifier::kAnd:
      return a & b;
    case Modifier::kOr:
      return a | b;
    case Modifier::kXor:
      return a ^ b;
    default:
      return a;
  }
}

// setp: operands p, q, a, b and, when combined, c.
template <Comparer kCompare>
void SetPredicate(Warp& warp, const Instruction& in, Mask mask) {
  const Mask value = kCompare(warp, in, mask);
  const Mask c = in.combine == Modifier::kNone ? 0 : warp.PredicateIn(in, 4);
  warp.PredicateOut(in, 0, mask, Combine(in.combine, value, c));
  warp.PredicateOut(in, 1, mask, Combine(in.combine, ~value, c));
}

// set: operands d, one unused, a, b and, when combined, c. `immediate` is what true is.
template <Comparer kCompare>
void SetValue(Warp& warp, const Instruction& in, Mask mask) {
  const Mask c = in.combine == Modifier::kNone ? 0 : warp.PredicateIn(in, 4);
  const Mask value = Combine(in.combine, kCompare(warp, in, mask), c);
  const auto one = static_cast<std::uint32_t>(in.immediate);
  if (in.register_bits == 16) {
    auto* d = warp.Out<std::uint16_t>(in, 0);
    ForLanes(mask, [=](unsigned lane) {
      d[lane] = static_cast<std::uint16_t>((value >> lane & 1) != 0 ? one : 0);
    });
    return;
  }
  auto* d = warp.Out<std::uint32_t>(in, 0);
  ForLanes(mask, [=](unsigned lane) { d[lane] = (value >> lane & 1) != 0 ? one : 0; });
}

struct Handlers {
  Handler set_predicate = nullptr;
  Handler set_value = nullptr;
};

template <typename Value, Modifier kCompare, bool kOrUnordered>
Handlers Both() {
  constexpr Comparer kComparer = &Compare<Value, Comparison<kCompare, kOrUnordered>>;
  return {&SetPredicate<kComparer>, &SetValue<kComparer>};
}

template <typename Value>
Handlers OrderedHandlers(Modifier compare) {
  switch (compare) {
    case Modifier::kEq:
      return Both<Value, Modifier::kEq, false>();
    case Modifier::kLt:
      return Both<Value, Modifier::kLt, false>();
    case Modifier::kLe:
      return Both<Value, Modifier::kLe, false>();
    case Modifier::kGt:
      return Both<Value, Modifier::kGt, false>();
    case Modifier::kGe:
      return Both<Value, Modifier::kGe, false>();
    case Modifier::kNe:
      return Both<Value, Modifier::kNe, false>();
    default:
      return {};
  }
}

template <typename Value>
Handlers FloatHandlers(Modifier compare) {
  switch (compare) {
    case Modifier::kEqu:
      return Both<Value, Modifier::kEq, true>();
    case Modifier::kNeu:
      return Both<Value, Modifier::kNe, true>();
    case Modifier::kLtu:
      return Both<Value, Modifier::kLt, true>();
    case Modifier::kLeu:
      return Both<Value, Modifier::kLe, true>();
    case Modifier::kGtu:
      return Both<Value, Modifier::kGt, true>();
    case Modifier::kGeu:
      return Both<Value, Modifier::kGe, true>();
    case Modifier::kNum:
      return Both<Value, Modifier::kNum, false>();
    case Modifier::kUnordered:
      return Both<Value, Modifier::kUnordered, true>();
    default:
      return OrderedHandlers<Value>(compare);
  }
}

template <typename V>
Handlers UnsignedHandlers(Modifier compare) {
  switch (compare) {
    case Modifier::kLo:
      return OrderedHandlers<IntegerValue<V>>(Modifier::kLt);
    case Modifier::kLs:
      return OrderedHandlers<IntegerValue<V>>(Modifier::kLe);
    case Modifier::kHi:
      return OrderedHandlers<IntegerValue<V>>(Modifier::kGt);
    case Modifier::kHs:
      return OrderedHandlers<IntegerValue<V>>(Modifier::kGe);
    default:
      return OrderedHandlers<IntegerValue<V>>(compare);
  }
}

template <typename V>
Handlers BitsHandlers(Modifier compare) {
  if (compare != Modifier::kEq && compare != Modifier::kNe) return {};
  return OrderedHandlers<IntegerValue<V>>(compare);
}

Handlers HandlersOf(Type type, Modifier compare) {
  switch (type) {
    case Type::kB16:
      return BitsHandlers<std::uint16_t>(compare);
    case Type::kB32:
      return BitsHandlers<std::uint32_t>(compare);
    case Type::kB64:
      return BitsHandlers<std::uint64_t>(compare);
    case Type::kU16:
      return UnsignedHandlers<std::uint16_t>(compare);
    case Type::kU32:
      return UnsignedHandlers<std::uint32_t>(compare);
    case Type::kU64:
      return UnsignedHandlers<std::uint64_t>(compare);
    case Type::kS16:
      return OrderedHandlers<IntegerValue<std::int16_t>>(compare);
    case Type::kS32:
      return OrderedHandlers<IntegerValue<std::int32_t>>(compare);
    case Type::kS64:
      return OrderedHandlers<IntegerValue<std::int64_t>>(compare);
    case Type::kF16:
      return FloatHandlers<HalfValue<kF16Format>>(compare);
    case Type::kBf16:
      return FloatHandlers<HalfValue<kBf16Format>>(compare);
    case Type::kF32:
      return FloatHandlers<F32Value>(compare);
    case Type::kF64:
      return FloatHandlers<F64Value>(compare);
    default:
      return {};
  }
}

// The sources a, b and c, which setp and set share.
Handlers ComparedOperands(InstructionBuilder& b) {
  const Type type = b.LastType();
  const Modifier combine = b.Of(Category::kOperation);
  if (combine != Modifier::kNone && combine != Modifier::kAnd && combine != Modifier::kOr &&
      combine != Modifier::kXor) {
    b.Fail("combines with .and, .or and .xor only");
  }
  b.Source(type);
  b.Source(type);
  if (combine != Modifier::kNone) b.PredicateSource();
  b.out().combine = combine;
  b.out().ftz = b.Has(Category::kFtz);
  const Handlers handlers = HandlersOf(type, b.Of(Category::kCompare));
  if (handlers.set_value == nullptr) b.Fail("needs a comparison that its type has");
  return handlers;
}

template <typename T>
void Select(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* b = warp.In<T>(in, 2);
  const Mask p = warp.PredicateIn(in, 3);
  ForLanes(mask, [=](unsigned lane) { d[lane] = (p >> lane & 1) != 0 ? a[lane] : b[lane]; });
}

// slct: a where c is not negative (NaN is).
template <typename T>
void SelectBySign(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* b = warp.In<T>(in, 2);
  const auto* c = warp.In<std::uint32_t>(in, 3);
  const bool is_float = in.type == Type::kF32;
  ForLanes(mask, [=](unsigned lane) {
    const bool takes_a = is_float ? F32Value::Read(c[lane], in.ftz) >= 0.0f
                                  : static_cast<std::int32_t>(c[lane]) >= 0;
    d[lane] = takes_a ? a[lane] : b[lane];
  });
}

}  // namespace

void DecodeSetp(InstructionBuilder& b) {
  b.PredicateDestination();
  b.SecondDestination(Type::kPred);
  b.Execute(ComparedOperands(b).set_predicate);
}

void DecodeSet(InstructionBuilder& b) {
  const Type result = b.TypeAt(0);
  const bool is_float = result == Type::kF32 || result == Type::kF16 || result == Type::kBf16;
  if (b.modifiers().type_count() != 2 || (!is_float && !IsInteger(result)) || Bits(result) > 32) {
    b.Fail("needs a result type of .u32, .s32, .f32, .u16, .s16, .f16 or .bf16 and a source type");
  }
  b.Destination(result);
  b.out().register_bits = static_cast<std::uint8_t>(Bits(result));
  b.Constant(0, 32);
  b.out().immediate = -1;
  if (result == Type::kF32) b.out().immediate = std::bit_cast<std::uint32_t>(1.0f);
  if (result == Type::kF16) b.out().immediate = 0x3c00;
  if (result == Type::kBf16) b.out().immediate = 0x3f80;
  b.Execute(ComparedOperands(b).set_value);
}

void DecodeSelp(InstructionBuilder& b) {
  const Type type = b.LastType();
  b.Destination(type);
  b.Source(type);
  b.Source(type);
  b.PredicateSource();
  b.Execute(Bits(type) == 16   ? &Select<std::uint16_t>
            : Bits(type) == 32 ? &Select<std::uint32_t>
                               : &Select<std::uint64_t>);
}

void DecodeSlct(InstructionBuilder& b) {
  const Type type = b.TypeAt(0);
  if (b.modifiers().type_count() != 2) b.Fail("needs two types");
  b.Destination(type);
  b.Source(type);
  b.Source(type);
  b.Source(b.LastType());
  b.out().ftz = b.Has(Category::kFtz);
  b.Execute(Bits(type) == 16   ? &SelectBySign<std::uint16_t>
            : Bits(type) == 32 ? &SelectBySign<std::uint32_t>
                               : &SelectBySign<std::uint64_t>);
}

}  // namespace lijit::emulator
