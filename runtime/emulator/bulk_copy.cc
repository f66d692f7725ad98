// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/bulk_copy.h"

#include <algorithm>

#include "runtime/emulator/host_memory.h"

namespace lijit::emulator {
namespace {

template <typename Copy>
bool Touches(const Copy& copy, std::uint64_t offset, std::uint64_t bytes) {
  return copy.offset < offset + bytes && offset < copy.offset + copy.bytes;
}

void Write(const BulkStore& store) {
  for (std::uint32_t i = 0; i < store.bytes; i += 8) {
    StoreRelaxed(store.destination + i, LoadRelaxed<std::uint64_t>(store.data.data() + i));
  }
  InitializedBits bits = store.initialized;
  bits.MarkRange(store.place, store.bytes);
}

}  // namespace

void BulkCopies::StartBlock(std::uint64_t shared_bytes, unsigned threads) {
  loads_.clear();
  stores_.clear();
  open_groups_.assign(threads, 0);
  owned_.assign((shared_bytes + 3) / 4, 0);
  readers_.assign((shared_bytes + 3) / 4, 0);
}

std::optional<BulkCopies::Pending> BulkCopies::Find(std::uint64_t offset, std::uint64_t bytes,
                                                    bool writes) const {
  for (const BulkLoad& load : loads_) {
    if (Touches(load, offset, bytes)) return Pending{load.thread, load.instruction};
  }
  for (const BulkStore& store : stores_) {
    if (writes && !store.source_is_free && Touches(store, offset, bytes)) {
      return Pending{store.thread, store.instruction};
    }
  }
  return std::nullopt;
}

std::optional<BulkCopies::Pending> BulkCopies::Any() const {
  return Find(0, std::uint64_t{4} * owned_.size(), true);
}

bool BulkCopies::Uses(std::uint64_t mbarrier) const {
  return std::any_of(loads_.begin(), loads_.end(),
                     [&](const BulkLoad& load) { return load.mbarrier == mbarrier; });
}

void BulkCopies::BeginLoad(const BulkLoad& load) {
  loads_.push_back(load);
  std::fill_n(owned_.begin() + static_cast<std::ptrdiff_t>(load.offset / 4), load.bytes / 4,
              std::uint8_t{1});
}

std::optional<BulkLoad> BulkCopies::TakeLoad(std::uint64_t mbarrier) {
  const auto found = std::find_if(loads_.begin(), loads_.end(),
                                  [&](const BulkLoad& load) { return load.mbarrier == mbarrier; });
  if (found == loads_.end()) return std::nullopt;
  const BulkLoad load = *found;
  loads_.erase(found);
  std::fill_n(owned_.begin() + static_cast<std::ptrdiff_t>(load.offset / 4), load.bytes / 4,
              std::uint8_t{0});
  return load;
}

void BulkCopies::BeginStore(BulkStore store) {
  store.group = open_groups_[store.thread];
  for (std::uint64_t word = store.offset / 4; word < (store.offset + store.bytes) / 4; ++word) {
    ++readers_[word];
  }
  stores_.push_back(std::move(store));
}

void BulkCopies::FreeSource(BulkStore& store) {
  if (store.source_is_free) return;
  store.source_is_free = true;
  for (std::uint64_t word = store.offset / 4; word < (store.offset + store.bytes) / 4; ++word) {
    --readers_[word];
  }
}

void BulkCopies::Wait(unsigned thread, std::uint64_t groups, bool only_read) {
  if (groups >= open_groups_[thread]) return;
  const std::uint64_t end = open_groups_[thread] - groups;
  std::erase_if(stores_, [&](BulkStore& store) {
    if (store.thread != thread || store.group >= end) return false;
    FreeSource(store);
    if (only_read) return false;
    Write(store);
    return true;
  });
}

void BulkCopies::FinishStores() {
  for (const BulkStore& store : stores_) Write(store);
  stores_.clear();
}

}  // namespace lijit::emulator
