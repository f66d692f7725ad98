// SPDX-License-Identifier: Apache-2.0
// The files that `lijit plan` reads: a model's caches, and what an engine reported.
#pragma once

#include <string>
#include <string_view>

#include "lijit/capacity.h"

namespace lijit::tools {

// A model in JSON; docs/capacity.md has an example. kInvalidArgument names the member that is
// wrong, unknown or missing.
Result<capacity::Model> ParseModelFile(std::string_view text, const std::string& name);

// JSON (an object) or an engine's log.
Result<capacity::Observed> ParseObservedFile(std::string_view text, const std::string& name);

}  // namespace lijit::tools
