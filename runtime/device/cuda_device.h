// SPDX-License-Identifier: Apache-2.0
// CUDA devices, through the driver API and their primary contexts, so that addresses and streams of
// the CUDA runtime and of PyTorch can be used with them.
//
// Copies and fills run on the default stream and return when they are done; work in streams that do
// not wait for the default stream must be synchronized by the caller. A device may be used from
// many threads. After fork only the parent may use it; calls in the child fail and say so.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "lijit/device.h"
#include "lijit/result.h"

namespace lijit::runtime {

// `target` as for OpenDevice. The image kind is PTX when the target is not the device's own.
Result<std::shared_ptr<Device>> OpenCudaDevice(int ordinal, std::string_view target);

// All devices of the driver, without opening them. `target` is the default one, and empty for
// devices of compute capabilities that are not supported.
Result<std::vector<DeviceInfo>> ListCudaDevices();

}  // namespace lijit::runtime
