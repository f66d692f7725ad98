// SPDX-License-Identifier: Apache-2.0
// Turns an entry into PTX through LLVM, in memory. Every decision was made by lowering. No header
// of LLVM is needed to include this one; the build has this folder if it has LLVM (LIJIT_HAS_LLVM).
#pragma once

#include <string>

#include "compiler/ir/module.h"
#include "compiler/target/target.h"
#include "lijit/result.h"

namespace lijit::codegen {

// The LLVM that this process runs: "22.1.8".
std::string LlvmVersion();

// LLVM IR of the module's only kernel, an entry of kAny and kLow ops, as it is before LLVM's
// passes. InvalidArgument: the module has another number of kernels, or the kernel is no entry, or
// an op is not lowered. Refused: this LLVM does not know the target.
Result<std::string> EmitLlvm(const ir::Module& module, const target::Target& target);

// PTX of the same; ptx_version 90 makes `.version 9.0`, which must not be newer than what assembles
// it. Errors as above; Refused also if LLVM does not know the version; Failed with LLVM's message
// if it cannot generate code. Both functions may be called from many threads.
Result<std::string> EmitPtx(const ir::Module& module, const target::Target& target,
                            int ptx_version);

}  // namespace lijit::codegen
