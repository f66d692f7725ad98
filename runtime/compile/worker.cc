// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/worker.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "runtime/compile/run_program.h"
#include "runtime/toolchain/environment.h"

namespace lijit::runtime {
namespace {

namespace fs = std::filesystem;

// The file that this function was linked into: a shared liblijit, or the program.
fs::path OwnFile() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&FindWorker), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code ignored;
  const fs::path path = fs::canonical(info.dli_fname, ignored);
  // A program may have been started by a bare name.
  return path.empty() ? fs::read_symlink("/proc/self/exe", ignored) : path;
}

Error NoResult(const CompileJob& job, const std::string& path, const std::string& end) {
  return Failed(fmt::format(
      "the compiler {} on kernel {} for {} ({}, in {}); this process is not harmed; "
      "{}, and a report to lijit with the output of `lijit emit` helps",
      end.empty() ? "ended without a result" : end, job.kernel, job.target, job.language, path,
      job.language == "cuda" ? "backend ptx uses another compiler"
                             : "backend cuda uses another compiler"));
}

}  // namespace

Result<std::string> FindWorker() {
  const Result<Environment>& environment = ProcessEnvironment();
  if (!environment.ok()) return environment.error();
  if (!environment->worker.empty()) return environment->worker;
  constexpr const char* kName = "lijit-worker";
  const fs::path folder = OwnFile().parent_path();
  std::string tried;
  for (const fs::path& place : {folder / kName, folder.parent_path() / "bin" / kName,
                                fs::path(LIJIT_INSTALLED_BIN) / kName}) {
    std::error_code ignored;
    if (fs::is_regular_file(place, ignored)) return place.string();
    tried += fmt::format("\n  {}: no such file", place.string());
  }
  return Unavailable(fmt::format(
      "LIJIT_COMPILE=worker, and there is no {}; set LIJIT_WORKER to its path. Looked at:{}", kName,
      tried));
}

Result<Compilation> RunJobInWorker(const CompileJob& job, const std::string& worker,
                                   std::chrono::milliseconds limit) {
  LIJIT_ASSIGN(const ProgramEnd end, RunProgram(worker, JobText(job), limit));
  if (!end.problem.empty() || end.output.empty()) return NoResult(job, worker, end.problem);
  return ParseResult(end.output);
}

}  // namespace lijit::runtime
