// SPDX-License-Identifier: Apache-2.0
#include "tools/line_diff.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace lijit::tools {
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

// Above this many pairs of lines, no common lines are looked for: they would take gigabytes.
constexpr std::size_t kMaxPairs = 25'000'000;

// The lines of both, each with ' ', '-' or '+' before it.
void AppendMarked(const Lines& a, const Lines& b, Lines& marked) {
  const bool compare = b.empty() || a.size() <= kMaxPairs / b.size();
  const auto lengths = compare ? CommonLengths(a, b) : std::vector<std::vector<int>>();
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (compare && i < a.size() && j < b.size() && a[i] == b[j]) {
      marked.push_back(" " + a[i++]);
      ++j;
    } else if (j == b.size() ||
               (i < a.size() && (!compare || lengths[i + 1][j] >= lengths[i][j + 1]))) {
      marked.push_back("-" + a[i++]);
    } else {
      marked.push_back("+" + b[j++]);
    }
  }
}

// What both begin and end with costs nothing.
Lines MarkedLines(Lines a, Lines b) {
  Lines marked;
  const auto begin = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  for (auto it = a.begin(); it != begin.first; ++it) marked.push_back(" " + *it);
  a.erase(a.begin(), begin.first);
  b.erase(b.begin(), begin.second);
  const auto end = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  const Lines tail(end.first.base(), a.end());
  a.erase(end.first.base(), a.end());
  b.erase(end.second.base(), b.end());
  AppendMarked(a, b, marked);
  for (const std::string& line : tail) marked.push_back(" " + line);
  return marked;
}

}  // namespace

std::string LineDiff(std::string_view before, std::string_view after) {
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

}  // namespace lijit::tools
