// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "lijit/result.h"
#include "runtime/emulator/ptx_module.h"

namespace lijit::emulator {

// Parses PTX text (any bytes). Directives, names and labels are checked here, instructions by the
// decoder. Errors name the line.
Result<Module> ParsePtx(std::string_view text);

}  // namespace lijit::emulator
