// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lijit::filetests {

// The lines that differ, with '-' (only in `before`), '+' (only in `after`) and three lines around
// them; empty if the texts are equal.
std::string UnifiedDiff(std::string_view before, std::string_view after);

}  // namespace lijit::filetests
