// SPDX-License-Identifier: Apache-2.0
// Registers of any width as 64-bit lanes, for instructions whose operands vary in width.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/emulator/lanes.h"

namespace lijit::emulator {

using WideLanes = std::array<std::uint64_t, kWarpSize>;

// Operand `i`, zero-extended from `bits` (8 to 64).
inline void ReadLanes(Warp& warp, const Instruction& in, unsigned i, unsigned bits,
                      WideLanes& lanes) {
  const auto read = [&]<typename T>(const T* source) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) lanes[lane] = source[lane];
  };
  if (bits == 8) return read(warp.In<std::uint8_t>(in, i));
  if (bits == 16) return read(warp.In<std::uint16_t>(in, i));
  if (bits == 32) return read(warp.In<std::uint32_t>(in, i));
  read(warp.In<std::uint64_t>(in, i));
}

// Destination `i`: the low `bits` of each active lane.
inline void WriteLanes(Warp& warp, const Instruction& in, unsigned i, unsigned bits, Mask mask,
                       const WideLanes& lanes) {
  const auto write = [&]<typename T>(T* destination) {
    ForLanes(mask, [&](unsigned lane) { destination[lane] = static_cast<T>(lanes[lane]); });
  };
  if (bits == 8) return write(warp.Out<std::uint8_t>(in, i));
  if (bits == 16) return write(warp.Out<std::uint16_t>(in, i));
  if (bits == 32) return write(warp.Out<std::uint32_t>(in, i));
  write(warp.Out<std::uint64_t>(in, i));
}

}  // namespace lijit::emulator
