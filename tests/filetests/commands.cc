// SPDX-License-Identifier: Apache-2.0
#include "tests/filetests/commands.h"

#include <fmt/format.h>

#include <array>
#include <sstream>

#include "compiler/codegen/cuda/emit_cuda.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/shipped_modules.h"
#include "compiler/ir/verifier.h"
#include "compiler/lower/lower.h"
#ifdef LIJIT_HAS_LLVM
#include "compiler/codegen/ptx/emit_llvm.h"
#endif

namespace lijit::filetests {
namespace {

using Values = std::vector<ir::ParameterOverride>;

Status ParseUsed(ir::Module& module, const std::string& name, const Values& values) {
  for (const EmbeddedFile& file : ir::ShippedModules()) {
    if (file.name == name) return ir::ParseInto(module, file.text, name, values);
  }
  return InvalidArgument(fmt::format("`// use {}` names no shipped module", name));
}

Result<ir::Module> ParseFile(const TestFile& file) {
  Values values;
  for (const std::string& argument : file.arguments) {
    const std::size_t equal = argument.find('=');
    if (equal == std::string::npos) {
      return InvalidArgument(fmt::format("argument '{}' is not name=value", argument));
    }
    // With several texts, each takes those that it has a `param` for.
    values.push_back({argument.substr(0, equal), argument.substr(equal + 1), !file.uses.empty()});
  }
  ir::Module module;
  for (const std::string& name : file.uses) LIJIT_TRY(ParseUsed(module, name, values));
  LIJIT_TRY(ir::ParseInto(module, file.text, file.name, values));
  return module;
}

// Takes `name=value` out of the arguments; "" if there is none.
std::string Take(TestFile& file, std::string_view name) {
  for (auto it = file.arguments.begin(); it != file.arguments.end(); ++it) {
    if (!it->starts_with(fmt::format("{}=", name))) continue;
    std::string value = it->substr(name.size() + 1);
    file.arguments.erase(it);
    return value;
  }
  return {};
}

// The file's module, or the kernel that `kernel=` names alone.
Result<ir::Module> ModuleOrKernelOf(TestFile& file) {
  const std::string kernel = Take(file, "kernel");
  LIJIT_ASSIGN(ir::Module module, ModuleOf(file));
  if (kernel.empty()) return module;
  return lower::ExtractKernel(module, kernel);
}

// The diagnostics of parser or verifier.
Result<std::string> RunVerifier(const TestFile& file) {
  const auto module = ParseFile(file);
  if (!module.ok()) return module.error().message;
  return RenderDiagnostics(ir::Verify(*module), file.name, file.text);
}

// The canonical text.
Result<std::string> RunPrint(const TestFile& file) {
  LIJIT_ASSIGN(const ir::Module module, ModuleOf(file));
  return ir::Print(module);
}

// target=sm_86 passes=a,b [kernel=name]: the text after these passes, or why one refuses.
Result<std::string> RunLower(const TestFile& test) {
  TestFile file = test;
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(Take(file, "target")));
  std::istringstream passes(Take(file, "passes"));
  LIJIT_ASSIGN(ir::Module module, ModuleOrKernelOf(file));
  for (std::string pass; std::getline(passes, pass, ',');) {
    const Status status = lower::RunPass(module, target, pass);
    if (!status.ok()) return status.error().message + "\n";
  }
  return ir::Print(module);
}

// What is made of a lowered module: the backends' sources, or LLVM's PTX. Unavailable: there is no
// LLVM, whose outputs are those of LLVM 22.1.
Result<std::string> EmitAs(std::string_view output, const ir::Module& lowered,
                           const target::Target& target) {
  if (output == "cuda") return codegen::EmitCuda(lowered);
  if (output != "llvm" && output != "ptx") {
    return InvalidArgument(fmt::format("output '{}' is none of cuda, llvm and ptx", output));
  }
#ifdef LIJIT_HAS_LLVM
  return output == "llvm" ? codegen::EmitLlvm(lowered, target)
                          : codegen::EmitPtx(lowered, target, 90);
#else
  return Unavailable(fmt::format("no LLVM, which could make output {} for {} of {} kernel", output,
                                 target.name, lowered.kernels.size()));
#endif
}

// target=sm_86 output=cuda [kernel=name]: what EmitAs says.
Result<std::string> RunEmit(const TestFile& test) {
  TestFile file = test;
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(Take(file, "target")));
  const std::string output = Take(file, "output");
  LIJIT_ASSIGN(ir::Module module, ModuleOrKernelOf(file));
  LIJIT_ASSIGN(const ir::Module lowered, lower::Lower(std::move(module), target, "simt"));
  return EmitAs(output, lowered, target);
}

constexpr std::array kCommands = {
    Command{"verifier", Command::Expectation::kErrors, RunVerifier},
    Command{"print", Command::Expectation::kText, RunPrint},
    Command{"lower", Command::Expectation::kText, RunLower},
    Command{"emit", Command::Expectation::kText, RunEmit},
};

}  // namespace

std::span<const Command> AllCommands() { return kCommands; }

const Command* FindCommand(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

Result<ir::Module> ModuleOf(const TestFile& file) {
  LIJIT_ASSIGN(ir::Module module, ParseFile(file));
  if (const auto problems = ir::Verify(module); !problems.empty()) {
    return InvalidArgument(RenderDiagnostics(problems, file.name, file.text));
  }
  return module;
}

}  // namespace lijit::filetests
