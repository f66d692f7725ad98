// SPDX-License-Identifier: Apache-2.0
// The mbarrier objects of a block (PTX ISA, "mbarrier"): phases that complete when the pending
// arrivals and the pending bytes are both zero. An object is opaque while it lives: its 8 bytes can
// be accessed by mbarrier instructions only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/emulator/race_check.h"

namespace lijit::emulator {

inline constexpr std::uint64_t kMbarrierBytes = 8;

class Mbarrier {
 public:
  static constexpr std::uint32_t kMaxCount = (1u << 20) - 1;  // of arrivals and of bytes

  std::uint64_t phase() const { return phase_; }
  std::uint32_t pending() const { return pending_; }
  std::int64_t bytes() const { return bytes_; }
  // What mbarrier.arrive gives for the phase before the arrival: the phase, and its pending count.
  std::uint64_t State() const { return phase_ << 20 | pending_; }
  static std::uint64_t PhaseOf(std::uint64_t state) { return state >> 20; }
  static std::uint32_t PendingOf(std::uint64_t state) { return state & kMaxCount; }
  bool HasParityCompleted(bool parity) const { return (phase_ & 1) != (parity ? 1u : 0u); }

  // Each returns what is wrong, as a phrase about the thread, or "".
  std::string Init(std::uint32_t count);
  // `drops` lessens the arrivals that later phases expect, too.
  std::string Arrive(std::uint32_t count, bool drops);
  std::string ExpectBytes(std::uint32_t bytes);
  std::string CompleteBytes(std::uint32_t bytes);

  // Who waits for a phase knows what its arrivals knew.
  VectorClock met;        // of the current phase
  VectorClock completed;  // of all earlier ones
  // Whether asynchronous copies see the object: after fence.mbarrier_init or fence.proxy.async.
  bool fenced = false;

 private:
  void CompleteIfReady();

  std::uint64_t phase_ = 0;
  std::uint32_t expected_ = 0;
  std::uint32_t pending_ = 0;
  std::int64_t bytes_ = 0;
};

class Mbarriers {
 public:
  void StartBlock(std::uint64_t shared_bytes);

  // Whether these bytes belong to an object that is alive.
  bool Overlaps(std::uint64_t offset, std::uint64_t bytes) const {
    if (alive_ == 0) return false;
    for (std::uint64_t i = offset / kMbarrierBytes; i <= (offset + bytes - 1) / kMbarrierBytes; ++i)
      if (places_[i] != 0) return true;
    return false;
  }
  // The object at a multiple of 8, or null.
  Mbarrier* Find(std::uint64_t offset) {
    const std::uint32_t place = places_[offset / kMbarrierBytes];
    return place == 0 ? nullptr : &barriers_[place - 1];
  }
  Mbarrier& Create(std::uint64_t offset);
  void Destroy(std::uint64_t offset);
  // Asynchronous copies see all that there are.
  void Fence() {
    for (Mbarrier& barrier : barriers_) barrier.fenced = true;
  }

 private:
  std::vector<std::uint32_t> places_;  // of each 8 bytes: index into barriers_ + 1, or 0
  std::vector<Mbarrier> barriers_;
  std::vector<std::uint32_t> free_;  // places of objects that were destroyed
  std::size_t alive_ = 0;
};

}  // namespace lijit::emulator
