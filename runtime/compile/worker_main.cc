// SPDX-License-Identifier: Apache-2.0
// The program lijit-worker: reads one compile job from standard input, does it, writes the result
// to standard output. Started by lijit (worker.h), not by people.
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "runtime/compile/compile_job.h"

namespace lijit::runtime {
namespace {

std::string ReadAll(int descriptor) {
  std::string text;
  std::string buffer(1 << 16, '\0');
  while (true) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, 0, static_cast<std::size_t>(count));
  }
}

bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// A compiler that prints must not print into the result.
int TakeOutput() {
  const int output = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return output;
}

int Run() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int output = TakeOutput();
  const Result<CompileJob> job = ParseJob(ReadAll(STDIN_FILENO));
  const Result<Compilation> result = job.ok() ? RunJob(*job) : Result<Compilation>(job.error());
  return WriteAll(output, ResultText(result)) ? 0 : 1;
}

}  // namespace
}  // namespace lijit::runtime

int main() { return lijit::runtime::Run(); }
