// SPDX-License-Identifier: Apache-2.0
// The environment variables that the runtime looks at, read once and checked at the border. (Those
// of the cache are read with it: lijit/cache.h.)
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "lijit/result.h"

namespace lijit::runtime {

enum class CompileMode { kHere, kWorker };

enum class LogLevel { kOff, kError, kInfo, kDebug };

// Empty strings mean: not set.
struct Environment {
  std::string nvrtc;                         // LIJIT_NVRTC: the file to load, and no other
  std::string nvjitlink;                     // LIJIT_NVJITLINK: likewise
  std::string backend;                       // LIJIT_BACKEND: "cuda" or "ptx"
  CompileMode compile = CompileMode::kHere;  // LIJIT_COMPILE: "here", or "worker": in processes of
                                             // their own, which may crash
  std::string worker;                        // LIJIT_WORKER: the program lijit-worker
  std::chrono::seconds worker_limit{120};    // LIJIT_WORKER_SECONDS: for one kernel
  LogLevel log = LogLevel::kOff;             // LIJIT_LOG: "off", "error", "info" or "debug"
  std::string cuda_home;  // CUDA_HOME: a toolkit's folder, searched for libraries
};

// Returns a variable's value, null when it is not set.
using EnvironmentReader = std::function<const char*(const char* name)>;

// A value that cannot be right is InvalidArgument, naming variable, value and what is accepted.
Result<Environment> ReadEnvironment(const EnvironmentReader& read);

// This process's, read at the first call.
const Result<Environment>& ProcessEnvironment();

}  // namespace lijit::runtime
