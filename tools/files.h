// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
#pragma once

#include <string>
#include <string_view>

#include "lijit/result.h"

namespace lijit::tools {

// The bytes of a file, or of stdin for "-". kInvalidArgument if there is none that can be read.
Result<std::string> ReadFile(const std::string& path);

// kInvalidArgument: the file cannot be made; kFailed: it cannot be filled.
Status WriteFile(const std::string& path, std::string_view bytes);

}  // namespace lijit::tools
