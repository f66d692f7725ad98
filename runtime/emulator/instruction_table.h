// SPDX-License-Identifier: Apache-2.0
// The table of instructions (instructions.def) and its use.
#pragma once

#include <span>
#include <string_view>

#include "lijit/result.h"
#include "runtime/emulator/instruction_builder.h"

namespace lijit::emulator {

struct InstructionRow {
  std::string_view name;
  TypeSet types;  // which the last type suffix must be of; empty: any, or none
  CategorySet modifiers;
  void (*decode)(InstructionBuilder&);
};

std::span<const InstructionRow> AllInstructions();

// Errors are without the line and the name, which the caller knows.
Result<Instruction> DecodeInstruction(KernelBuilder& kernel, Instance& instance,
                                      const Statement& statement);

}  // namespace lijit::emulator
