// SPDX-License-Identifier: Apache-2.0
// What instructions on matrices that lie across a warp share.
#pragma once

#include <cstdint>

#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/program.h"

namespace lijit::emulator {

// Takes {a, b, ...} of `count` 32-bit registers; one alone may have braces too.
void TakeFragment(InstructionBuilder& b, unsigned count, bool is_destination);

// Checks for .sync.aligned, and adds the last operand: all threads of the warp wait for each other.
void WaitForWarp(InstructionBuilder& b);

// False, after a finding, unless all 32 threads take part.
bool IsWholeWarp(Warp& warp, const Instruction& in, Mask mask);

// False, after a finding, unless the warp is one of a whole warpgroup whose warps execute the same
// such instructions, with the same descriptors, in the same order.
bool StepTogether(Warp& warp, const Instruction& in, std::uint64_t a, std::uint64_t b);

}  // namespace lijit::emulator
