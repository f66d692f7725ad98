// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/mbarrier.h"

#include <fmt/format.h>

#include "lijit/result.h"

namespace lijit::emulator {

std::string Mbarrier::Init(std::uint32_t count) {
  if (count == 0 || count > kMaxCount) {
    return fmt::format("initializes an mbarrier for {} arrivals; it can be 1 to {}", count,
                       kMaxCount);
  }
  expected_ = pending_ = count;
  return {};
}

std::string Mbarrier::Arrive(std::uint32_t count, bool drops) {
  if (count == 0 || count > pending_) {
    return fmt::format("arrives {} times at an mbarrier whose phase {} lacks {} arrivals", count,
                       phase_, pending_);
  }
  if (drops) {
    if (expected_ == count) return "drops the last arrival that an mbarrier expects";
    expected_ -= count;
  }
  pending_ -= count;
  CompleteIfReady();
  return {};
}

std::string Mbarrier::ExpectBytes(std::uint32_t bytes) {
  if (bytes > kMaxCount || bytes_ + bytes > kMaxCount) {
    return fmt::format("expects {} bytes at an mbarrier that lacks {}; at most {} are possible",
                       bytes, bytes_, kMaxCount);
  }
  bytes_ += bytes;
  return {};
}

std::string Mbarrier::CompleteBytes(std::uint32_t bytes) {
  if (bytes_ - bytes < -std::int64_t{kMaxCount}) {
    return fmt::format("completes {} bytes at an mbarrier that lacks {}; at least {} are possible",
                       bytes, bytes_, -std::int64_t{kMaxCount});
  }
  bytes_ -= bytes;
  CompleteIfReady();
  return {};
}

void Mbarrier::CompleteIfReady() {
  if (pending_ != 0 || bytes_ != 0) return;
  ++phase_;
  pending_ = expected_;
  completed.Join(met);
  met = VectorClock{};
}

void Mbarriers::StartBlock(std::uint64_t shared_bytes) {
  places_.assign(shared_bytes / kMbarrierBytes + 1, 0);
  barriers_.clear();
  free_.clear();
  alive_ = 0;
}

Mbarrier& Mbarriers::Create(std::uint64_t offset) {
  if (free_.empty()) {
    barriers_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(barriers_.size()));
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  places_[offset / kMbarrierBytes] = place;
  ++alive_;
  return barriers_[place - 1] = Mbarrier{};
}

void Mbarriers::Destroy(std::uint64_t offset) {
  std::uint32_t& place = places_[offset / kMbarrierBytes];
  LIJIT_CHECK(place != 0);
  free_.push_back(place);
  place = 0;
  --alive_;
}

}  // namespace lijit::emulator
