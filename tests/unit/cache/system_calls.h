// SPDX-License-Identifier: Apache-2.0
// Runs a function in a child process and meddles with its system calls: kills it at any one of
// them, or makes one fail. So every step of a publication is a place to crash at, and every failure
// that a file system can report can be had without that file system.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lijit::cache {

struct Meddling {
  std::optional<int> kill_before = {};     // the n-th system call, from 0
  std::optional<int> fail_file_call = {};  // the n-th of those about files fails with `error`
  std::vector<long> fail_numbers = {};     // all calls of these numbers (SYS_flock) fail, too
  int error = 0;                           // an errno
};

struct Traced {
  int calls = 0;        // system calls that the child made, or began
  int file_calls = 0;   // of these, about files
  bool failed = false;  // a call was made to fail
  bool killed = false;
  int exit_code = -1;  // unless killed: 0 if the function returned true; 128 + a signal it died of
};

// Why system calls cannot be traced here, or "".
std::string WhyNoTracing();

// `function` runs in a forked child, which must have one thread.
Traced RunTraced(const std::function<bool()>& function, const Meddling& meddling);

}  // namespace lijit::cache
