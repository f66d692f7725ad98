// SPDX-License-Identifier: Apache-2.0
// What each kernel of a cubin uses, read from its symbols, sections and .nv.info records.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cache/cubin/elf.h"
#include "lijit/cubin.h"

namespace lijit::cubin {

struct KernelFacts {
  std::vector<Kernel> kernels;
  std::optional<std::uint32_t> toolkit;         // CUDA_API_VERSION, 125 for 12.5
  std::optional<std::uint32_t> parameter_base;  // where parameters begin in constant bank 0
};

// `sm` and `v7` decide how the shared-memory size and barriers are coded.
KernelFacts ReadKernels(const Elf& elf, std::uint32_t sm, bool v7, Problems& problems);

}  // namespace lijit::cubin
