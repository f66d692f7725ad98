// SPDX-License-Identifier: Apache-2.0
// Where the elements of a wgmma operand lie in shared memory (PTX ISA, "Asynchronous Warpgroup
// Level Matrix Shared Memory Layout"), for operands whose rows are along K. Compared with an H200
// over 234 descriptors.
#pragma once

#include <cstdint>

namespace lijit::emulator {

class MatrixDescriptor {
 public:
  static constexpr unsigned kChunkBytes = 16;  // of a row: what a core matrix holds of it

  explicit MatrixDescriptor(std::uint64_t bits) : bits_(bits) {}

  std::uint64_t start() const { return Field(0); }
  std::uint64_t leading_bytes() const { return Field(16); }  // between core matrices along K
  std::uint64_t stride_bytes() const { return Field(32); }   // between groups of eight rows
  unsigned base_offset() const { return bits_ >> 49 & 7; }
  unsigned mode() const { return static_cast<unsigned>(bits_ >> 62); }

  // The offset in shared memory of a row's 16 bytes that begin at byte 16 `chunk`.
  std::uint64_t Offset(unsigned row, unsigned chunk) const {
    const std::uint64_t group = start() + row / 8 * stride_bytes();
    const std::uint64_t in_group = row % 8;
    if (mode() == 0) return group + chunk * leading_bytes() + in_group * kChunkBytes;
    constexpr std::uint64_t kRowBytes[] = {16, 128, 64, 32};
    const std::uint64_t offset =
        group + in_group * kRowBytes[mode()] + std::uint64_t{chunk} * kChunkBytes;
    // Bits 4 and up are exchanged by the number of the 128 bytes in a pattern of eight of them.
    const std::uint64_t phase = (offset >> 7) - base_offset();
    return offset ^ (phase & (kRowBytes[mode()] / kChunkBytes - 1)) << 4;
  }

 private:
  std::uint64_t Field(unsigned shift) const { return (bits_ >> shift & 0x3fff) << 4; }

  std::uint64_t bits_;
};

}  // namespace lijit::emulator
