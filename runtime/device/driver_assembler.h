// SPDX-License-Identifier: Apache-2.0
// The CUDA driver as an assembler of PTX, for where nvJitLink is not. It needs a device, and makes
// cubins for the devices that are here.
#pragma once

#include "lijit/result.h"
#include "runtime/toolchain/compilation.h"
#include "runtime/toolchain/driver.h"
#include "runtime/toolchain/nvjitlink.h"

namespace lijit::runtime {

// As NvJitLink::Assemble, in the primary context of a device of the target's compute capability.
// `resources` stay empty, since the driver does not tell what it spilled; `kernels` are those of
// the image. Unavailable: no device is of that capability; InvalidArgument: there are options,
// which the driver does not take; Failed with the driver's log.
Result<Compilation> AssembleByDriver(const Driver& driver, const AssembleRequest& request);

}  // namespace lijit::runtime
