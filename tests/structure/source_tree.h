// SPDX-License-Identifier: Apache-2.0
// The files of the checkout as the rules of this folder see them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lijit::structure {

// All files below the root, as sorted paths relative to it. Build folders, hidden folders other
// than .ci, and the checkouts that a build folder may hold are left out.
std::vector<std::string> SourceFiles();

// The content of a file that SourceFiles named; "" if it cannot be read.
std::string ReadSource(std::string_view path);

// The text without its line ends, a line each.
std::vector<std::string> Lines(std::string_view text);

}  // namespace lijit::structure
