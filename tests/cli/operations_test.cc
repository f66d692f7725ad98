// SPDX-License-Identifier: Apache-2.0
// docs/operations.md is right: its `sh` blocks run, in order, in an empty folder, with nothing but
// lijit and the system's tools.
#include <filesystem>
#include <sstream>

#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

using Operations = CompilingCliTest;

// The lines of all ```sh blocks, each block preceded by its number on stderr.
std::string ShellBlocks(const std::string& markdown, int& blocks) {
  std::istringstream text(markdown);
  std::string script = "set -euo pipefail\n";
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line == "```sh") {
      inside = true;
      script += "echo 'block " + std::to_string(++blocks) + "' >&2\n";
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      script += line + "\n";
    }
  }
  return script;
}

TEST_F(Operations, EveryCommandOfTheDocumentWorks) {
  int blocks = 0;
  const std::string script = ShellBlocks(Read(SourcePath("docs/operations.md")), blocks);
  EXPECT_GE(blocks, 8);
  std::filesystem::create_directories(Path("work"));
  environment_ = {
      {"HOME", Path("work")},
      {"XDG_CACHE_HOME", ""},
      {"PATH", std::filesystem::path(LIJIT_PROGRAM).parent_path().string() + ":/usr/bin:/bin"}};
  const std::string file = Write("script", "cd '" + Path("work") + "'\n" + script);
  const Answer answer = RunProgram({"/bin/bash", {file}, environment_, "", ""}, Path("."));
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
}

}  // namespace
}  // namespace lijit::cli
