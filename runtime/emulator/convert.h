// SPDX-License-Identifier: Apache-2.0
// The two halves of cvt's decoder.
#pragma once

#include "runtime/emulator/instruction_builder.h"

namespace lijit::emulator {

void DecodeCvtScalar(InstructionBuilder& b);  // execute_convert.cc
void DecodeCvtPacked(InstructionBuilder& b);  // execute_convert_packed.cc

}  // namespace lijit::emulator
