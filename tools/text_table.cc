// SPDX-License-Identifier: Apache-2.0
#include "tools/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace lijit::tools {
namespace {

bool IsRight(const std::string& header) { return header.starts_with('>'); }
std::string Title(const std::string& header) { return header.substr(IsRight(header) ? 1 : 0); }

std::string TrimmedRight(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string TextTable(const TextRow& headers, const std::vector<TextRow>& rows) {
  std::vector<TextRow> all(1);
  for (const std::string& header : headers) all[0].push_back(Title(header));
  all.insert(all.end(), rows.begin(), rows.end());
  std::vector<std::size_t> widths(headers.size());
  for (const TextRow& row : all) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TextRow& row : all) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i != 0) line += "  ";
      line += IsRight(headers[i]) ? fmt::format("{:>{}}", row[i], widths[i])
                                  : fmt::format("{:<{}}", row[i], widths[i]);
    }
    text += TrimmedRight(std::move(line)) + "\n";
  }
  return text;
}

std::string TextFields(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::size_t width = 0;
  for (const auto& [label, value] : fields) width = std::max(width, label.size());
  std::string text;
  for (const auto& [label, value] : fields) {
    std::string line = fmt::format("{:<{}}  ", label, width);
    for (const char c : value) {
      line += c;
      if (c == '\n') line.append(width + 2, ' ');
    }
    text += TrimmedRight(std::move(line)) + "\n";
  }
  return text;
}

std::string_view YesNo(bool value) { return value ? "yes" : "NO"; }

std::string TextBytes(unsigned long long bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95) {  // would be printed as 1024.0
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string Printable(std::string text) {
  for (char& c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (control && c != '\n' && c != '\t') c = '?';
  }
  return text;
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

}  // namespace lijit::tools
