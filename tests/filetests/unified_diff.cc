// SPDX-License-Identifier: Apache-2.0
#include "tests/filetests/unified_diff.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace lijit::filetests {
namespace {

using Lines = std::vector<std::string>;

Lines LinesOf(std::string_view text) {
  std::istringstream stream{std::string(text)};
  Lines lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// lengths[i][j]: of the longest common subsequence of a from i on and b from j on.
std::vector<std::vector<int>> CommonLengths(const Lines& a, const Lines& b) {
  std::vector lengths(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      lengths[i][j] =
          a[i] == b[j] ? lengths[i + 1][j + 1] + 1 : std::max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

// Every line with ' ', '-' or '+' before it.
Lines MarkedLines(const Lines& a, const Lines& b) {
  const auto lengths = CommonLengths(a, b);
  Lines marked;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      marked.push_back(" " + a[i++]);
      ++j;
    } else if (j == b.size() || (i < a.size() && lengths[i + 1][j] >= lengths[i][j + 1])) {
      marked.push_back("-" + a[i++]);
    } else {
      marked.push_back("+" + b[j++]);
    }
  }
  return marked;
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after) {
  constexpr std::size_t kContext = 3;
  const Lines marked = MarkedLines(LinesOf(before), LinesOf(after));
  std::vector<bool> shown(marked.size());
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i][0] == ' ') continue;
    const std::size_t end = std::min(marked.size(), i + kContext + 1);
    std::fill(shown.begin() + static_cast<std::ptrdiff_t>(i - std::min(i, kContext)),
              shown.begin() + static_cast<std::ptrdiff_t>(end), true);
  }
  std::string diff;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (shown[i] && (i == 0 || !shown[i - 1])) diff += "@@\n";
    if (shown[i]) diff += marked[i] + "\n";
  }
  return diff;
}

}  // namespace lijit::filetests
