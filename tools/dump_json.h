// SPDX-License-Identifier: Apache-2.0
// The JSON of `lijit dump --json` and `cubin-dump --json`; field names are documented in README.md.
#pragma once

#include <nlohmann/json.hpp>

#include "lijit/cubin.h"

namespace lijit::tools {

// One object. Fields that a kind of file does not have are null; a fatbin's `kernels` are those of
// all its members, each with its target.
nlohmann::ordered_json ToJson(const cubin::Dump& dump);

}  // namespace lijit::tools
