// SPDX-License-Identifier: Apache-2.0
// One bit for each byte of memory: has anybody written it? Bits are set and read by several host
// threads at once.
#pragma once

#include <atomic>
#include <cstdint>

namespace lijit::emulator {

// The bits of an aligned access of `bytes` (1, 2, 4, 8, 16, 32) lie in at most 4 whole bytes.
class InitializedBits {
 public:
  InitializedBits() = default;
  explicit InitializedBits(std::uint8_t* bits) : bits_(bits) {}

  // `offset` is a multiple of `bytes`, a power of two.
  bool Covers(std::uint64_t offset, std::uint64_t bytes) const {
    if (bytes < 8) {
      const std::uint8_t mask = MaskOf(offset, bytes);
      return (Load(offset / 8) & mask) == mask;
    }
    for (std::uint64_t i = 0; i < bytes / 8; ++i) {
      if (Load(offset / 8 + i) != 0xff) return false;
    }
    return true;
  }

  void Mark(std::uint64_t offset, std::uint64_t bytes) {
    if (bytes < 8) {
      const std::uint8_t mask = MaskOf(offset, bytes);
      if ((Load(offset / 8) & mask) != mask) {
        std::atomic_ref(bits_[offset / 8]).fetch_or(mask, std::memory_order_relaxed);
      }
      return;
    }
    for (std::uint64_t i = 0; i < bytes / 8; ++i) Store(offset / 8 + i, 0xff);
  }

  // Any offset and any number of bytes.
  void MarkRange(std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t end = offset + bytes;
    for (; offset < end && offset % 8 != 0; ++offset) Mark(offset, 1);
    for (; offset + 8 <= end; offset += 8) Store(offset / 8, 0xff);
    for (; offset < end; ++offset) Mark(offset, 1);
  }

 private:
  static std::uint8_t MaskOf(std::uint64_t offset, std::uint64_t bytes) {
    return static_cast<std::uint8_t>(((1u << bytes) - 1) << (offset % 8));
  }
  std::uint8_t Load(std::uint64_t index) const {
    return std::atomic_ref(bits_[index]).load(std::memory_order_relaxed);
  }
  void Store(std::uint64_t index, std::uint8_t value) {
    std::atomic_ref(bits_[index]).store(value, std::memory_order_relaxed);
  }

  std::uint8_t* bits_ = nullptr;
};

}  // namespace lijit::emulator
