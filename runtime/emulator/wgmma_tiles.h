// SPDX-License-Identifier: Apache-2.0
// Operands of wgmma in shared memory: checked, decoded, and kept while nobody writes them, because
// the four warps of a warpgroup read the same B, and persistent kernels the same one many times.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/emulator/matrix_descriptor.h"
#include "runtime/emulator/program.h"
#include "runtime/emulator/wgmma_matrix.h"

namespace lijit::emulator {

// Counts the writes to shared memory by blocks of bytes.
class WriteCounts {
 public:
  void StartBlock(std::uint64_t shared_bytes) { counts_.assign(shared_bytes / kBytes + 1, 0); }
  void Note(std::uint64_t offset, std::uint64_t bytes) {
    for (std::uint64_t i = offset / kBytes; i <= (offset + bytes - 1) / kBytes; ++i) ++counts_[i];
  }
  // Of the bytes from `begin` to before `end`, which are in shared memory.
  std::uint64_t Sum(std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = begin / kBytes; i <= (end - 1) / kBytes; ++i) sum += counts_[i];
    return sum;
  }

 private:
  static constexpr std::uint64_t kBytes = 256;
  std::vector<std::uint64_t> counts_;
};

struct WgmmaTile {
  std::uint64_t descriptor = 0;
  Type type = Type::kB8;  // of the elements; kB8: none
  unsigned lines = 0;
  std::uint64_t begin = 0;  // in shared memory, and the end of it
  std::uint64_t end = 0;
  std::uint64_t writes = 0;  // to these bytes, before it was decoded
  Mask checked = 0;          // warps for which the bytes were in order
  WgmmaMatrix matrix;

  bool IsOf(std::uint64_t bits, Type element, unsigned count) const {
    return descriptor == bits && type == element && lines == count;
  }
};

class WgmmaTiles {
 public:
  void StartBlock() {
    for (WgmmaTile& tile : tiles_) tile.type = Type::kB8;
  }
  // Where a tile with this descriptor is kept.
  WgmmaTile& PlaceOf(std::uint64_t descriptor) {
    const std::uint64_t mixed = descriptor ^ descriptor >> 6;
    return tiles_[mixed % tiles_.size()];
  }

 private:
  std::array<WgmmaTile, 64> tiles_;
};

}  // namespace lijit::emulator
