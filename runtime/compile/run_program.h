// SPDX-License-Identifier: Apache-2.0
// Runs a program that reads a text and writes one, and may crash or hang.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "lijit/result.h"

namespace lijit::runtime {

struct ProgramEnd {
  std::string output;
  std::string problem;  // "crashed with signal 11 (Segmentation fault)"; "" if it ended with code 0
};

// Starts `path` with `input` as its standard input and takes its standard output; standard error is
// dropped. A program that has not ended after `limit` is killed, which is a problem. Failed: it
// could not be started.
Result<ProgramEnd> RunProgram(const std::string& path, std::string_view input,
                              std::chrono::milliseconds limit);

}  // namespace lijit::runtime
