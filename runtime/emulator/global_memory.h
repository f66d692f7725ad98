// SPDX-License-Identifier: Apache-2.0
// The global memory of an emulated device: allocations far apart, so that an address between them
// belongs to none, whose pages cost nothing until they are touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"
#include "runtime/emulator/initialized_bits.h"

namespace lijit::emulator {

// Pages of zeros from the operating system. Empty when it has no more.
class LazyPages {
 public:
  LazyPages() = default;
  explicit LazyPages(std::uint64_t bytes);
  ~LazyPages();
  LazyPages(LazyPages&& other) noexcept;
  LazyPages& operator=(LazyPages&& other) noexcept;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string label;
  bool always_initialized = false;  // variables of a module start as zero
  std::byte* data = nullptr;
  mutable InitializedBits initialized;
  LazyPages pages;
  LazyPages bit_pages;

  bool Contains(std::uint64_t begin, std::uint64_t size) const {
    return begin >= address && size <= bytes && begin - address <= bytes - size;
  }
};

// Not for changes by several threads at once; launches only read the list.
class GlobalMemory {
 public:
  // Alignment is 256 bytes and no more, so that a kernel that wants more is found out.
  static constexpr std::uint64_t kAlignment = 256;
  // At least this many bytes between two allocations belong to none.
  static constexpr std::uint64_t kRedZoneBytes = std::uint64_t{1} << 20;

  // `bytes` 0 is an error, as cuMemAlloc's.
  Result<std::uint64_t> Allocate(std::uint64_t bytes, std::string_view label,
                                 bool always_initialized = false);
  Status Free(std::uint64_t address);

  Status CopyIn(std::uint64_t destination, const void* source, std::uint64_t bytes);
  Status CopyOut(void* destination, std::uint64_t source, std::uint64_t bytes) const;
  Status Fill(std::uint64_t destination, std::uint8_t value, std::uint64_t bytes);

  // The allocation that holds the byte at `address`, or null.
  const Allocation* Find(std::uint64_t address) const;
  // "8 bytes past the end of 'x' (256 bytes at 0x...)": where an address lies that no allocation
  // holds wholly.
  std::string Describe(std::uint64_t address, std::uint64_t bytes) const;

 private:
  struct Freed {
    std::uint64_t address;
    std::uint64_t bytes;
    std::string label;
  };
  Result<const Allocation*> Range(std::uint64_t address, std::uint64_t bytes) const;

  std::vector<std::unique_ptr<Allocation>> allocations_;  // by address
  std::vector<Freed> freed_;                              // the latest ones; addresses never return
  std::uint64_t next_address_ = std::uint64_t{1} << 32;
};

}  // namespace lijit::emulator
