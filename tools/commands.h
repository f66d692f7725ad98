// SPDX-License-Identifier: Apache-2.0
// The commands of `lijit`. Each function adds a command's options, help and example to `app` and
// returns what is to be done once they are parsed.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/report.h"

namespace lijit::tools {

Action AddRun(CLI::App& app);
Action AddOpt(CLI::App& app);
Action AddEmit(CLI::App& app);
Action AddWarm(CLI::App& app);
Action AddCache(CLI::App& app);
Action AddDump(CLI::App& app);
Action AddTargets(CLI::App& app);
Action AddPlan(CLI::App& app);
Action AddDoctor(CLI::App& app);
Action AddBench(CLI::App& app);

}  // namespace lijit::tools
