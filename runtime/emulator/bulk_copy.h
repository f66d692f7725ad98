// SPDX-License-Identifier: Apache-2.0
// Copies by cp.async.bulk that threads of a block have begun and not waited for.
//
// To shared memory: the bytes move as late as they may, when a thread waits for a phase of the
// copy's mbarrier that lacks nothing else. Until then the destination belongs to nobody.
// From shared memory: the bytes are taken when the copy begins and stored when its group is waited
// for, or at the end of the block. Until a wait, with .read or without, nobody may write the
// source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/emulator/initialized_bits.h"

namespace lijit::emulator {

struct BulkLoad {
  std::uint64_t offset = 0;  // in shared memory
  std::uint32_t bytes = 0;   // a multiple of 16
  std::uint32_t instruction = 0;
  unsigned thread = 0;
  std::uint64_t mbarrier = 0;         // in shared memory
  const std::byte* source = nullptr;  // in the host's memory
};

struct BulkStore {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t instruction = 0;
  unsigned thread = 0;
  std::uint64_t group = 0;
  bool source_is_free = false;
  std::byte* destination = nullptr;
  InitializedBits initialized;  // of the destination's allocation
  std::uint64_t place = 0;      // of the destination there
  std::vector<std::byte> data;
};

class BulkCopies {
 public:
  static constexpr std::size_t kMaxStores = 4096;  // pending in a block

  // Forgets what an earlier block left.
  void StartBlock(std::uint64_t shared_bytes, unsigned threads);

  // Whether an access to these bytes is in the way of a copy.
  bool Overlaps(std::uint64_t offset, std::uint64_t bytes, bool writes) const {
    if (loads_.empty() && stores_.empty()) return false;
    for (std::uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
      if (owned_[word] != 0 || (writes && readers_[word] != 0)) return true;
    }
    return false;
  }
  struct Pending {
    unsigned thread;
    std::uint32_t instruction;
  };
  // A copy that such an access is in the way of, or, without bytes, any that still holds shared
  // memory.
  std::optional<Pending> Find(std::uint64_t offset, std::uint64_t bytes, bool writes) const;
  std::optional<Pending> Any() const;

  // Whether a copy is to complete at the mbarrier at this offset.
  bool Uses(std::uint64_t mbarrier) const;
  void BeginLoad(const BulkLoad& load);
  // The first load of an mbarrier, which is over.
  std::optional<BulkLoad> TakeLoad(std::uint64_t mbarrier);

  bool HasRoomForStore() const { return stores_.size() < kMaxStores; }
  // Into the thread's group that is open.
  void BeginStore(BulkStore store);
  void Commit(unsigned thread) { ++open_groups_[thread]; }
  // Ends the stores of all groups of the thread but the last `groups` closed ones and the open one;
  // with `only_read` they still have to be written.
  void Wait(unsigned thread, std::uint64_t groups, bool only_read);
  // Writes all that was not waited for.
  void FinishStores();

 private:
  void FreeSource(BulkStore& store);

  std::vector<BulkLoad> loads_;  // in the order in which they began
  std::vector<BulkStore> stores_;
  std::vector<std::uint64_t> open_groups_;  // of each thread
  std::vector<std::uint8_t> owned_;         // by a load, each word
  std::vector<std::uint16_t> readers_;      // stores, of each word
};

}  // namespace lijit::emulator
