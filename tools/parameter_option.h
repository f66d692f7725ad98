// SPDX-License-Identifier: Apache-2.0
// --param NAME=VALUE, for `param` declarations of .lir text.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lijit/compiler.h"
#include "lijit/result.h"

namespace lijit::tools {

void AddParameterOption(CLI::App& app, std::vector<std::string>& parameters);

// kInvalidArgument for one without a name or '='.
Result<std::vector<ParameterValue>> ParseParameters(const std::vector<std::string>& parameters);

}  // namespace lijit::tools
