// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/global_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace lijit::emulator {
namespace {

constexpr std::uint64_t kLastAddress = std::uint64_t{1} << 46;  // below the windows of warp.h
constexpr std::size_t kFreedKept = 1024;

std::string Name(const std::string& label, std::uint64_t bytes, std::uint64_t address) {
  return fmt::format("'{}' ({} bytes at {:#x})", label, bytes, address);
}

}  // namespace

LazyPages::LazyPages(std::uint64_t bytes) : bytes_(bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages != MAP_FAILED) data_ = static_cast<std::byte*>(pages);
}

LazyPages::~LazyPages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

LazyPages::LazyPages(LazyPages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

LazyPages& LazyPages::operator=(LazyPages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<std::uint64_t> GlobalMemory::Allocate(std::uint64_t bytes, std::string_view label,
                                             bool always_initialized) {
  if (bytes == 0) {
    return InvalidArgument(fmt::format("allocation '{}' of 0 bytes; ask for at least 1", label));
  }
  const std::uint64_t address = next_address_ + kAlignment;
  if (bytes > kLastAddress - address - 2 * kRedZoneBytes) {
    return Unavailable(fmt::format("allocation '{}': no room for {} bytes", label, bytes));
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->pages = LazyPages(bytes + kAlignment);
  allocation->bit_pages = LazyPages(bytes / 8 + 1);
  if (allocation->pages.data() == nullptr || allocation->bit_pages.data() == nullptr) {
    return Unavailable(fmt::format("allocation '{}': the system has no {} bytes", label, bytes));
  }
  allocation->address = address;
  allocation->bytes = bytes;
  allocation->label = label;
  allocation->always_initialized = always_initialized;
  allocation->data = allocation->pages.data() + kAlignment;
  allocation->initialized =
      InitializedBits(reinterpret_cast<std::uint8_t*>(allocation->bit_pages.data()));
  // Aligned to 2 * kAlignment, so that `address` is aligned to kAlignment and no more.
  next_address_ =
      (address + bytes + kRedZoneBytes) / (2 * kAlignment) * (2 * kAlignment) + 2 * kAlignment;
  allocations_.push_back(std::move(allocation));
  return address;
}

Status GlobalMemory::Free(std::uint64_t address) {
  const auto found = std::find_if(allocations_.begin(), allocations_.end(),
                                  [&](const auto& a) { return a->address == address; });
  if (found == allocations_.end()) {
    return InvalidArgument(
        fmt::format("cannot free {:#x}: it is not the start of an allocation; {}", address,
                    Describe(address, 1)));
  }
  if (freed_.size() == kFreedKept) freed_.erase(freed_.begin());
  freed_.push_back({address, (*found)->bytes, std::move((*found)->label)});
  allocations_.erase(found);
  return {};
}

const Allocation* GlobalMemory::Find(std::uint64_t address) const {
  const auto after = std::upper_bound(
      allocations_.begin(), allocations_.end(), address,
      [](std::uint64_t value, const auto& allocation) { return value < allocation->address; });
  if (after == allocations_.begin()) return nullptr;
  const Allocation* allocation = std::prev(after)->get();
  return allocation->Contains(address, 1) ? allocation : nullptr;
}

std::string GlobalMemory::Describe(std::uint64_t address, std::uint64_t bytes) const {
  for (const Freed& freed : freed_) {
    if (address >= freed.address && address - freed.address < freed.bytes) {
      return "inside freed allocation " + Name(freed.label, freed.bytes, freed.address);
    }
  }
  if (const Allocation* inside = Find(address)) {
    const std::uint64_t end = inside->address + inside->bytes;
    return fmt::format("{} bytes past the end of allocation {}",
                       bytes > end - address ? bytes - (end - address) : 0,
                       Name(inside->label, inside->bytes, inside->address));
  }
  const Allocation* nearest = nullptr;
  std::uint64_t distance = UINT64_MAX;
  for (const auto& allocation : allocations_) {
    const std::uint64_t gap = address < allocation->address
                                  ? allocation->address - address
                                  : address - (allocation->address + allocation->bytes);
    if (gap < distance) {
      distance = gap;
      nearest = allocation.get();
    }
  }
  if (nearest == nullptr) return "and nothing is allocated";
  return fmt::format("{} bytes {} allocation {}", distance,
                     address < nearest->address ? "before" : "after the end of",
                     Name(nearest->label, nearest->bytes, nearest->address));
}

Result<const Allocation*> GlobalMemory::Range(std::uint64_t address, std::uint64_t bytes) const {
  const Allocation* allocation = Find(address);
  if (allocation == nullptr || !allocation->Contains(address, bytes)) {
    return InvalidArgument(fmt::format("{} bytes at {:#x} are not inside one allocation: {}", bytes,
                                       address, Describe(address, bytes)));
  }
  return allocation;
}

Status GlobalMemory::CopyIn(std::uint64_t destination, const void* source, std::uint64_t bytes) {
  if (bytes == 0) return {};
  LIJIT_ASSIGN(const Allocation* allocation, Range(destination, bytes));
  const std::uint64_t offset = destination - allocation->address;
  std::memcpy(allocation->data + offset, source, bytes);
  allocation->initialized.MarkRange(offset, bytes);
  return {};
}

Status GlobalMemory::CopyOut(void* destination, std::uint64_t source, std::uint64_t bytes) const {
  if (bytes == 0) return {};
  LIJIT_ASSIGN(const Allocation* allocation, Range(source, bytes));
  std::memcpy(destination, allocation->data + (source - allocation->address), bytes);
  return {};
}

Status GlobalMemory::Fill(std::uint64_t destination, std::uint8_t value, std::uint64_t bytes) {
  if (bytes == 0) return {};
  LIJIT_ASSIGN(const Allocation* allocation, Range(destination, bytes));
  const std::uint64_t offset = destination - allocation->address;
  std::memset(allocation->data + offset, value, bytes);
  allocation->initialized.MarkRange(offset, bytes);
  return {};
}

}  // namespace lijit::emulator
