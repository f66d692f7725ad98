// SPDX-License-Identifier: Apache-2.0
// ld, st and their kin (PTX ISA, "Data Movement and Conversion Instructions").
#include <type_traits>

#include "runtime/emulator/host_memory.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"
#include "runtime/emulator/memory_access.h"

namespace lijit::emulator {
namespace {

// A register of 128 bits.
struct Wide {
  std::uint64_t low;
  std::uint64_t high;
};

template <typename T>
T Load(const std::byte* place) {
  if constexpr (sizeof(T) == 16) {
    return {LoadRelaxed<std::uint64_t>(place), LoadRelaxed<std::uint64_t>(place + 8)};
  } else {
    return LoadRelaxed<T>(place);
  }
}

template <typename T>
void Store(std::byte* place, T value) {
  if constexpr (sizeof(T) == 16) {
    StoreRelaxed(place, value.low);
    StoreRelaxed(place + 8, value.high);
  } else {
    StoreRelaxed<T>(place, value);
  }
}

// T is the type in memory, signed if it is to be sign-extended, and R the register's.
template <typename R, typename T>
R Extend(T value) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<R>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<R>(value);
  }
}

// Operands: the destinations, the address.
template <typename T, typename R>
void LoadLanes(Warp& warp, const Instruction& in, Mask mask) {
  const unsigned count = in.vector;
  const std::uint64_t bytes = sizeof(T) * count;
  const AccessMode mode{true, false, in.strong};
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t address = AddressOf(warp, in, count, lane);
    const std::byte* place = Resolve(warp, in, lane, address, bytes, mode);
    if (place == nullptr) return;
    for (unsigned i = 0; i < count; ++i) {
      warp.Out<R>(in, i)[lane] = Extend<R>(Load<T>(place + i * sizeof(T)));
    }
  }
}

// Operands: the address, the sources.
template <typename T, typename R>
void StoreLanes(Warp& warp, const Instruction& in, Mask mask) {
  const unsigned count = in.vector;
  const std::uint64_t bytes = sizeof(T) * count;
  const AccessMode mode{false, true, in.strong};
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t address = AddressOf(warp, in, 0, lane);
    std::byte* place = Resolve(warp, in, lane, address, bytes, mode);
    if (place == nullptr) return;
    for (unsigned i = 0; i < count; ++i) {
      Store<T>(place + i * sizeof(T), static_cast<T>(warp.In<R>(in, i + 1)[lane]));
    }
  }
}

template <template <typename, typename> typename Pick, typename T>
Handler OfRegister(unsigned register_bits) {
  if (register_bits == 8 && sizeof(T) <= 1) return Pick<T, std::uint8_t>::kHandler;
  if (register_bits == 16 && sizeof(T) <= 2) return Pick<T, std::uint16_t>::kHandler;
  if (register_bits == 32 && sizeof(T) <= 4) return Pick<T, std::uint32_t>::kHandler;
  if (register_bits == 64 && sizeof(T) <= 8) return Pick<T, std::uint64_t>::kHandler;
  return nullptr;
}

template <typename T, typename R>
struct PickLoad {
  static constexpr Handler kHandler = &LoadLanes<T, R>;
};
template <typename T, typename R>
struct PickStore {
  static constexpr Handler kHandler = &StoreLanes<T, R>;
};

Handler LoadOf(Type type, unsigned register_bits) {
  switch (Bits(type)) {
    case 8:
      return IsSigned(type) ? OfRegister<PickLoad, std::int8_t>(register_bits)
                            : OfRegister<PickLoad, std::uint8_t>(register_bits);
    case 16:
      return IsSigned(type) ? OfRegister<PickLoad, std::int16_t>(register_bits)
                            : OfRegister<PickLoad, std::uint16_t>(register_bits);
    case 32:
      return IsSigned(type) ? OfRegister<PickLoad, std::int32_t>(register_bits)
                            : OfRegister<PickLoad, std::uint32_t>(register_bits);
    case 64:
      return OfRegister<PickLoad, std::uint64_t>(register_bits);
    default:
      return &LoadLanes<Wide, Wide>;
  }
}

