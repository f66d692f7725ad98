// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lijit::tools {

// The lines that differ, with '-' (only in `before`), '+' (only in `after`) and three lines around
// them; empty if the texts are equal. Texts of many thousand lines that differ all over are shown
// one after the other.
std::string LineDiff(std::string_view before, std::string_view after);

}  // namespace lijit::tools
