// SPDX-License-Identifier: Apache-2.0
// Clocks and power of a CUDA device, from NVIDIA's management library if it is here.
#pragma once

#include <optional>
#include <string>

#include "lijit/result.h"

namespace lijit::runtime {

// Each is absent where the library or the device does not say.
struct DeviceState {
  std::optional<unsigned> sm_mhz, max_sm_mhz, memory_mhz;
  std::optional<double> watts, limit_watts;
  std::optional<unsigned> celsius;
};

// The state now of the device at this PCI address ("00000000:3B:00.0"). Unavailable: the library is
// not here, or knows no such device.
Result<DeviceState> ReadDeviceState(const std::string& pci_address);

}  // namespace lijit::runtime
