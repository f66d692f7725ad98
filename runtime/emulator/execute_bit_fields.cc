// SPDX-License-Identifier: Apache-2.0
// Bit fields and bytes: bfe, bfi, bmsk, szext, prmt.
#include <algorithm>
#include <array>
#include <limits>

#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"

namespace lijit::emulator {
namespace {

template <typename T>
constexpr unsigned kBitsOf = std::numeric_limits<T>::digits;

template <typename T>
T LowBits(unsigned count) {
  return count >= kBitsOf<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
}

// Position and length are the low bytes of b and c; bits past the end are copies of the sign bit.
template <typename T, bool kSigned>
void ExtractField(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const auto* positions = warp.In<std::uint32_t>(in, 2);
  const auto* lengths = warp.In<std::uint32_t>(in, 3);
  ForLanes(mask, [=](unsigned lane) {
    const unsigned position = positions[lane] & 0xff;
    const unsigned length = lengths[lane] & 0xff;
    const unsigned last = std::min(position + length - (length != 0), kBitsOf<T> - 1);
    const bool sign = kSigned && length != 0 && (a[lane] >> last & 1) != 0;
    const unsigned valid = position >= kBitsOf<T> ? 0 : std::min(length, kBitsOf<T> - position);
    const T field = valid == 0 ? T{0} : static_cast<T>(a[lane] >> position & LowBits<T>(valid));
    d[lane] = sign ? static_cast<T>(field | ~LowBits<T>(valid)) : field;
  });
}

template <typename T>
void InsertField(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* into = warp.In<T>(in, 2);
  const auto* positions = warp.In<std::uint32_t>(in, 3);
  const auto* lengths = warp.In<std::uint32_t>(in, 4);
  ForLanes(mask, [=](unsigned lane) {
    const unsigned position = positions[lane] & 0xff;
    const T field = LowBits<T>(lengths[lane] & 0xff);
    if (position >= kBitsOf<T>) {
      d[lane] = into[lane];
    } else {
      const auto place = static_cast<T>(field << position);
      d[lane] = static_cast<T>((into[lane] & ~place) | (a[lane] << position & place));
    }
  });
}

// A mask of `length` ones from `position`.
template <bool kClamp>
struct BitMask {
  static std::uint32_t Apply(std::uint32_t position, std::uint32_t length) {
    if (!kClamp) {
      position &= 31;
      length &= 31;
    }
    return position >= 32 ? 0 : LowBits<std::uint32_t>(length) << position;
  }
};

// Extends the low `bits` bits of a with zeros or the sign.
template <bool kSigned, bool kClamp>
struct ExtendField {
  static std::uint32_t Apply(std::uint32_t a, std::uint32_t bits) {
    if (!kClamp) bits &= 31;
    if (bits >= 32) return a;
    if (bits == 0) return 0;
    const std::uint32_t low = a & LowBits<std::uint32_t>(bits);
    const bool sign = kSigned && (low >> (bits - 1) & 1) != 0;
    return sign ? low | ~LowBits<std::uint32_t>(bits) : low;
  }
};

// Selectors of prmt's special modes: four nibbles for each value of the low two bits of c.
std::uint32_t PermuteSelector(Modifier mode, std::uint32_t c) {
  using Selectors = std::array<std::uint16_t, 4>;
  constexpr Selectors kForward{0x3210, 0x4321, 0x5432, 0x6543};
  constexpr Selectors kBackward{0x5670, 0x6701, 0x7012, 0x0123};
  constexpr Selectors kReplicate8{0x0000, 0x1111, 0x2222, 0x3333};
  constexpr Selectors kClampLeft{0x3210, 0x3211, 0x3222, 0x3333};
  constexpr Selectors kClampRight{0x0000, 0x1110, 0x2210, 0x3210};
  constexpr Selectors kReplicate16{0x1010, 0x3232, 0x1010, 0x3232};
  switch (mode) {
    case Modifier::kF4e:
      return kForward[c & 3];
    case Modifier::kB4e:
      return kBackward[c & 3];
    case Modifier::kRc8:
      return kReplicate8[c & 3];
    case Modifier::kEcl:
      return kClampLeft[c & 3];
    case Modifier::kEcr:
      return kClampRight[c & 3];
    case Modifier::kRc16:
      return kReplicate16[c & 3];
    default:
      return c;
  }
}

std::uint32_t PermuteBytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t nibble = selector >> (4 * i) & 0xf;
    auto byte = static_cast<std::uint32_t>(bytes >> (8 * (nibble & 7)) & 0xff);
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;  // the sign, in all bits
    result |= byte << (8 * i);
  }
  return result;
}

struct Permute {
  static std::uint32_t Apply(const Instruction& in, std::uint32_t a, std::uint32_t b,
                             std::uint32_t c) {
    return PermuteBytes(a, b, PermuteSelector(in.operation, c));
  }
};

}  // namespace

void DecodeBfe(InstructionBuilder& b) {
  const Type type = b.LastType();
  b.Destination(type);
  b.Source(type);
  b.Source(Type::kB32);
  b.Source(Type::kB32);
  if (Bits(type) == 32) {
    b.Execute(IsSigned(type) ? &ExtractField<std::uint32_t, true>
                             : &ExtractField<std::uint32_t, false>);
  } else {
    b.Execute(IsSigned(type) ? &ExtractField<std::uint64_t, true>
                             : &ExtractField<std::uint64_t, false>);
  }
}

void DecodeBfi(InstructionBuilder& b) {
  const Type type = b.LastType();
  b.Destination(type);
  b.Source(type);
  b.Source(type);
  b.Source(Type::kB32);
  b.Source(Type::kB32);
  b.Execute(Bits(type) == 32 ? &InsertField<std::uint32_t> : &InsertField<std::uint64_t>);
}

void DecodeBmsk(InstructionBuilder& b) {
  if (!b.Has(Category::kWrap)) b.Fail("needs .clamp or .wrap");
  for (int i = 0; i < 3; ++i) i == 0 ? b.Destination(Type::kB32) : b.Source(Type::kB32);
  b.Execute(b.Of(Category::kWrap) == Modifier::kClamp ? &Binary<std::uint32_t, BitMask<true>>
                                                      : &Binary<std::uint32_t, BitMask<false>>);
}

void DecodeSzext(InstructionBuilder& b) {
  if (!b.Has(Category::kWrap)) b.Fail("needs .clamp or .wrap");
  const bool clamp = b.Of(Category::kWrap) == Modifier::kClamp;
  for (int i = 0; i < 3; ++i) i == 0 ? b.Destination(Type::kB32) : b.Source(Type::kB32);
  if (IsSigned(b.LastType())) {
    b.Execute(clamp ? &Binary<std::uint32_t, ExtendField<true, true>>
                    : &Binary<std::uint32_t, ExtendField<true, false>>);
  } else {
    b.Execute(clamp ? &Binary<std::uint32_t, ExtendField<false, true>>
                    : &Binary<std::uint32_t, ExtendField<false, false>>);
  }
}

void DecodePrmt(InstructionBuilder& b) {
  b.out().operation = b.Of(Category::kPermute);
  for (int i = 0; i < 4; ++i) i == 0 ? b.Destination(Type::kB32) : b.Source(Type::kB32);
  b.Execute(&TernaryWith<std::uint32_t, Permute>);
}

}  // namespace lijit::emulator
