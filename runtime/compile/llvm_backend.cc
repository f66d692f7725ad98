// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/llvm_backend.h"

#ifdef LIJIT_HAS_LLVM
#include "compiler/codegen/ptx/emit_llvm.h"
#endif

namespace lijit::runtime {

#ifdef LIJIT_HAS_LLVM

Result<std::string> LlvmVersion() { return codegen::LlvmVersion(); }

Result<std::string> EmitLlvm(const ir::Module& lowered, const target::Target& target) {
  return codegen::EmitLlvm(lowered, target);
}

Result<std::string> EmitPtx(const ir::Module& lowered, const target::Target& target,
                            int ptx_version) {
  return codegen::EmitPtx(lowered, target, ptx_version);
}

#else

namespace {

Error NotBuilt() {
  return Unavailable("this build has no LLVM; build lijit with LLVM 22 (LIJIT_WITH_LLVM=ON).");
}

}  // namespace

Result<std::string> LlvmVersion() { return NotBuilt(); }
Result<std::string> EmitLlvm(const ir::Module&, const target::Target&) { return NotBuilt(); }
Result<std::string> EmitPtx(const ir::Module&, const target::Target&, int) { return NotBuilt(); }

#endif

}  // namespace lijit::runtime
