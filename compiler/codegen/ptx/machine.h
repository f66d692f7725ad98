// SPDX-License-Identifier: Apache-2.0
// LLVM's code generators, one a target and PTX version, made once and reused. Inside of codegen/ptx
// only.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "compiler/target/target.h"
#include "lijit/result.h"

namespace lijit::codegen {

class Machine {
 public:
  // Refused: LLVM does not know the target or the version.
  static Result<std::unique_ptr<Machine>> Create(const target::Target& target, int ptx_version);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // What a module is made for: triple and data layout.
  void Prepare(llvm::Module& module) const;
  // Optimizes the module and prints its PTX. Not for several threads at once.
  std::string Generate(llvm::Module& module);

 private:
  explicit Machine(std::unique_ptr<llvm::TargetMachine> machine);

  std::unique_ptr<llvm::TargetMachine> machine_;
};

// A machine that no other thread uses.
Result<std::unique_ptr<Machine>> TakeMachine(const target::Target& target, int ptx_version);
// For the next one who takes it.
void ReturnMachine(const target::Target& target, int ptx_version, std::unique_ptr<Machine> machine);

}  // namespace lijit::codegen
