// SPDX-License-Identifier: Apache-2.0
#include "cache/memory.h"

namespace lijit::cache {

std::uint64_t Memory::SizeOf(const Entry& entry) {
  return entry.image.size() + entry.key.size() + entry.log.size() + entry.resources.size();
}

void Memory::Remove(std::list<Slot>::iterator slot) {
  size_ -= SizeOf(*slot->entry);
  by_digest_.erase(slot->digest);
  slots_.erase(slot);
}

std::shared_ptr<const Entry> Memory::Get(const std::string& digest) {
  const auto it = by_digest_.find(digest);
  if (it == by_digest_.end()) return nullptr;
  slots_.splice(slots_.begin(), slots_, it->second);
  return it->second->entry;
}

void Memory::Put(const std::string& digest, std::shared_ptr<const Entry> entry) {
  if (const auto it = by_digest_.find(digest); it != by_digest_.end()) Remove(it->second);
  const std::uint64_t size = SizeOf(*entry);
  if (size > max_size_) return;
  while (size_ > max_size_ - size) Remove(std::prev(slots_.end()));
  slots_.push_front({digest, std::move(entry)});
  by_digest_[digest] = slots_.begin();
  size_ += size;
}

}  // namespace lijit::cache
