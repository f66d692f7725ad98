// SPDX-License-Identifier: Apache-2.0
// The schedules `mma_s8` and `mma_f16`: templates/mma_logits.cu, with the kernel's body as
// functions. Inside of lower/ only.
#pragma once

#include <string>

#include "compiler/ir/module.h"

namespace lijit::lower {

enum class MmaKind { kS8, kF16 };

// Why the schedule cannot do the module's kernel, a logits kernel; empty if it can.
std::string MmaProblem(MmaKind kind, const ir::Module& module);

}  // namespace lijit::lower
