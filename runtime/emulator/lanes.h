// SPDX-License-Identifier: Apache-2.0
// Loops over the lanes of a warp, and handlers for operations that act on each lane alone.
//
// An operation is a struct with a static function Apply on unsigned integers of the register's
// width. Lanes never overlap between registers, so the loop over a full warp may be vectorized.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/emulator/program.h"
#include "runtime/emulator/warp.h"

#if defined(__GNUC__) && !defined(__clang__)
#define LIJIT_INDEPENDENT_LANES _Pragma("GCC ivdep")
#else
#define LIJIT_INDEPENDENT_LANES  // clang's hint is a demand: where it cannot be met, it warns
#endif

namespace lijit::emulator {

template <typename F>
inline void ForLanes(Mask mask, F f) {
  if (mask == kFullMask) {
    LIJIT_INDEPENDENT_LANES
    for (unsigned lane = 0; lane < kWarpSize; ++lane) f(lane);
    return;
  }
  for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

template <typename T, typename Op>
void Unary(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  ForLanes(mask, [=](unsigned lane) { d[lane] = Op::Apply(a[lane]); });
}

template <typename T, typename Op>
void Binary(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* b = warp.In<T>(in, 2);
  ForLanes(mask, [=](unsigned lane) { d[lane] = Op::Apply(a[lane], b[lane]); });
}

template <typename T, typename Op>
void Ternary(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* b = warp.In<T>(in, 2);
  const T* c = warp.In<T>(in, 3);
  ForLanes(mask, [=](unsigned lane) { d[lane] = Op::Apply(a[lane], b[lane], c[lane]); });
}

// The same for operations that look at the instruction (rounding, saturation...).
template <typename T, typename Op>
void UnaryWith(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  ForLanes(mask, [&](unsigned lane) { d[lane] = Op::Apply(in, a[lane]); });
}

template <typename T, typename Op>
void BinaryWith(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* b = warp.In<T>(in, 2);
  ForLanes(mask, [&](unsigned lane) { d[lane] = Op::Apply(in, a[lane], b[lane]); });
}

template <typename T, typename Op>
void TernaryWith(Warp& warp, const Instruction& in, Mask mask) {
  T* d = warp.Out<T>(in, 0);
  const T* a = warp.In<T>(in, 1);
  const T* b = warp.In<T>(in, 2);
  const T* c = warp.In<T>(in, 3);
  ForLanes(mask, [&](unsigned lane) { d[lane] = Op::Apply(in, a[lane], b[lane], c[lane]); });
}

// The handler for the width of a type.
template <typename Op>
Handler UnaryOf(Type type) {
  if (Bits(type) == 16) return &Unary<std::uint16_t, Op>;
  if (Bits(type) == 32) return &Unary<std::uint32_t, Op>;
  return &Unary<std::uint64_t, Op>;
}

template <typename Op>
Handler BinaryOf(Type type) {
  if (Bits(type) == 16) return &Binary<std::uint16_t, Op>;
  if (Bits(type) == 32) return &Binary<std::uint32_t, Op>;
  return &Binary<std::uint64_t, Op>;
}

template <typename Op>
Handler TernaryOf(Type type) {
  if (Bits(type) == 16) return &Ternary<std::uint16_t, Op>;
  if (Bits(type) == 32) return &Ternary<std::uint32_t, Op>;
  return &Ternary<std::uint64_t, Op>;
}

}  // namespace lijit::emulator
