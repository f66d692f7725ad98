// SPDX-License-Identifier: Apache-2.0
// What a file test can do with its text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/module.h"
#include "lijit/result.h"
#include "tests/filetests/test_file.h"

namespace lijit::filetests {

struct Command {
  std::string_view name;
  // What the output is compared with: the file's `// error:` comments or its `// expect:` text.
  enum class Expectation { kErrors, kText } expectation;
  Result<std::string> (*run)(const TestFile& file);
};

std::span<const Command> AllCommands();
// Null if there is none.
const Command* FindCommand(std::string_view name);

// The modules that the file uses and its own text, verified. Arguments `name=value` are values for
// the text's parameters; a command removes its own before.
Result<ir::Module> ModuleOf(const TestFile& file);

}  // namespace lijit::filetests
