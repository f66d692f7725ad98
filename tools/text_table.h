// SPDX-License-Identifier: Apache-2.0
// Aligned columns for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lijit::tools {

using TextRow = std::vector<std::string>;

// Columns two spaces apart, as wide as their widest cell; those whose header begins with '>' (which
// is not printed) to the right. Nothing follows the last cell of a row.
std::string TextTable(const TextRow& headers, const std::vector<TextRow>& rows);

// "label   value" lines, values aligned. Lines of a value with several are aligned, too.
std::string TextFields(const std::vector<std::pair<std::string, std::string>>& fields);

// "yes" or "NO": what is wrong shall stand out.
std::string_view YesNo(bool value);

// 1.5 MiB, 132 B.
std::string TextBytes(unsigned long long bytes);

// The text with '?' for control characters other than newline and tab: what comes from a file must
// not steer the terminal.
std::string Printable(std::string text);

// The strings with `separator` between them.
std::string Join(const std::vector<std::string>& parts, std::string_view separator = ", ");

}  // namespace lijit::tools
