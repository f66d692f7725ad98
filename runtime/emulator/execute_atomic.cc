// SPDX-License-Identifier: Apache-2.0
// atom and red (PTX ISA, "Parallel Synchronization and Communication Instructions").
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "runtime/emulator/float_arithmetic.h"
#include "runtime/emulator/float_formats.h"
#include "runtime/emulator/host_memory.h"
#include "runtime/emulator/memory_access.h"

namespace lijit::emulator {
namespace {

struct Add {
  template <typename T>
  static T Apply(const Instruction&, T old, T b, T) {
    return static_cast<T>(old + b);
  }
};
struct And {
  template <typename T>
  static T Apply(const Instruction&, T old, T b, T) {
    return old & b;
  }
};
struct Or {
  template <typename T>
  static T Apply(const Instruction&, T old, T b, T) {
    return old | b;
  }
};
struct Xor {
  template <typename T>
  static T Apply(const Instruction&, T old, T b, T) {
    return old ^ b;
  }
};
struct Exchange {
  template <typename T>
  static T Apply(const Instruction&, T, T b, T) {
    return b;
  }
};
struct CompareAndSwap {
  template <typename T>
  static T Apply(const Instruction&, T old, T b, T c) {
    return old == b ? c : old;
  }
};
struct Increment {
  template <typename T>
  static T Apply(const Instruction&, T old, T b, T) {
    return old >= b ? T{0} : static_cast<T>(old + 1);
  }
};
struct Decrement {
  template <typename T>
  static T Apply(const Instruction&, T old, T b, T) {
    return old == 0 || old > b ? b : static_cast<T>(old - 1);
  }
};

template <bool kMax>
struct Extreme {
  template <typename T>
  static T Apply(const Instruction& in, T old, T b, T) {
    using Signed = std::make_signed_t<T>;
    const bool less =
        IsSigned(in.type) ? static_cast<Signed>(old) < static_cast<Signed>(b) : old < b;
    return less != kMax ? old : b;
  }
};

// In global memory, subnormals are flushed; in shared memory they are kept (PTX ISA, atom).
struct AddF32 {
  static std::uint32_t Apply(const Instruction& in, std::uint32_t old, std::uint32_t b,
                             std::uint32_t) {
    const bool ftz = in.space != Space::kShared;
    const float sum =
        Flush(ftz, Flush(ftz, std::bit_cast<float>(old)) + Flush(ftz, std::bit_cast<float>(b)));
    return ResultBits(sum);
  }
};
struct AddF64 {
  static std::uint64_t Apply(const Instruction&, std::uint64_t old, std::uint64_t b,
                             std::uint64_t) {
    return std::bit_cast<std::uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
  }
};

template <const FloatFormat& kFormat>
std::uint32_t AddCodes(std::uint32_t a, std::uint32_t b) {
  const double sum = AddToOdd(DecodeFloat(kFormat, a), DecodeFloat(kFormat, b));
  return EncodeFloat(kFormat, sum, Rounding::kNearestEven, false);
}
template <const FloatFormat& kFormat>
struct AddHalf {
  static std::uint16_t Apply(const Instruction&, std::uint16_t old, std::uint16_t b,
                             std::uint16_t) {
    return static_cast<std::uint16_t>(AddCodes<kFormat>(old, b));
  }
};
template <const FloatFormat& kFormat>
struct AddHalves {
  static std::uint32_t Apply(const Instruction&, std::uint32_t old, std::uint32_t b,
                             std::uint32_t) {
    return AddCodes<kFormat>(old >> 16, b >> 16) << 16 |
           AddCodes<kFormat>(old & 0xffff, b & 0xffff);
  }
};

// Operands: the old value, the address, b and c. Lanes act in ascending order.
template <typename T, typename Op>
void Update(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* b = warp.In<T>(in, 2);
  const T* c = warp.In<T>(in, 3);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t address = AddressOf(warp, in, 1, lane);
    std::byte* place = Resolve(warp, in, lane, address, sizeof(T), kAtomicUpdate);
    if (place == nullptr) return;
    const T with = b[lane];
    const T otherwise = c[lane];
    d[lane] =
        UpdateAtomically<T>(place, [&](T old) { return Op::Apply(in, old, with, otherwise); });
  }
}

constexpr TypeSet kB3264 = SetOf(Type::kB32, Type::kB64);
constexpr TypeSet kInts = SetOf(Type::kU32, Type::kS32, Type::kU64, Type::kS64);

struct Row {
  Modifier operation;
  TypeSet types;
  Handler of_16;
  Handler of_32;
  Handler of_64;
};

template <typename Op>
constexpr Row RowOf(Modifier operation, TypeSet types) {
  return {operation, types, nullptr, &Update<std::uint32_t, Op>, &Update<std::uint64_t, Op>};
}

constexpr Row kRows[] = {
    RowOf<Add>(Modifier::kAdd, SetOf(Type::kU32, Type::kS32, Type::kU64)),
    {Modifier::kAdd, SetOf(Type::kF32), nullptr, &Update<std::uint32_t, AddF32>, nullptr},
    {Modifier::kAdd, SetOf(Type::kF64), nullptr, nullptr, &Update<std::uint64_t, AddF64>},
    {Modifier::kAdd, SetOf(Type::kF16), &Update<std::uint16_t, AddHalf<kF16Format>>, nullptr,
     nullptr},
    {Modifier::kAdd, SetOf(Type::kBf16), &Update<std::uint16_t, AddHalf<kBf16Format>>, nullptr,
     nullptr},
    {Modifier::kAdd, SetOf(Type::kF16x2), nullptr, &Update<std::uint32_t, AddHalves<kF16Format>>,
     nullptr},
    {Modifier::kAdd, SetOf(Type::kBf16x2), nullptr, &Update<std::uint32_t, AddHalves<kBf16Format>>,
     nullptr},
    RowOf<Extreme<false>>(Modifier::kMin, kInts),
    RowOf<Extreme<true>>(Modifier::kMax, kInts),
    RowOf<And>(Modifier::kAnd, kB3264),
    RowOf<Or>(Modifier::kOr, kB3264),
    RowOf<Xor>(Modifier::kXor, kB3264),
    RowOf<Exchange>(Modifier::kExch, kB3264),
    {Modifier::kCas, kB3264 | SetOf(Type::kB16), &Update<std::uint16_t, CompareAndSwap>,
     &Update<std::uint32_t, CompareAndSwap>, &Update<std::uint64_t, CompareAndSwap>},
    {Modifier::kInc, SetOf(Type::kU32), nullptr, &Update<std::uint32_t, Increment>, nullptr},
    {Modifier::kDec, SetOf(Type::kU32), nullptr, &Update<std::uint32_t, Decrement>, nullptr},
};

Handler HandlerOf(Modifier operation, Type type) {
  for (const Row& row : kRows) {
    if (row.operation != operation || !Contains(row.types, type)) continue;
    return Bits(type) == 16 ? row.of_16 : Bits(type) == 32 ? row.of_32 : row.of_64;
  }
  return nullptr;
}

// What follows the destination.
void DecodeUpdate(InstructionBuilder& b, Type type) {
  const Modifier operation = b.Of(Category::kOperation);
  const Space space = SpaceOf(b.Of(Category::kSpace));
  if (space == Space::kLocal || space == Space::kConst || space == Space::kParam) {
    b.Fail("acts on global and shared memory");
  }
  if (b.Of(Category::kStrength) == Modifier::kVolatile ||
      b.Of(Category::kStrength) == Modifier::kWeak) {
    b.Fail("takes no '.volatile' and no '.weak'");
  }
  if (b.modifiers().type_count() != 1) b.Fail("takes one type");
  b.Address(space);
  b.Source(type);
  if (operation == Modifier::kCas) {
    b.Source(type);
  } else {
    b.Constant(0, Bits(type));
  }
  if (b.Has(Category::kCacheHint)) b.Source(Type::kB64);
  const Handler handler = HandlerOf(operation, type);
  if (handler == nullptr) b.Fail("needs an operation that its type has");
  b.Execute(handler);
}

}  // namespace

void DecodeAtom(InstructionBuilder& b) {
  b.Destination(b.LastType());
  DecodeUpdate(b, b.LastType());
}

void DecodeRed(InstructionBuilder& b) {
  const Modifier operation = b.Of(Category::kOperation);
  if (operation == Modifier::kExch || operation == Modifier::kCas) {
    b.Fail("has no '.exch' and no '.cas'");
  }
  b.Add(b.kernel().NewRegister(Bits(b.LastType())));
  DecodeUpdate(b, b.LastType());
}

}  // namespace lijit::emulator
