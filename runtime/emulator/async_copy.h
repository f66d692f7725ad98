// SPDX-License-Identifier: Apache-2.0
// Copies to shared memory that threads of a block have begun (cp.async) and not waited for.
//
// The bytes are taken when a copy begins and stored when its thread waits for it. In between they
// belong to nobody: any access to the destination, by any thread, is a finding. A thread that exits
// without waiting leaves its copies pending.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lijit::emulator {

struct AsyncCopy {
  std::uint64_t offset = 0;       // in shared memory, a multiple of `bytes`
  std::uint32_t bytes = 0;        // 4, 8 or 16
  std::uint32_t instruction = 0;  // index into Kernel::code
  std::uint64_t group = 0;
  std::array<std::uint8_t, 16> data{};
};

class AsyncCopies {
 public:
  // Forgets what an earlier block left.
  void StartBlock(std::uint64_t shared_bytes, unsigned threads);

  struct Pending {
    unsigned thread;
    std::uint32_t instruction;
  };
  // Whether a pending copy overlaps these bytes; if so, one that does.
  bool Overlaps(std::uint64_t offset, std::uint64_t bytes) const {
    if (pending_ == 0) return false;
    for (std::uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
      if (owners_[word] != 0) return true;
    }
    return false;
  }
  Pending Find(std::uint64_t offset, std::uint64_t bytes) const;

  // A copy that overlaps none, into the thread's group that is open.
  void Begin(unsigned thread, const AsyncCopy& copy);
  // Closes the thread's open group, which may be empty.
  void Commit(unsigned thread) { ++threads_[thread].open_group; }
  // Ends the copies of all groups of the thread but the last `groups` closed ones and the open one.
  // Calls store(copy) for each, in their order.
  template <typename F>
  void Wait(unsigned thread, std::uint64_t groups, F store) {
    Thread& state = threads_[thread];
    if (groups >= state.open_group) return;
    const std::uint64_t end = state.open_group - groups;
    std::size_t done = 0;
    for (; done < state.copies.size() && state.copies[done].group < end; ++done) {
      Release(state.copies[done]);
      store(state.copies[done]);
    }
    const auto first = state.copies.begin();
    state.copies.erase(first, first + static_cast<std::ptrdiff_t>(done));
  }

 private:
  struct Thread {
    std::uint64_t open_group = 0;
    std::vector<AsyncCopy> copies;  // pending, in the order in which they began
  };

  void Release(const AsyncCopy& copy);

  std::vector<Thread> threads_;
  std::vector<std::uint16_t> owners_;  // of each word: the thread + 1, or 0
  std::uint64_t pending_ = 0;
};

}  // namespace lijit::emulator
