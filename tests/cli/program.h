// SPDX-License-Identifier: Apache-2.0
// Runs a program and catches what it says.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lijit::cli {

struct Invocation {
  std::string program;
  std::vector<std::string> arguments;
  // Added to this process's environment, whose own LIJIT_CACHE_*, LIJIT_BACKEND and LIJIT_LOG the
  // program does not see.
  std::map<std::string, std::string> environment;
  std::string input;        // stdin
  std::string output_path;  // where stdout goes; "": into Answer::out
};

struct Answer {
  int code = -1;  // the exit code; 128 + signal if it died of one
  std::string out, err;
};

// `folder` holds what the program reads and writes while it runs.
Answer RunProgram(const Invocation& invocation, const std::string& folder);

}  // namespace lijit::cli
