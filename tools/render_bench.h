// SPDX-License-Identifier: Apache-2.0
// A bench's report, and its comparison with a peer's, as JSON and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lijit/bench.h"

namespace lijit::tools {

// What was not measured is null.
nlohmann::ordered_json BenchJson(const BenchReport& report);
std::string BenchText(const BenchReport& report);

nlohmann::ordered_json ComparisonJson(const BenchComparison& comparison);
std::string ComparisonText(const BenchComparison& comparison);

}  // namespace lijit::tools
