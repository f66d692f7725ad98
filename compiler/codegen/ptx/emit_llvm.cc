// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/ptx/emit_llvm.h"

#include <fmt/format.h>
#include <llvm-c/Core.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <utility>

#include "compiler/codegen/ptx/build_function.h"
#include "compiler/codegen/ptx/guard.h"
#include "compiler/codegen/ptx/machine.h"

namespace lijit::codegen {
namespace {

// A context of its own for each compilation: threads share nothing.
struct Work {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::string errors;

  Work() : module(std::make_unique<llvm::Module>("lijit", context)) {
    context.setDiagnosticHandlerCallBack(CollectErrors, this);
  }

  // Without a handler, LLVM prints and ends the process.
  static void CollectErrors(const llvm::DiagnosticInfo* info, void* work) {
    if (info->getSeverity() != llvm::DS_Error) return;
    std::string& errors = static_cast<Work*>(work)->errors;
    llvm::raw_string_ostream stream(errors);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    errors += '\n';
  }
};

Status Build(const ir::Module& module, const Machine& machine, Work& work) {
  if (module.kernels.size() != 1 || !module.kernels[0].is_entry) {
    return InvalidArgument("LLVM IR is made of a module of one entry; lower one kernel first");
  }
  machine.Prepare(*work.module);
  LIJIT_TRY(BuildFunction(module.kernels[0], *work.module));
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*work.module, &stream)) AbortAt(__FILE__, __LINE__, problem.c_str());
  return {};
}

// One that all targets have: the text of LLVM IR does not depend on it.
constexpr int kAnyPtxVersion = 90;

}  // namespace

std::string LlvmVersion() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

Result<std::string> EmitLlvm(const ir::Module& module, const target::Target& target) {
  LIJIT_ASSIGN(std::unique_ptr<Machine> machine, TakeMachine(target, kAnyPtxVersion));
  Work work;
  LIJIT_TRY(Build(module, *machine, work));
  std::string text;
  llvm::raw_string_ostream stream(text);
  work.module->print(stream, nullptr);
  ReturnMachine(target, kAnyPtxVersion, std::move(machine));
  return text;
}

Result<std::string> EmitPtx(const ir::Module& module, const target::Target& target,
                            int ptx_version) {
  LIJIT_ASSIGN(std::unique_ptr<Machine> machine, TakeMachine(target, ptx_version));
  auto work = std::make_unique<Work>();
  LIJIT_TRY(Build(module, *machine, *work));
  std::string ptx;
  const std::string what = fmt::format("generating {} for {}", module.kernels[0].name, target.name);
  const Status done = RunGuarded(what, [&] { ptx = machine->Generate(*work->module); });
  if (!done.ok()) {
    // Half-built: what LLVM left there cannot be destroyed.
    static_cast<void>(machine.release());
    static_cast<void>(work.release());
    return done.error();
  }
  ReturnMachine(target, ptx_version, std::move(machine));
  if (!work->errors.empty()) return Failed(fmt::format("LLVM failed {}: {}", what, work->errors));
  return ptx;
}

}  // namespace lijit::codegen
