// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string_view>

extern char** environ;  // NOLINT: as POSIX names it

namespace lijit::cli {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool IsHidden(std::string_view variable) {
  return variable.starts_with("LIJIT_CACHE_") || variable.starts_with("LIJIT_BACKEND=") ||
         variable.starts_with("LIJIT_LOG=");
}

std::vector<std::string> EnvironmentOf(const Invocation& invocation) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string name(text.substr(0, text.find('=')));
    if (!IsHidden(text) && !invocation.environment.contains(name)) variables.emplace_back(text);
  }
  for (const auto& [name, value] : invocation.environment) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Answer RunProgram(const Invocation& invocation, const std::string& folder) {
  const std::string in = folder + "/stdin", out = folder + "/stdout", err = folder + "/stderr";
  std::ofstream(in, std::ios::binary) << invocation.input;
  const std::string out_path = invocation.output_path.empty() ? out : invocation.output_path;
  std::vector<std::string> arguments = {invocation.program};
  arguments.insert(arguments.end(), invocation.arguments.begin(), invocation.arguments.end());
  std::vector<std::string> environment = EnvironmentOf(invocation);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_path.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kWrite, 0600);
  pid_t child = 0;
  const int error = posix_spawn(&child, invocation.program.c_str(), &actions, nullptr,
                                Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0) << invocation.program << " cannot be started";
  if (error != 0) return {};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, invocation.output_path.empty() ? Contents(out) : "", Contents(err)};
}

}  // namespace lijit::cli
