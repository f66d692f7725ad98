// SPDX-License-Identifier: Apache-2.0
// mov in all its forms, cvta, isspacep and the clocks.
#include <chrono>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"
#include "runtime/emulator/register_lanes.h"

namespace lijit::emulator {
namespace {

template <typename T>
void Move(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  ForLanes(mask, [=](unsigned lane) { d[lane] = a[lane]; });
}

void MovePredicate(Warp& warp, const Instruction& in, Mask mask) {
  warp.PredicateOut(in, 0, mask, warp.PredicateIn(in, 1));
}

struct Bits128 {
  std::uint64_t low;
  std::uint64_t high;
};

Handler MoveOf(unsigned bits) {
  switch (bits) {
    case 1:
      return &MovePredicate;
    case 8:
      return &Move<std::uint8_t>;
    case 16:
      return &Move<std::uint16_t>;
    case 32:
      return &Move<std::uint32_t>;
    case 64:
      return &Move<std::uint64_t>;
    default:
      return &Move<Bits128>;
  }
}

// mov.b64 d, {a, b}: the first element is the lowest. `vector` elements of register_bits2 bits.
void PackElements(Warp& warp, const Instruction& in, Mask mask) {
  WideLanes whole{};
  for (unsigned i = 0; i < in.vector; ++i) {
    WideLanes part;
    ReadLanes(warp, in, i + 1, in.register_bits2, part);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      whole[lane] |= part[lane] << (i * in.register_bits2);
    }
  }
  WriteLanes(warp, in, 0, in.register_bits, mask, whole);
}

// mov.b64 {a, b}, d. `vector` elements of register_bits bits; the source comes last.
void UnpackElements(Warp& warp, const Instruction& in, Mask mask) {
  WideLanes whole;
  ReadLanes(warp, in, in.vector, in.register_bits2, whole);
  for (unsigned i = 0; i < in.vector; ++i) {
    WideLanes part;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      part[lane] = whole[lane] >> (i * in.register_bits);
    }
    WriteLanes(warp, in, i, in.register_bits, mask, part);
  }
}

void Pack128(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<Bits128>(in, 0);
  const auto* low = warp.In<std::uint64_t>(in, 1);
  const auto* high = warp.In<std::uint64_t>(in, 2);
  ForLanes(mask, [=](unsigned lane) { d[lane] = {low[lane], high[lane]}; });
}

void Unpack128(Warp& warp, const Instruction& in, Mask mask) {
  auto* low = warp.Out<std::uint64_t>(in, 0);
  auto* high = warp.Out<std::uint64_t>(in, 1);
  const auto* a = warp.In<Bits128>(in, 2);
  ForLanes(mask, [=](unsigned lane) {
    low[lane] = a[lane].low;
    high[lane] = a[lane].high;
  });
}

Type BitsType(unsigned bits) {
  return bits == 8 ? Type::kB8 : bits == 16 ? Type::kB16 : bits == 32 ? Type::kB32 : Type::kB64;
}

// The type of one of `count` equal parts of `type`, if there is such a type.
Type PartType(InstructionBuilder& b, Type type, std::size_t count) {
  const bool whole = Info(type).type_class == TypeClass::kBits && (count == 2 || count == 4) &&
                     Bits(type) / count >= 8 && Bits(type) / count <= 64;
  if (!whole || (count == 4 && Bits(type) == 128)) b.Fail("no such vector for this type");
  return BitsType(static_cast<unsigned>(Bits(type) / count));
}

void DecodePack(InstructionBuilder& b, Type type, std::size_t count) {
  const Type part = PartType(b, type, count);
  b.Destination(type);
  b.Sources(static_cast<unsigned>(count), part);
  b.out().vector = static_cast<std::uint8_t>(count);
  b.out().register_bits = static_cast<std::uint8_t>(Bits(type));
  if (b.out().register_bits2 != Bits(part)) b.Fail("the parts do not make up the whole");
  b.Execute(Bits(type) == 128 ? &Pack128 : &PackElements);
}

void DecodeUnpack(InstructionBuilder& b, Type type, std::size_t count) {
  const Type part = PartType(b, type, count);
  b.Destinations(static_cast<unsigned>(count), part);
  b.Source(type);
  b.out().vector = static_cast<std::uint8_t>(count);
  b.out().register_bits2 = static_cast<std::uint8_t>(Bits(type));
  if (b.out().register_bits != Bits(part)) b.Fail("the parts do not make up the whole");
  b.Execute(Bits(type) == 128 ? &Unpack128 : &UnpackElements);
}

