// SPDX-License-Identifier: Apache-2.0
// How the matrices of mma.sync lie in the registers of a warp (PTX ISA, "Matrix Fragments for
// mma.m16n8k16" and so on). The shapes m16n8kK are all alike: in groups of four lanes, a 32-bit
// register holds a block of 8 rows of 128 bits, row by row, each row in four lanes. A (16 x K, by
// rows) is blocks {top left, bottom left, top right, bottom right}; B (K x 8, by columns, so that
// a "row" is a column of B) is its blocks from left to right; C and D (16 x 8, 32 bits) have two
// neighbouring columns in registers 0 and 1 and the same of the lower half in registers 2 and 3.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "runtime/emulator/float_formats.h"
#include "runtime/emulator/warp.h"

namespace lijit::emulator {

static_assert(std::endian::native == std::endian::little);

inline constexpr unsigned kMmaRows = 16;
inline constexpr unsigned kMmaColumns = 8;
inline constexpr unsigned kBlockRows = 8;
inline constexpr unsigned kBlockRowBits = 128;

// Wraps, or clamps.
inline std::uint32_t AddInteger(std::uint32_t c, std::int32_t dot, bool satfinite) {
  if (!satfinite) return c + static_cast<std::uint32_t>(dot);
  const std::int64_t sum = std::int64_t{static_cast<std::int32_t>(c)} + dot;
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::uint32_t>(
      std::clamp(sum, std::int64_t{Limits::min()}, std::int64_t{Limits::max()}));
}

// Elements of A and B.
struct S8Element {
  using Code = std::int8_t;
  static constexpr bool kIsFloat = false;
  static constexpr Type kType = Type::kS8;
  static constexpr unsigned kBits = 8;
  static std::int16_t Decode(Code code) { return code; }
};

struct U8Element {
  using Code = std::uint8_t;
  static constexpr bool kIsFloat = false;
  static constexpr Type kType = Type::kU8;
  static constexpr unsigned kBits = 8;
  static std::int16_t Decode(Code code) { return code; }
};

template <Type kElementType, FloatFormat kFormat, typename CodeType>
struct FloatElement {
  using Code = CodeType;
  static constexpr bool kIsFloat = true;
  static constexpr FloatFormat kCodes = kFormat;
  static constexpr Type kType = kElementType;
  static constexpr unsigned kBits = 1 + kFormat.exponent_bits + kFormat.mantissa_bits;
  static constexpr int kMantissaBits = kFormat.mantissa_bits;
  // DecodeFloat without branches, for loops over many codes.
  static float Decode(std::uint32_t code) {
    constexpr std::uint32_t kFirstSpecial = kFormat.max_finite + (kFormat.has_infinity ? 1 : 0);
    constexpr auto kScale = std::bit_cast<float>((254u - kFormat.bias) << 23);
    const std::uint32_t magnitude = code & (kFormat.sign_bit() - 1);
    const float value = std::bit_cast<float>(magnitude << (23 - kFormat.mantissa_bits)) * kScale;
    const std::uint32_t special = 0x7f800000u | (magnitude - kFirstSpecial) << 16;
    const std::uint32_t bits =
        magnitude > kFormat.max_finite ? special : std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>(bits | (code & kFormat.sign_bit()) << (32 - kBits));
  }
};
using F16Element = FloatElement<Type::kF16, kF16Format, std::uint16_t>;
using Bf16Element = FloatElement<Type::kBf16, kBf16Format, std::uint16_t>;
using E4m3Element = FloatElement<Type::kE4m3, kE4m3Format, std::uint8_t>;
using E5m2Element = FloatElement<Type::kE5m2, kE5m2Format, std::uint8_t>;
using E2m1Element = FloatElement<Type::kE2m1, kE2m1Format, std::uint8_t>;  // two in a byte

// One row of a block.
template <typename Element, typename T>
void DecodeBlockRow(const std::uint32_t* words, T* row) {
  constexpr unsigned kColumns = kBlockRowBits / Element::kBits;
  typename Element::Code codes[kColumns];
  if constexpr (Element::kBits == 4) {
    for (unsigned i = 0; i < kColumns; ++i) codes[i] = words[i / 8] >> i % 8 * 4 & 0xf;
  } else {
    std::memcpy(codes, words, sizeof codes);
  }
  for (unsigned i = 0; i < kColumns; ++i) row[i] = Element::Decode(codes[i]);
}

// Where the fragments stand among the operands: D, A, B, C, and what follows them.
struct MmaPlaces {
  unsigned a;
  unsigned b;
  unsigned c;
  unsigned end;
};

template <typename Element, unsigned K>
constexpr MmaPlaces PlacesOf() {
  constexpr unsigned kRegistersOfB = K * Element::kBits / kBlockRowBits;
  return {4, 4 + 2 * kRegistersOfB, 4 + 3 * kRegistersOfB, 8 + 3 * kRegistersOfB};
}

// The A matrix, from the operands that begin with `first`.
template <typename Element, typename T, unsigned K>
void ReadA(const Warp& warp, const Instruction& in, unsigned first, T (&a)[kMmaRows][K]) {
  constexpr unsigned kBlockColumns = kBlockRowBits / Element::kBits;
  for (unsigned i = 0; i < 2 * K / kBlockColumns; ++i) {
    const auto* lanes = warp.In<std::uint32_t>(in, first + i);
    for (unsigned row = 0; row < kBlockRows; ++row) {
      DecodeBlockRow<Element>(lanes + std::size_t{4} * row,
                              &a[row + i % 2 * kBlockRows][i / 2 * kBlockColumns]);
    }
  }
}

// The B matrix, by columns.
template <typename Element, typename T, unsigned K>
void ReadB(const Warp& warp, const Instruction& in, unsigned first, T (&b)[kMmaColumns][K]) {
  constexpr unsigned kBlockColumns = kBlockRowBits / Element::kBits;
  for (unsigned i = 0; i < K / kBlockColumns; ++i) {
    const auto* lanes = warp.In<std::uint32_t>(in, first + i);
    for (unsigned column = 0; column < kMmaColumns; ++column) {
      DecodeBlockRow<Element>(lanes + std::size_t{4} * column, &b[column][i * kBlockColumns]);
    }
  }
}

using MmaSums = std::uint32_t[kMmaRows][kMmaColumns];

inline void ReadC(const Warp& warp, const Instruction& in, unsigned first, MmaSums& c) {
  for (unsigned i = 0; i < 4; ++i) {
    const auto* lanes = warp.In<std::uint32_t>(in, first + i);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      c[lane / 4 + i / 2 * kBlockRows][lane % 4 * 2 + i % 2] = lanes[lane];
    }
  }
}

inline void WriteD(Warp& warp, const Instruction& in, const MmaSums& d) {
  for (unsigned i = 0; i < 4; ++i) {
    auto* lanes = warp.Out<std::uint32_t>(in, i);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      lanes[lane] = d[lane / 4 + i / 2 * kBlockRows][lane % 4 * 2 + i % 2];
    }
  }
}

}  // namespace lijit::emulator
