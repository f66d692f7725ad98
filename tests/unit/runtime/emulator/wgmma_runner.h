// SPDX-License-Identifier: Apache-2.0
// Runs one wgmma.mma_async, for tests: fragments are packed as the PTX ISA numbers their elements,
// and shared memory is filled as its layouts say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {

// How a matrix whose rows are along K lies in shared memory.
struct TileLayout {
  unsigned swizzle_bytes = 128;     // 0, 32, 64 or 128: the bytes of a row that lie together
  std::uint64_t start = 0;          // of the matrix, in bytes of the image
  std::uint64_t stride_bytes = 0;   // between groups of 8 rows
  std::uint64_t leading_bytes = 0;  // between columns of 16 bytes, where there is no swizzle
  unsigned skipped_bytes = 0;       // of each row, along K: where the product begins

  std::uint64_t Descriptor() const;
  // Where byte `k` of a row lies, `skipped_bytes` counted.
  std::uint64_t PlaceOf(unsigned row, unsigned k) const;
};

inline constexpr unsigned kImageBytes = 32768;

struct Wgmma {
  std::string types;  // "s32.s8.s8", with ".satfinite." before it if wanted
  unsigned columns = 8;
  unsigned element_bytes = 1;  // K is 32 or 16
  std::string signs;           // the operands after scale-d, ", 1, 1" for 8-bit floats
  bool keeps_sums = true;
  std::vector<std::uint8_t> a;   // 64 rows of 32 bytes
  std::vector<std::uint8_t> b;   // `columns` rows of 32 bytes
  std::vector<std::uint32_t> c;  // 64 x columns, by rows
  TileLayout b_layout;
  std::optional<TileLayout> a_layout;  // in shared memory, if set
};

// D, by rows; fails the test when the kernel does not run.
std::vector<std::uint32_t> Multiply(const Wgmma& wgmma);

// The PTX of a kernel "k" for sm_90a of 128 threads a warpgroup, with `body` after a preamble that
// fills the shared memory `image` from the data, fences it, and loads %a0..3 and %c0... (the
// accumulators, `columns` / 2 of them) of the thread. %t is the thread; %out is where the thread's
// %c registers go.
std::string WgmmaText(unsigned columns, const std::string& body);
std::vector<std::uint32_t> WgmmaData(const Wgmma& wgmma);
// "{%c0, %c1, ...}"
std::string RegisterList(const std::string& prefix, unsigned count);

}  // namespace lijit::emulator
