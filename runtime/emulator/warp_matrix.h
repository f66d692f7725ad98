// SPDX-License-Identifier: Apache-2.0
// What instructions on matrices that lie across a warp share.
#pragma once

#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/program.h"

namespace lijit::emulator {

// Takes {a, b, ...} of `count` 32-bit registers; one alone may have braces too.
void TakeFragment(InstructionBuilder& b, unsigned count, bool is_destination);

// Checks for .sync.aligned, and adds the last operand: all threads of the warp wait for each other.
void WaitForWarp(InstructionBuilder& b);

// False, after a finding, unless all 32 threads take part.
bool IsWholeWarp(Warp& warp, const Instruction& in, Mask mask);

}  // namespace lijit::emulator
