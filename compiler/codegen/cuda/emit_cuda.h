// SPDX-License-Identifier: Apache-2.0
// Prints an entry as CUDA C++ that includes no header. Every decision was made by lowering.
#pragma once

#include <string>

#include "compiler/ir/module.h"
#include "lijit/result.h"

namespace lijit::codegen {

// The source of the module's only kernel, an entry of kAny and kLow ops. InvalidArgument: the
// module has another number of kernels, or the kernel is no entry, or its name is no identifier, or
// an op is not lowered.
Result<std::string> EmitCuda(const ir::Module& module);

}  // namespace lijit::codegen
