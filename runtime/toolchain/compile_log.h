// SPDX-License-Identifier: Apache-2.0
// Compile logs made readable: users never see generated code otherwise, so an error quotes it.
#pragma once

#include <string>
#include <string_view>

namespace lijit::runtime {

// The lines of `text` that `log` points at, each with one line of context on both sides and its
// number. A pointer is `marker` followed by a line number: marker "k.cu(" finds "k.cu(12): error".
// "" when the log points nowhere.
std::string QuoteLines(std::string_view log, std::string_view marker, std::string_view text);

// Without the lines that change from run to run (compile times), so that equal compilations have
// equal logs, and without trailing empty space.
std::string CleanLog(std::string_view log);

}  // namespace lijit::runtime
