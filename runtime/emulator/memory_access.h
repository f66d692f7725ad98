// SPDX-License-Identifier: Apache-2.0
// From an address of a thread to the memory of the host, with all checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/emulator/program.h"
#include "runtime/emulator/warp.h"

namespace lijit::emulator {

struct AccessMode {
  bool reads = false;
  bool writes = false;
  bool strong = false;    // may meet other strong accesses without a race
  bool later = false;     // the bytes are written later (cp.async): none is initialized yet
  bool proxy = false;     // by the asynchronous proxy: what threads wrote must have been fenced
  bool mbarrier = false;  // by an mbarrier instruction
  std::uint32_t alignment = 0;  // 0: as many as the bytes
};
inline constexpr AccessMode kPlainRead{true, false, false};
inline constexpr AccessMode kPlainWrite{false, true, false};
inline constexpr AccessMode kAtomicUpdate{true, true, true};

// Where the lane's access of `bytes` in `space` goes: a power of two up to 32, or, with an
// alignment of 16 in the mode, any multiple of 16. A write marks the bytes as initialized. Null
// after a finding: out of bounds, misaligned, uninitialized, a race, in the way of an asynchronous
// copy, on an mbarrier, or without a fence.
std::byte* ResolveIn(Space space, Warp& warp, const Instruction& in, unsigned lane,
                     std::uint64_t address, std::uint64_t bytes, AccessMode mode);

inline bool IsAligned(std::uint64_t address, std::uint64_t bytes) {
  return (address & (bytes - 1)) == 0;
}

// The same in the instruction's space, with a short way for global memory.
inline std::byte* Resolve(Warp& warp, const Instruction& in, unsigned lane, std::uint64_t address,
                          std::uint64_t bytes, AccessMode mode) {
  const Allocation* allocation = warp.cached_allocation;
  if (in.space <= Space::kGlobal && allocation != nullptr && IsAligned(address, bytes) &&
      allocation->Contains(address, bytes)) {
    const std::uint64_t offset = address - allocation->address;
    const bool readable =
        allocation->always_initialized || allocation->initialized.Covers(offset, bytes);
    if (readable || !mode.reads) {
      if (mode.writes && !readable) allocation->initialized.Mark(offset, bytes);
      return allocation->data + offset;
    }
  }
  return ResolveIn(in.space, warp, in, lane, address, bytes, mode);
}

// The offset in shared memory of an address in `space`, shared or generic; none if it is elsewhere.
inline std::optional<std::uint64_t> SharedOffset(Space space, std::uint64_t address) {
  if (space == Space::kShared) return address;
  if (address < kSharedWindow || address - kSharedWindow >= kWindowBytes) return std::nullopt;
  return address - kSharedWindow;
}

// The address that the lane's operand `i` and the instruction's offset give.
inline std::uint64_t AddressOf(const Warp& warp, const Instruction& in, unsigned i, unsigned lane) {
  if (in.address_is_32) {
    const std::uint32_t base = warp.In<std::uint32_t>(in, i)[lane];
    return static_cast<std::uint32_t>(base + static_cast<std::uint64_t>(in.immediate));
  }
  return warp.In<std::uint64_t>(in, i)[lane] + static_cast<std::uint64_t>(in.immediate);
}

}  // namespace lijit::emulator
