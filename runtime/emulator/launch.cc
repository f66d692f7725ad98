// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/emulator/cta.h"

namespace lijit::emulator {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr Dimensions kMaxGrid{0x7fffffff, 65535, 65535};
constexpr Dimensions kMaxBlock{1024, 1024, 64};
constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::array<char, 3> kAxis{'x', 'y', 'z'};

Error LaunchError(const Kernel& kernel, std::string_view what) {
  return InvalidArgument(fmt::format("launch of '{}': {}", kernel.name, what));
}

std::uint64_t Product(const Dimensions& dimensions) {
  return std::uint64_t{dimensions[0]} * dimensions[1] * dimensions[2];
}

Status CheckDimensions(const Kernel& kernel, std::string_view what, const Dimensions& dimensions,
                       const Dimensions& limits) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (dimensions[i] >= 1 && dimensions[i] <= limits[i]) continue;
    return LaunchError(kernel, fmt::format("{}.{} is {}; it can be 1 to {}", what, kAxis[i],
                                           dimensions[i], limits[i]));
  }
  return {};
}

Status CheckBlock(const Kernel& kernel, const Dimensions& block) {
  const std::uint64_t threads = Product(block);
  if (threads > kMaxThreads) {
    return LaunchError(kernel, fmt::format("a block of {} threads; at most {} are possible",
                                           threads, kMaxThreads));
  }
  if (kernel.required_threads && *kernel.required_threads != block) {
    const auto [x, y, z] = *kernel.required_threads;
    return LaunchError(kernel, fmt::format("a block of ({},{},{}); .reqntid wants ({},{},{})",
                                           block[0], block[1], block[2], x, y, z));
  }
  if (kernel.max_threads && threads > Product(*kernel.max_threads)) {
    return LaunchError(kernel, fmt::format("a block of {} threads; .maxntid allows {}", threads,
                                           Product(*kernel.max_threads)));
  }
  return {};
}

Status CheckLaunch(const Kernel& kernel, const LaunchShape& shape,
                   std::span<const std::byte> parameters, const LaunchOptions& options) {
  LIJIT_TRY(CheckDimensions(kernel, "grid", shape.grid, kMaxGrid));
  LIJIT_TRY(CheckDimensions(kernel, "block", shape.block, kMaxBlock));
  LIJIT_TRY(CheckBlock(kernel, shape.block));
  const std::uint64_t shared = kernel.static_shared_bytes + shape.dynamic_shared_bytes;
  if (shared > options.max_shared_bytes) {
    return LaunchError(kernel,
                       fmt::format("{} bytes of shared memory ({} static, {} dynamic); a block of "
                                   "this target can have {}",
                                   shared, kernel.static_shared_bytes, shape.dynamic_shared_bytes,
                                   options.max_shared_bytes));
  }
  if (parameters.size() != kernel.parameter_bytes) {
    return LaunchError(kernel, fmt::format("a parameter block of {} bytes; the kernel has {}",
                                           parameters.size(), kernel.parameter_bytes));
  }
  return {};
}

Dimensions CtaIndex(std::uint64_t linear, const Dimensions& grid) {
  return {static_cast<std::uint32_t>(linear % grid[0]),
          static_cast<std::uint32_t>(linear / grid[0] % grid[1]),
          static_cast<std::uint32_t>(linear / grid[0] / grid[1])};
}

}  // namespace

Result<LaunchResult> Launch(const Kernel& kernel, const LaunchShape& shape,
                            std::span<const std::byte> parameters, const GlobalMemory& memory,
                            const LaunchOptions& options) {
  LIJIT_TRY(CheckLaunch(kernel, shape, parameters, options));
  // A copy, because the caller's block may lie at any address.
  const std::vector<std::byte> block(parameters.begin(), parameters.end());
  const LaunchConfig config{&kernel, shape, block, &memory, options.step_limit};
  LaunchState state;
  std::atomic<std::uint64_t> next{0};
  const std::uint64_t ctas = Product(shape.grid);
  const auto work = [&] {
    Cta cta(config, state);
    for (std::uint64_t i = next++; i < ctas && !state.stopped(); i = next++) {
      cta.Run(CtaIndex(i, shape.grid));
    }
  };
  const unsigned wanted =
      options.host_threads != 0 ? options.host_threads : std::thread::hardware_concurrency();
  const std::uint64_t workers = std::clamp<std::uint64_t>(wanted, 1, ctas);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return LaunchResult{state.instructions.load(), state.TakeFinding()};
}

}  // namespace lijit::emulator
