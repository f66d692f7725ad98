// SPDX-License-Identifier: Apache-2.0
// The schedules of tensor cores (`mma_*`, `wgmma_*` of schedules.def): a template of templates/,
// with the kernel's body as functions. Inside of lower/ only.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/module.h"

namespace lijit::lower {

// Why the schedule of this name cannot do the module's kernel, a logits kernel; empty if it can.
std::string MmaProblem(std::string_view schedule, const ir::Module& module);

}  // namespace lijit::lower
