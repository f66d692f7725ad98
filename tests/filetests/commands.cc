// SPDX-License-Identifier: Apache-2.0
#include "tests/filetests/commands.h"

#include <fmt/format.h>

#include <array>

#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/shipped_modules.h"
#include "compiler/ir/verifier.h"

namespace lijit::filetests {
namespace {

Status ParseUsed(ir::Module& module, const std::string& name) {
  for (const EmbeddedFile& file : ir::ShippedModules()) {
    if (file.name == name) return ir::ParseInto(module, file.text, name);
  }
  return InvalidArgument(fmt::format("`// use {}` names no shipped module", name));
}

Result<ir::Module> ParseFile(const TestFile& file) {
  ir::Module module;
  for (const std::string& name : file.uses) LIJIT_TRY(ParseUsed(module, name));
  std::vector<ir::ParameterOverride> values;
  for (const std::string& argument : file.arguments) {
    const std::size_t equal = argument.find('=');
    if (equal == std::string::npos) {
      return InvalidArgument(fmt::format("argument '{}' is not name=value", argument));
    }
    values.push_back({argument.substr(0, equal), argument.substr(equal + 1)});
  }
  LIJIT_TRY(ir::ParseInto(module, file.text, file.name, values));
  return module;
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

constexpr std::array kCommands = {
    Command{"verifier", Command::Expectation::kErrors, RunVerifier},
    Command{"print", Command::Expectation::kText, RunPrint},
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
