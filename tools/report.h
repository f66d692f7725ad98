// SPDX-License-Identifier: Apache-2.0
// What a command came to, before it is printed: commands compute, main prints.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"
#include "tools/progress.h"

namespace lijit::tools {

struct Report {
  nlohmann::ordered_json json;             // one object, for --json
  std::string text;                        // the same for people
  bool ok = true;                          // false: it ran, and the answer is no
  std::vector<std::string> warnings = {};  // for stderr
  Status status = {};                      // what failed although there is something to print
};

// A command whose options are parsed.
using Action = std::function<Result<Report>(Progress&)>;

// Prints a report, or the error in its place: JSON or text on stdout, the rest on stderr as
// "PROGRAM: message". Returns the exit code (tools/exit_codes.h).
int Print(std::string_view program, const Result<Report>& report, bool json);

}  // namespace lijit::tools
