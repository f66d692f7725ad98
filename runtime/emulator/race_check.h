// SPDX-License-Identifier: Apache-2.0
// Finds races in shared memory: two accesses to one byte by different threads of a block, at least
// one of them a write, with no barrier between them.
//
// Order is kept by vector clocks, one entry a warp. A warp's accesses carry its current time. A
// synchronization inside the warp (bar.warp.sync, shfl.sync, vote.sync...) starts its next time; a
// barrier also tells all its warps each other's times. An access is ordered after an earlier one
// when its warp knows the time of the earlier one. Copies by the asynchronous proxy count as those
// of one more warp, which an mbarrier's phase makes known. Atomics, and volatile, relaxed, acquire
// and release accesses ("strong"), do not race among themselves, but they do not order others
// either: a flag polled in shared memory is no barrier here.
//
// The same clocks follow fence.proxy.async: what a warp knows to be fenced is what its fences found
// known, and what it learned of others' fences at barriers. An asynchronous read of bytes whose
// last write is known but not fenced is a mistake, too (PTX ISA, "Async proxy").
//
// A release or an acquire by some lanes of a warp counts as one by all of them. Of the concurrent
// readers of a byte only two are kept, from different warps where possible: a
// race with a third that the kept ones do not show can go unseen. Nothing that is reported is in
// order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace lijit::emulator {

inline constexpr unsigned kMaxWarps = 32;
inline constexpr unsigned kAsyncWarp = kMaxWarps;  // asynchronous copies
inline constexpr unsigned kAsyncThread = kAsyncWarp * 32;
inline constexpr unsigned kClocks = kMaxWarps + 1;

enum class AccessKind : std::uint8_t { kRead, kWrite, kStrongRead, kStrongWrite };

// One earlier access, packed so that a record costs 8 bytes. Time 0 means none.
struct AccessRecord {
  std::uint32_t time = 0;
  std::uint32_t thread : 11 = 0;
  std::uint32_t strong : 1 = 0;
  std::uint32_t wrote : 1 = 0;
  std::uint32_t instruction : 19 = 0;  // index into Kernel::code, the largest for all beyond
};

struct Race {
  AccessRecord earlier;
  std::uint64_t offset = 0;  // of the first byte or word in conflict
};

using Times = std::array<std::uint32_t, kClocks>;

// What a warp, or a barrier, knows: for each warp the time up to which its accesses are in order,
// and the time up to which the asynchronous proxy sees them.
struct VectorClock {
  Times known{};
  Times fenced{};

  void Join(const VectorClock& other) {
    for (unsigned i = 0; i < kClocks; ++i) known[i] = std::max(known[i], other.known[i]);
    for (unsigned i = 0; i < kClocks; ++i) fenced[i] = std::max(fenced[i], other.fenced[i]);
  }
};

class RaceChecker {
 public:
  // Starts a block. What earlier blocks left is older than all that follows.
  void StartBlock(std::uint64_t shared_bytes, unsigned warps);

  // Records an access, and returns the earlier access that it races with, if any.
  std::optional<Race> Access(std::uint64_t offset, std::uint64_t bytes, AccessKind kind,
                             unsigned thread, std::uint32_t instruction);

  // The threads of a warp have met.
  void SynchronizeWarp(unsigned warp) { clocks_[warp].known[warp] = time_[warp]++; }
  // A warp arrives at a barrier: `met` gathers what its warps know.
  void Arrive(unsigned warp, VectorClock& met) {
    Release(warp, met);
    clocks_[warp].known[warp] = time_[warp] - 1;
  }
  // The same by some of its threads: it orders nothing among those of the warp.
  void Release(unsigned warp, VectorClock& met);
  // A warp leaves a completed barrier.
  void Leave(unsigned warp, const VectorClock& met) { clocks_[warp].Join(met); }

  // The warp executes fence.proxy.async.
  void Fence(unsigned warp);
  // The last write to these bytes (a multiple of 4, as the offset) if it is a thread's and the warp
  // does not know of a fence after it.
  std::optional<Race> Unfenced(std::uint64_t offset, std::uint64_t bytes, unsigned warp) const;
  // An asynchronous copy has written these bytes (multiples of 4): who knows `met` sees them.
  void WriteAsync(std::uint64_t offset, std::uint64_t bytes, std::uint32_t instruction,
                  VectorClock& met);

 private:
  // A word, or one byte of a word that was accessed in parts.
  struct Cell {
    AccessRecord write;  // the last plain write
    // Concurrent reads, or strong accesses, since then.
    std::array<AccessRecord, 2> others;
  };

  bool Ordered(const AccessRecord& earlier, const AccessRecord& now) const {
    return earlier.thread == now.thread ||
           earlier.time <= clocks_[now.thread / 32].known[earlier.thread / 32];
  }
  const AccessRecord* Conflict(const Cell& cell, const AccessRecord& now) const;
  void Record(Cell& cell, const AccessRecord& now) const;
  void Join(Cell& cell, const AccessRecord& now) const;
  const AccessRecord* AccessCell(Cell& cell, const AccessRecord& now) const;
  std::optional<Race> AccessWord(std::uint64_t word, const AccessRecord& now);
  void Split(std::uint64_t word);

  std::vector<Cell> words_;
  std::vector<Cell> bytes_;          // as many as needed once a word is split
  std::vector<std::uint8_t> split_;  // a word whose bytes have their own cells
  std::array<VectorClock, kMaxWarps> clocks_{};
  Times time_{};
};

}  // namespace lijit::emulator