Handler StoreOf(Type type, unsigned register_bits) {
  switch (Bits(type)) {
    case 8:
      return OfRegister<PickStore, std::uint8_t>(register_bits);
    case 16:
      return OfRegister<PickStore, std::uint16_t>(register_bits);
    case 32:
      return OfRegister<PickStore, std::uint32_t>(register_bits);
    case 64:
      return OfRegister<PickStore, std::uint64_t>(register_bits);
    default:
      return &StoreLanes<Wide, Wide>;
  }
}

bool IsStrong(Modifier strength) {
  return strength != Modifier::kNone && strength != Modifier::kWeak;
}

unsigned VectorOf(InstructionBuilder& b, Type type) {
  const Modifier vector = b.Of(Category::kVector);
  unsigned count = 1;
  if (vector == Modifier::kV2) count = 2;
  if (vector == Modifier::kV4) count = 4;
  if (vector == Modifier::kV8) count = 8;
  if (Bits(type) * count > 256) b.Fail("a vector has at most 256 bits");
  return count;
}

void TakeAccess(InstructionBuilder& b, Type type) {
  const Modifier strength = b.Of(Category::kStrength);
  if (strength == Modifier::kAcqRel || strength == Modifier::kSc) {
    b.Fail("takes no '.acq_rel' and no '.sc'");
  }
  b.out().strong = IsStrong(strength);
  b.out().vector = static_cast<std::uint8_t>(VectorOf(b, type));
}

void DoNothing(Warp&, const Instruction&, Mask) {}

}  // namespace

Space SpaceOf(Modifier modifier) {
  switch (modifier) {
    case Modifier::kGlobal:
      return Space::kGlobal;
    case Modifier::kShared:
    case Modifier::kSharedCta:
    case Modifier::kSharedCluster:  // clusters have one block
      return Space::kShared;
    case Modifier::kLocal:
      return Space::kLocal;
    case Modifier::kConst:
      return Space::kConst;
    case Modifier::kParam:
    case Modifier::kParamEntry:
    case Modifier::kParamFunc:
      return Space::kParam;
    default:
      return Space::kGeneric;
  }
}

void DecodeLd(InstructionBuilder& b) {
  const Type type = b.LastType();
  if (b.modifiers().type_count() != 1) b.Fail("takes one type");
  TakeAccess(b, type);
  if (b.Of(Category::kStrength) == Modifier::kRelease) b.Fail("takes no '.release'");
  b.Destinations(b.out().vector, type);
  b.Address(SpaceOf(b.Of(Category::kSpace)));
  if (b.Has(Category::kNonCoherent) && b.out().space != Space::kGlobal) {
    b.Fail("'.nc' is for global memory");
  }
  if (b.Has(Category::kCacheHint)) b.Source(Type::kB64);
  b.Execute(LoadOf(type, b.out().register_bits));
}

void DecodeSt(InstructionBuilder& b) {
  const Type type = b.LastType();
  if (b.modifiers().type_count() != 1) b.Fail("takes one type");
  TakeAccess(b, type);
  if (b.Of(Category::kStrength) == Modifier::kAcquire) b.Fail("takes no '.acquire'");
  b.Address(SpaceOf(b.Of(Category::kSpace)));
  if (b.out().space == Space::kConst || b.out().space == Space::kParam) {
    b.Fail("this memory cannot be written");
  }
  b.Sources(b.out().vector, type);
  const Handler store = StoreOf(type, b.out().register_bits2);
  if (b.Has(Category::kCacheHint)) b.Source(Type::kB64);
  b.Execute(store);
}

void DecodePrefetch(InstructionBuilder& b) {
  b.Address(SpaceOf(b.Of(Category::kSpace)));
  b.Execute(&DoNothing);
}

}  // namespace lijit::emulator
