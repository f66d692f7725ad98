// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/race_check.h"

#include <algorithm>

namespace lijit::emulator {
namespace {

constexpr std::uint32_t kMaxInstruction = (1u << 19) - 1;
constexpr std::uint32_t kRestartTime = 1u << 31;

// Both strong, or both reads.
bool Compatible(const AccessRecord& a, const AccessRecord& b) {
  return (a.strong && b.strong) || (!a.wrote && !b.wrote);
}

}  // namespace

void RaceChecker::StartBlock(std::uint64_t shared_bytes, unsigned warps) {
  std::uint32_t latest = *std::max_element(time_.begin(), time_.end());
  if (latest >= kRestartTime) {
    words_.clear();
    bytes_.clear();
    split_.clear();
    latest = 0;
  }
  const std::uint64_t words = (shared_bytes + 3) / 4;
  if (words_.size() < words) {
    words_.resize(words);
    split_.resize(words);
  }
  time_.fill(latest + 1);
  for (unsigned warp = 0; warp < warps; ++warp) {
    clocks_[warp].known.fill(latest);
    clocks_[warp].fenced.fill(latest);
  }
}

void RaceChecker::Release(unsigned warp, VectorClock& met) {
  met.Join(clocks_[warp]);
  met.known[warp] = time_[warp]++;
}

void RaceChecker::Fence(unsigned warp) {
  VectorClock& clock = clocks_[warp];
  clock.fenced = clock.known;
  clock.fenced[warp] = time_[warp]++;
}

std::optional<Race> RaceChecker::Unfenced(std::uint64_t offset, std::uint64_t bytes,
                                          unsigned warp) const {
  const Times& fenced = clocks_[warp].fenced;
  const auto unfenced = [&](const AccessRecord& write) {
    return write.thread != kAsyncThread && write.time > fenced[write.thread / 32];
  };
  for (std::uint64_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    if (split_[word] == 0) {
      if (unfenced(words_[word].write)) return Race{words_[word].write, word * 4};
      continue;
    }
    for (std::uint64_t byte = word * 4; byte < word * 4 + 4; ++byte) {
      if (unfenced(bytes_[byte].write)) return Race{bytes_[byte].write, byte};
    }
  }
  return std::nullopt;
}

void RaceChecker::WriteAsync(std::uint64_t offset, std::uint64_t bytes, std::uint32_t instruction,
                             VectorClock& met) {
  AccessRecord now;
  now.time = time_[kAsyncWarp]++;
  now.thread = kAsyncThread;
  now.wrote = 1;
  now.instruction = std::min(instruction, kMaxInstruction);
  for (std::uint64_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    words_[word] = Cell{now, {}};
    split_[word] = 0;
  }
  met.known[kAsyncWarp] = std::max<std::uint32_t>(met.known[kAsyncWarp], now.time);
}

const AccessRecord* RaceChecker::Conflict(const Cell& cell, const AccessRecord& now) const {
  if (!Compatible(cell.write, now) && !Ordered(cell.write, now)) return &cell.write;
  for (const AccessRecord& other : cell.others) {
    if (!Compatible(other, now) && !Ordered(other, now)) return &other;
  }
  return nullptr;
}

void RaceChecker::Join(Cell& cell, const AccessRecord& now) const {
  auto& [first, second] = cell.others;
  if (Ordered(first, now)) {
    first = now;
    if (Ordered(second, now)) second = AccessRecord{};
  } else if (Ordered(second, now) || first.thread / 32 == second.thread / 32) {
    second = now;
  }
}

void RaceChecker::Record(Cell& cell, const AccessRecord& now) const {
  if (!now.wrote || now.strong) {
    Join(cell, now);
    return;
  }
  // All that came before is ordered before this write, and so before all that follows it.
  cell = Cell{now, {}};
}

const AccessRecord* RaceChecker::AccessCell(Cell& cell, const AccessRecord& now) const {
  const AccessRecord* conflict = Conflict(cell, now);
  if (conflict == nullptr) Record(cell, now);
  return conflict;
}

void RaceChecker::Split(std::uint64_t word) {
  if (bytes_.size() < words_.size() * 4) bytes_.resize(words_.size() * 4);
  for (unsigned i = 0; i < 4; ++i) bytes_[word * 4 + i] = words_[word];
  split_[word] = 1;
}

std::optional<Race> RaceChecker::AccessWord(std::uint64_t word, const AccessRecord& now) {
  if (split_[word] == 0) {
    const AccessRecord* conflict = AccessCell(words_[word], now);
    if (conflict == nullptr) return std::nullopt;
    return Race{*conflict, word * 4};
  }
  for (std::uint64_t byte = word * 4; byte < word * 4 + 4; ++byte) {
    if (const AccessRecord* conflict = AccessCell(bytes_[byte], now)) return Race{*conflict, byte};
  }
  if (now.wrote && !now.strong) {
    words_[word] = bytes_[word * 4];
    split_[word] = 0;
  }
  return std::nullopt;
}

std::optional<Race> RaceChecker::Access(std::uint64_t offset, std::uint64_t bytes, AccessKind kind,
                                        unsigned thread, std::uint32_t instruction) {
  AccessRecord now;
  now.time = time_[thread / 32];
  now.thread = thread & 2047;
  now.strong = kind == AccessKind::kStrongRead || kind == AccessKind::kStrongWrite;
  now.wrote = kind == AccessKind::kWrite || kind == AccessKind::kStrongWrite;
  now.instruction = std::min(instruction, kMaxInstruction);
  if (bytes >= 4) {
    for (std::uint64_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
      if (std::optional<Race> race = AccessWord(word, now)) return race;
    }
    return std::nullopt;
  }
  if (split_[offset / 4] == 0) Split(offset / 4);
  for (std::uint64_t byte = offset; byte < offset + bytes; ++byte) {
    if (const AccessRecord* conflict = AccessCell(bytes_[byte], now)) return Race{*conflict, byte};
  }
  return std::nullopt;
}

}  // namespace lijit::emulator
