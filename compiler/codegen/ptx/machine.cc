// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/ptx/machine.h"

#include <fmt/format.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "compiler/codegen/ptx/guard.h"

namespace lijit::codegen {
namespace {

const llvm::Triple& PtxTriple() {
  static const llvm::Triple triple("nvptx64-nvidia-cuda");
  return triple;
}

Result<const llvm::Target*> FindTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string problem;
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(PtxTriple(), problem);
  if (target == nullptr) return Unavailable("this LLVM cannot generate PTX: " + problem);
  return target;
}

// LLVM itself would only warn, and print PTX for a target that there is not.
Status CheckKnown(const llvm::Target& llvm_target, const target::Target& target, int ptx_version) {
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      llvm_target.createMCSubtargetInfo(PtxTriple(), "", ""));
  if (!info->isCPUStringValid(target.name)) {
    return Refused(fmt::format("LLVM {} does not know {}; backend cuda does without LLVM",
                               LLVM_VERSION_STRING, target.name));
  }
  for (const llvm::SubtargetFeatureKV& feature : info->getAllProcessorFeatures()) {
    if (fmt::format("ptx{}", ptx_version) == feature.Key) return {};
  }
  return Refused(fmt::format("LLVM {} does not know PTX {}.{}; backend cuda does without LLVM",
                             LLVM_VERSION_STRING, ptx_version / 10, ptx_version % 10));
}

// LLVM's usual passes, without those that would put threads' work into vectors.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(options, false);
  LLVMPassBuilderOptionsSetSLPVectorization(options, false);
  LLVMPassBuilderOptionsSetLoopInterleaving(options, false);
  LLVMErrorRef problem = LLVMRunPasses(llvm::wrap(&module), "default<O2>",
                                       reinterpret_cast<LLVMTargetMachineRef>(&machine), options);
  LIJIT_CHECK(problem == nullptr);
  LLVMDisposePassBuilderOptions(options);
}

}  // namespace

Result<std::unique_ptr<Machine>> Machine::Create(const target::Target& target, int ptx_version) {
  LIJIT_ASSIGN(const llvm::Target* const llvm_target, FindTarget());
  LIJIT_TRY(CheckKnown(*llvm_target, target, ptx_version));
  llvm::TargetOptions options;
  // Neither LLVM nor the assembler may fuse: every operation is printed with its rounding.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine;
  // A version that is too old for the target ends the process.
  LIJIT_TRY(RunGuarded(fmt::format("preparing for {}", target.name), [&] {
    machine.reset(llvm_target->createTargetMachine(
        PtxTriple(), target.name, fmt::format("+ptx{}", ptx_version), options, std::nullopt,
        std::nullopt, llvm::CodeGenOptLevel::Default));
  }));
  LIJIT_CHECK(machine != nullptr);
  return std::unique_ptr<Machine>(new Machine(std::move(machine)));
}

Machine::Machine(std::unique_ptr<llvm::TargetMachine> machine) : machine_(std::move(machine)) {}

Machine::~Machine() = default;

void Machine::Prepare(llvm::Module& module) const {
  module.setTargetTriple(PtxTriple());
  module.setDataLayout(machine_->createDataLayout());
}

std::string Machine::Generate(llvm::Module& module) {
  Optimize(module, *machine_);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager printer;
  const bool impossible =
      machine_->addPassesToEmitFile(printer, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
  LIJIT_CHECK(!impossible);
  printer.run(module);
  return std::string(text);
}

namespace {

struct Pool {
  std::mutex mutex;
  std::map<std::pair<std::string_view, int>, std::vector<std::unique_ptr<Machine>>> idle;
};

// Never destroyed: threads may still compile while the process ends.
Pool& ProcessPool() {
  static Pool& pool = *new Pool;
  return pool;
}

}  // namespace

Result<std::unique_ptr<Machine>> TakeMachine(const target::Target& target, int ptx_version) {
  Pool& pool = ProcessPool();
  {
    const std::lock_guard lock(pool.mutex);
    auto& idle = pool.idle[{target.name, ptx_version}];
    if (!idle.empty()) {
      std::unique_ptr<Machine> machine = std::move(idle.back());
      idle.pop_back();
      return machine;
    }
  }
  return Machine::Create(target, ptx_version);
}

void ReturnMachine(const target::Target& target, int ptx_version,
                   std::unique_ptr<Machine> machine) {
  Pool& pool = ProcessPool();
  const std::lock_guard lock(pool.mutex);
  pool.idle[{target.name, ptx_version}].push_back(std::move(machine));
}

}  // namespace lijit::codegen
