// SPDX-License-Identifier: Apache-2.0
// Entries of this process, the least recently used leaving first. Not for several threads at once.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "lijit/cache.h"

namespace lijit::cache {

class Memory {
 public:
  explicit Memory(std::uint64_t max_size) : max_size_(max_size) {}

  // Null if there is none; whoever asks compares key and target.
  std::shared_ptr<const Entry> Get(const std::string& digest);
  // An entry larger than everything that may be kept is not kept.
  void Put(const std::string& digest, std::shared_ptr<const Entry> entry);

 private:
  struct Slot {
    std::string digest;
    std::shared_ptr<const Entry> entry;
  };
  static std::uint64_t SizeOf(const Entry& entry);
  void Remove(std::list<Slot>::iterator slot);

  std::uint64_t max_size_, size_ = 0;
  std::list<Slot> slots_;  // the most recently used first
  std::map<std::string, std::list<Slot>::iterator, std::less<>> by_digest_;
};

}  // namespace lijit::cache
