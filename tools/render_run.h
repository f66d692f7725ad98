// SPDX-License-Identifier: Apache-2.0
// A run's report as JSON and as text. Field names are documented in README.md.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lijit/run.h"

namespace lijit::tools {

// Numbers that are not finite are null.
nlohmann::json RunJson(const RunReport& report);
std::string RunText(const RunReport& report);

}  // namespace lijit::tools
