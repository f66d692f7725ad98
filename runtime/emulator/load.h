// SPDX-License-Identifier: Apache-2.0
// From PTX text to a kernel that can run: the module's variables get memory and initial values.
#pragma once

#include <memory>
#include <string_view>

#include "lijit/result.h"
#include "runtime/emulator/global_memory.h"
#include "runtime/emulator/program.h"
#include "runtime/emulator/ptx_module.h"

namespace lijit::emulator {

struct LoadedKernel {
  Module module;  // owns the text that the kernel's names are views of
  Kernel kernel;
};

// Errors name the line of the PTX. The variables stay allocated in `memory`.
Result<std::unique_ptr<LoadedKernel>> LoadKernel(std::string_view ptx, std::string_view kernel,
                                                 GlobalMemory& memory);

}  // namespace lijit::emulator
