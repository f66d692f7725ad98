// SPDX-License-Identifier: Apache-2.0
#include "tools/disassemble.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

extern char** environ;  // NOLINT: as POSIX names it

namespace lijit::tools {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> SearchFolders() {
  std::vector<std::string> folders;
  const std::string path = Environment("PATH");
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    if (end > start) folders.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  const std::string cuda_home = Environment("CUDA_HOME");
  if (!cuda_home.empty()) folders.push_back(cuda_home + "/bin");
  folders.emplace_back("/usr/local/cuda/bin");
  return folders;
}

// A file that is removed when it goes out of scope.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::error_code error;
    std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error) folder = "/tmp";
    path_ = (folder / "lijit-XXXXXX").string();
    descriptor_ = mkstemp(path_.data());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }

  bool Write(std::span<const std::byte> bytes) {
    while (descriptor_ >= 0 && !bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return descriptor_ >= 0;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

std::string ReadToEnd(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(descriptor, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

struct Outcome {
  int status = 0;  // as waitpid gives it
  std::string output;
};

// Runs a program without a shell; stdout and stderr together are its output.
Result<Outcome> Run(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2];
  if (pipe(ends) != 0) return Failed(fmt::format("no pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Outcome outcome;
  if (error == 0) {
    outcome.output = ReadToEnd(ends[0]);
    while (waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  if (error != 0)
    return Failed(fmt::format("{} cannot be started: {}", arguments[0], std::strerror(error)));
  return outcome;
}

}  // namespace

Result<std::string> FindNvdisasm() {
  for (const std::string& folder : SearchFolders()) {
    const std::string path = folder + "/nvdisasm";
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0)
      return path;
  }
  return Unavailable(
      "nvdisasm, which prints SASS, is not in PATH, CUDA_HOME/bin or /usr/local/cuda/bin; it comes "
      "with the CUDA toolkit and as NVIDIA's wheel nvidia-cuda-nvdisasm");
}

Result<std::string> Disassemble(const std::string& nvdisasm, std::span<const std::byte> cubin) {
  TemporaryFile file;
  if (!file.Write(cubin))
    return Failed(fmt::format("{} cannot be written: {}", file.path(), std::strerror(errno)));
  LIJIT_ASSIGN(Outcome outcome, Run({nvdisasm, "-c", file.path()}));
  if (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status) != 0)
    return Failed(fmt::format("{} refuses the cubin: {}", nvdisasm, outcome.output));
  return std::move(outcome.output);
}

}  // namespace lijit::tools
