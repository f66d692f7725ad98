// SPDX-License-Identifier: Apache-2.0
// Runs a kernel's grid on host threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lijit/device.h"
#include "lijit/result.h"
#include "runtime/emulator/global_memory.h"
#include "runtime/emulator/program.h"

namespace lijit::emulator {

struct LaunchOptions {
  unsigned host_threads = 0;  // 0: as many as the machine has
  // Thread-instructions of one launch before it is taken for endless.
  std::uint64_t step_limit = std::uint64_t{1} << 36;
  std::uint64_t max_shared_bytes = std::uint64_t{48} << 10;  // of one block, with opt-in
};

struct LaunchResult {
  std::uint64_t instructions = 0;  // thread-instructions executed
  std::optional<Finding> finding;  // the one that stopped the launch
};

// Shapes and parameter blocks that a GPU would refuse are errors. What goes wrong while the kernel
// runs is a finding.
Result<LaunchResult> Launch(const Kernel& kernel, const LaunchShape& shape,
                            std::span<const std::byte> parameters, const GlobalMemory& memory,
                            const LaunchOptions& options);

}  // namespace lijit::emulator
