// SPDX-License-Identifier: Apache-2.0
// What a kernel uses of a multiprocessor, from the lines that `ptxas -v` writes. Spilled bytes are
// recorded nowhere else: a cubin does not hold them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::runtime {

struct KernelResources {
  std::string kernel;
  std::string target;                   // "sm_86"
  std::uint32_t registers = 0;          // per thread
  std::uint32_t stack_bytes = 0;        // per thread
  std::uint32_t spill_store_bytes = 0;  // per thread, in the code
  std::uint32_t spill_load_bytes = 0;
  std::uint32_t shared_bytes = 0;    // static, per block
  std::uint32_t constant_bytes = 0;  // all banks; ptxas names none from sm_90 on
  std::uint32_t barriers = 0;
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

// One element a kernel, in the log's order; lines of other kinds are passed over. Damaged when a
// number is out of range or a kernel has no "Used" line.
Result<std::vector<KernelResources>> ParseResources(std::string_view log);

}  // namespace lijit::runtime
