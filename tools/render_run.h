// SPDX-License-Identifier: Apache-2.0
// A run's report as JSON and as text. Field names are documented in README.md.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lijit/run.h"

namespace lijit::tools {

// Numbers that are not finite are null.
nlohmann::ordered_json RunJson(const RunReport& report);
std::string RunText(const RunReport& report);

// The selected columns, each row's best score first, then the -1 of rows with fewer. (The kernel
// selects a set, in ascending order.)
std::vector<std::int32_t> BestFirst(const RunReport& report);

}  // namespace lijit::tools
