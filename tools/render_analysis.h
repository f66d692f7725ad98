// SPDX-License-Identifier: Apache-2.0
// What `lijit bench --analyze` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lijit/analyze.h"

namespace lijit::tools {

nlohmann::ordered_json AnalysisJson(const AnalyzeReport& report);
// Tables for each target and op, formats side by side.
std::string AnalysisText(const AnalyzeReport& report);
// A row for each op, GPU and format: clocks of a multiprocessor a pair, by pipe.
std::string AnalysisMarkdown(const AnalyzeReport& report);

}  // namespace lijit::tools
