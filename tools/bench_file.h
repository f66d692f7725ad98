// SPDX-License-Identifier: Apache-2.0
// Tables of times as JSON files: {"rows": [{"kind": "paged", "H": 64, "B": 8, "ctx": 4096,
// "next_n": 1, "us": 4.47, "metadata_us": 2.84}, {"kind": "prefill", "H": 64, "S": 2048, "N": 4096,
// "mask": "causal", "us": 100.39}, ...]}, as `lijit bench --json` prints them and as peers are
// measured. Other members are ignored.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/bench.h"
#include "lijit/result.h"

namespace lijit::tools {

// The rows of a file; `name` is the file's, in messages. A row without "us" (not timed) has 0.
Result<std::vector<BenchTime>> ParseBenchFile(std::string_view text, const std::string& name);

// "kind", "H" and the members of its kind.
nlohmann::ordered_json ShapeJson(const BenchShape& shape);
// "paged H64 B8 ctx4096 n1", "prefill H64 2048x4096 causal".
std::string ShapeText(const BenchShape& shape);

}  // namespace lijit::tools
