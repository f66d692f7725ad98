// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lijit/result.h"
#include "runtime/emulator/program.h"
#include "runtime/emulator/ptx_module.h"

namespace lijit::emulator {

// Decodes an entry of the module, with the functions that it calls expanded in place. Instructions
// and modifiers that are not known, operands that do not fit, recursion and calls of undefined
// functions are errors that name the line. `addresses` are those of the module's .global and .const
// variables, by index. The module must outlive the kernel.
Result<Kernel> Decode(const Module& module, std::string_view kernel,
                      std::span<const std::uint64_t> addresses);

}  // namespace lijit::emulator
