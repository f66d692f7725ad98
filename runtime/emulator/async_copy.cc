// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/async_copy.h"

#include <algorithm>

namespace lijit::emulator {

void AsyncCopies::StartBlock(std::uint64_t shared_bytes, unsigned threads) {
  if (pending_ != 0) owners_.clear();
  owners_.resize((shared_bytes + 3) / 4);
  pending_ = 0;
  threads_.resize(threads);
  for (Thread& thread : threads_) {
    thread.open_group = 0;
    thread.copies.clear();
  }
}

AsyncCopies::Pending AsyncCopies::Find(std::uint64_t offset, std::uint64_t bytes) const {
  std::uint64_t word = offset / 4;
  while (owners_[word] == 0 && word < (offset + bytes - 1) / 4) ++word;
  const unsigned thread = owners_[word] - 1u;
  const auto& copies = threads_[thread].copies;
  const auto copy = std::find_if(copies.begin(), copies.end(), [&](const AsyncCopy& other) {
    return word * 4 >= other.offset && word * 4 < other.offset + other.bytes;
  });
  return {thread, copy->instruction};
}

void AsyncCopies::Begin(unsigned thread, const AsyncCopy& copy) {
  Thread& state = threads_[thread];
  state.copies.push_back(copy);
  state.copies.back().group = state.open_group;
  for (std::uint64_t word = copy.offset / 4; word < (copy.offset + copy.bytes) / 4; ++word) {
    owners_[word] = static_cast<std::uint16_t>(thread + 1);
  }
  ++pending_;
}

void AsyncCopies::Release(const AsyncCopy& copy) {
  for (std::uint64_t word = copy.offset / 4; word < (copy.offset + copy.bytes) / 4; ++word) {
    owners_[word] = 0;
  }
  --pending_;
}

}  // namespace lijit::emulator
