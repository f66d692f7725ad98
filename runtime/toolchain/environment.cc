// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/environment.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace lijit::runtime {
namespace {

constexpr std::pair<std::string_view, LogLevel> kLogLevels[] = {
    {"off", LogLevel::kOff},
    {"error", LogLevel::kError},
    {"info", LogLevel::kInfo},
    {"debug", LogLevel::kDebug},
};

Error BadValue(std::string_view name, std::string_view value, std::string_view accepted) {
  return InvalidArgument(fmt::format("{}='{}': {}", name, value, accepted));
}

std::string Text(const EnvironmentReader& read, const char* name) {
  const char* value = read(name);
  return value == nullptr ? "" : value;
}

Result<std::string> ReadFile(const EnvironmentReader& read, const char* name) {
  std::string path = Text(read, name);
  std::error_code ignored;
  if (!path.empty() && !std::filesystem::is_regular_file(path, ignored)) {
    return BadValue(name, path, "no such file; give the path of the file itself");
  }
  return path;
}

Result<std::string> ReadBackend(const EnvironmentReader& read) {
  std::string value = Text(read, "LIJIT_BACKEND");
  if (value.empty() || value == "cuda" || value == "ptx") return value;
  return BadValue("LIJIT_BACKEND", value, "accepted are cuda, ptx");
}

Result<CompileMode> ReadCompileMode(const EnvironmentReader& read) {
  const std::string value = Text(read, "LIJIT_COMPILE");
  if (value.empty() || value == "here") return CompileMode::kHere;
  if (value == "worker") return CompileMode::kWorker;
  return BadValue("LIJIT_COMPILE", value, "accepted are here, worker");
}

Result<std::chrono::seconds> ReadWorkerLimit(const EnvironmentReader& read,
                                             std::chrono::seconds usual) {
  constexpr std::int64_t kDay = 86400;
  const std::string value = Text(read, "LIJIT_WORKER_SECONDS");
  if (value.empty()) return usual;
  std::int64_t seconds = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, problem] = std::from_chars(value.data(), end, seconds);
  if (problem == std::errc() && rest == end && seconds >= 1 && seconds <= kDay) {
    return std::chrono::seconds(seconds);
  }
  return BadValue("LIJIT_WORKER_SECONDS", value, "accepted are whole seconds, 1 to 86400");
}

Result<LogLevel> ReadLogLevel(const EnvironmentReader& read) {
  const std::string value = Text(read, "LIJIT_LOG");
  if (value.empty()) return LogLevel::kOff;
  for (const auto& [name, level] : kLogLevels) {
    if (value == name) return level;
  }
  return BadValue("LIJIT_LOG", value, "accepted are off, error, info, debug");
}

}  // namespace

Result<Environment> ReadEnvironment(const EnvironmentReader& read) {
  Environment environment;
  LIJIT_ASSIGN(environment.nvrtc, ReadFile(read, "LIJIT_NVRTC"));
  LIJIT_ASSIGN(environment.nvjitlink, ReadFile(read, "LIJIT_NVJITLINK"));
  LIJIT_ASSIGN(environment.backend, ReadBackend(read));
  LIJIT_ASSIGN(environment.compile, ReadCompileMode(read));
  LIJIT_ASSIGN(environment.worker, ReadFile(read, "LIJIT_WORKER"));
  LIJIT_ASSIGN(environment.worker_limit, ReadWorkerLimit(read, environment.worker_limit));
  LIJIT_ASSIGN(environment.log, ReadLogLevel(read));
  environment.cuda_home = Text(read, "CUDA_HOME");
  return environment;
}

const Result<Environment>& ProcessEnvironment() {
  static const Result<Environment> environment =
      ReadEnvironment([](const char* name) { return static_cast<const char*>(std::getenv(name)); });
  return environment;
}

}  // namespace lijit::runtime
