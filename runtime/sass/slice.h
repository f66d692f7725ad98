// SPDX-License-Identifier: Apache-2.0
// Where the values of registers come from.
#pragma once

#include "runtime/sass/control_flow.h"
#include "runtime/sass/parse.h"

namespace lijit::sass {

// Whether the loop itself loads what the A operands of the tensor instructions in `user`, a loop
// within it or the same one, are made from; else they stay the same while it runs. Follows values
// backwards through registers; refills of spilled ones are not loads.
bool LoadsOperands(const Function& function, const ControlFlow& flow, const Loop& loop,
                   const Loop& user);

}  // namespace lijit::sass
