// SPDX-License-Identifier: Apache-2.0
// LLVM's part of the backend ptx (compiler/codegen/ptx), or, in a build without it, a message that
// says so.
#pragma once

#include <string>

#include "compiler/ir/module.h"
#include "compiler/target/target.h"
#include "lijit/result.h"

namespace lijit::runtime {

// "22.1.8". Unavailable, as of all below: this build has no LLVM.
Result<std::string> LlvmVersion();
// As in compiler/codegen/ptx/emit_llvm.h.
Result<std::string> EmitLlvm(const ir::Module& lowered, const target::Target& target);
Result<std::string> EmitPtx(const ir::Module& lowered, const target::Target& target,
                            int ptx_version);

}  // namespace lijit::runtime