// Clocks count nanoseconds of the host. `immediate` is a right shift.
std::uint64_t Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

template <typename T>
void ReadClock(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const auto value = static_cast<T>(Now() >> in.immediate);
  ForLanes(mask, [=](unsigned lane) { d[lane] = value; });
}

struct Clock {
  std::string_view name;
  unsigned bits;
  int shift;
};
constexpr Clock kClocks[] = {
    {"%clock", 32, 0},       {"%clock_hi", 32, 32},      {"%clock64", 64, 0},
    {"%globaltimer", 64, 0}, {"%globaltimer_lo", 32, 0}, {"%globaltimer_hi", 32, 32},
};

const Clock* FindClock(std::string_view name) {
  for (const Clock& clock : kClocks) {
    if (clock.name == name) return &clock;
  }
  return nullptr;
}

void DecodeReadClock(InstructionBuilder& b, Type type, const Clock& clock) {
  b.Destination(type);
  b.Take();
  if (Bits(type) != clock.bits) b.Fail("the register and the clock differ in width");
  b.out().immediate = clock.shift;
  b.Execute(Bits(type) == 32 ? &ReadClock<std::uint32_t> : &ReadClock<std::uint64_t>);
}

// Adds the start of a window to an address; `immediate` is the start or, for cvta.to, its negative.
void AddWindow(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint64_t>(in, 0);
  const auto* a = warp.In<std::uint64_t>(in, 1);
  const auto window = static_cast<std::uint64_t>(in.immediate);
  ForLanes(mask, [=](unsigned lane) { d[lane] = a[lane] + window; });
}

std::uint64_t WindowOf(Space space) {
  switch (space) {
    case Space::kShared:
      return kSharedWindow;
    case Space::kLocal:
      return kLocalWindow;
    case Space::kParam:
      return kParamWindow;
    default:
      return 0;
  }
}

void IsInWindow(Warp& warp, const Instruction& in, Mask mask) {
  const auto* a = warp.In<std::uint64_t>(in, 1);
  const std::uint64_t window = WindowOf(in.space);
  Mask result = 0;
  ForLanes(mask, [&](unsigned lane) {
    const bool inside = window == 0 ? a[lane] < kSharedWindow : a[lane] - window < kWindowBytes;
    result |= Mask{inside} << lane;
  });
  warp.PredicateOut(in, 0, mask, result);
}

}  // namespace

void DecodeMov(InstructionBuilder& b) {
  const Type type = b.LastType();
  const auto& operands = b.statement().operands;
  if (operands.size() != 2) return b.Fail("has a destination and a source");
  if (operands[0].kind == Operand::Kind::kVector) {
    return DecodeUnpack(b, type, operands[0].elements.size());
  }
  if (operands[1].kind == Operand::Kind::kVector) {
    return DecodePack(b, type, operands[1].elements.size());
  }
  if (operands[1].kind == Operand::Kind::kSpecial) {
    if (const Clock* clock = FindClock(operands[1].name)) return DecodeReadClock(b, type, *clock);
  }
  b.Destination(type);
  b.Source(type);
  if (Bits(type) == 32) b.out().use = RegisterUse::kCopy;
  b.Execute(MoveOf(Bits(type)));
}

void DecodeCvta(InstructionBuilder& b) {
  const Space space = SpaceOf(b.Of(Category::kSpace));
  if (space == Space::kGeneric) b.Fail("needs a space");
  b.Destination(Type::kB64);
  // In an expanded function, parameters lie in local memory.
  const Operand* operand = b.Peek();
  const bool names_parameter =
      operand != nullptr && operand->kind == Operand::Kind::kSymbol && space == Space::kParam;
  const Space used =
      names_parameter ? b.kernel().PlaceOf(b.instance(), operand->symbol).space : space;
  b.Source(Type::kB64);
  const auto window = static_cast<std::int64_t>(WindowOf(used));
  b.out().immediate = b.Has(Category::kTo) ? -window : window;
  b.Execute(&AddWindow);
}

void DecodeIsspacep(InstructionBuilder& b) {
  b.out().space = SpaceOf(b.Of(Category::kSpace));
  if (b.out().space == Space::kGeneric) b.Fail("needs a space");
  b.PredicateDestination();
  b.Source(Type::kB64);
  b.Execute(&IsInWindow);
}

}  // namespace lijit::emulator
