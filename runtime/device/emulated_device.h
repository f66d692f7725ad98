// SPDX-License-Identifier: Apache-2.0
// The emulated device: executes PTX on the CPU and checks every access.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "lijit/device.h"

namespace lijit::runtime {

struct EmulationOptions {
  unsigned host_threads = 0;  // 0: as many as the machine has
  // Thread-instructions of one launch before it is taken for endless.
  std::uint64_t step_limit = std::uint64_t{1} << 36;
};

// A device of `target` ("sm_86"): it loads PTX that this target can run, and has its limits.
// Unknown targets are refused with the list of what is known; then the pointer of the plain form is
// null.
Result<std::shared_ptr<Device>> OpenEmulatedDevice(std::string_view target,
                                                   const EmulationOptions& options = {});
std::shared_ptr<Device> MakeEmulatedDevice(std::string_view target);

}  // namespace lijit::runtime
