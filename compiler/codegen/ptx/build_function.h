// SPDX-License-Identifier: Apache-2.0
// From an entry to a function of LLVM IR. Inside of codegen/ptx only.
#pragma once

#include <llvm/IR/Module.h>

#include "compiler/ir/module.h"
#include "lijit/result.h"

namespace lijit::codegen {

// Adds a kernel function that does what the entry does. InvalidArgument: an op is not lowered.
Status BuildFunction(const ir::Kernel& entry, llvm::Module& module);

}  // namespace lijit::codegen
