// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/compile_log.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <system_error>
#include <vector>

namespace lijit::runtime {
namespace {

// More would hide the message; the first errors are those that matter.
constexpr std::size_t kMaxQuotedPlaces = 8;

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// Line numbers, from 1, in order of size.
std::set<std::size_t> PlacesIn(std::string_view log, std::string_view marker, std::size_t lines) {
  std::set<std::size_t> places;
  for (std::size_t at = log.find(marker); at != std::string_view::npos; at = log.find(marker, at)) {
    at += marker.size();
    std::size_t number = 0;
    const auto parsed = std::from_chars(log.data() + at, log.data() + log.size(), number);
    if (parsed.ec == std::errc() && number >= 1 && number <= lines) places.insert(number);
    if (places.size() == kMaxQuotedPlaces) break;
  }
  return places;
}

}  // namespace

std::string QuoteLines(std::string_view log, std::string_view marker, std::string_view text) {
  const std::vector<std::string_view> lines = SplitLines(text);
  const std::set<std::size_t> places = PlacesIn(log, marker, lines.size());
  std::set<std::size_t> shown;
  for (std::size_t place : places) {
    for (std::size_t line = place - 1; line <= place + 1; ++line) {
      if (line >= 1 && line <= lines.size()) shown.insert(line);
    }
  }
  std::string quoted;
  std::size_t previous = 0;
  for (std::size_t line : shown) {
    if (previous != 0 && line != previous + 1) quoted += "     ...\n";
    quoted +=
        fmt::format("{} {:5} | {}\n", places.contains(line) ? '>' : ' ', line, lines[line - 1]);
    previous = line;
  }
  return quoted;
}

std::string CleanLog(std::string_view log) {
  std::string clean;
  for (std::string_view line : SplitLines(log.substr(0, log.find('\0')))) {
    if (line.find("Compile time = ") == std::string_view::npos) clean += fmt::format("{}\n", line);
  }
  clean.erase(clean.find_last_not_of(" \n") + 1);
  return clean;
}

}  // namespace lijit::runtime
