// SPDX-License-Identifier: Apache-2.0
// Bytes that claim to be PTX. They are parsed and decoded or refused with a line; a kernel that
// decodes runs for a while on no memory but its own, and whatever it does ends in a finding at
// most.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/emulator/decode.h"
#include "runtime/emulator/launch.h"
#include "runtime/emulator/ptx_parser.h"

namespace {

using namespace lijit::emulator;  // NOLINT(google-build-using-namespace)

constexpr std::uint64_t kSteps = 4000;
// Kernels that need more are not run, to keep runs short.
constexpr std::uint64_t kMaxStateBytes = 1 << 20;

void Run(const Kernel& kernel) {
  const std::uint64_t state = kernel.register_bytes + kernel.local_bytes * kWarpSize;
  if (state > kMaxStateBytes) return;
  const GlobalMemory memory;
  const std::vector<std::byte> parameters(kernel.parameter_bytes);
  lijit::LaunchShape shape;
  shape.block = kernel.required_threads.value_or(Dimensions{33, 1, 1});
  LaunchOptions options;
  options.host_threads = 1;
  options.step_limit = kSteps;
  const auto result = Launch(kernel, shape, parameters, memory, options);
  LIJIT_CHECK(result.ok() || !result.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto module = ParsePtx(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!module.ok()) {
    LIJIT_CHECK(module.error().message.starts_with("ptx line "));
    return 0;
  }
  const std::vector<std::uint64_t> addresses(module->variables.size(), 4096);
  for (const Function& function : module->functions) {
    if (!function.is_entry) continue;
    const auto kernel = Decode(*module, function.name, addresses);
    if (kernel.ok()) Run(*kernel);
  }
  return 0;
}
