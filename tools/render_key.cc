// SPDX-License-Identifier: Apache-2.0
#include "tools/render_key.h"

#include <fmt/format.h>

#include "lijit/cache.h"
#include "tools/line_diff.h"
#include "tools/text_table.h"

namespace lijit::tools {
namespace {

using json = nlohmann::ordered_json;

bool HasLines(std::string_view text) { return text.find('\n') != std::string_view::npos; }

// Each line two spaces further right.
std::string Indented(std::string_view text) {
  std::string indented;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    indented += fmt::format("  {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return indented;
}

std::string Side(bool is_there, const std::string& bytes) { return is_there ? bytes : "(absent)"; }

std::string DifferenceText(const cache::KeyDifference& difference) {
  const auto& [label, in_a, in_b, a, b] = difference;
  if (!HasLines(a) && !HasLines(b)) {
    return fmt::format("{}\n  - {}\n  + {}\n", label, Side(in_a, a), Side(in_b, b));
  }
  return fmt::format("{}\n{}", label, Indented(LineDiff(a, b)));
}

json SideJson(bool is_there, const std::string& bytes) { return is_there ? json(bytes) : json(); }

}  // namespace

std::string KeyText(std::string_view key) {
  const auto fields = cache::ParseKey(key);
  if (!fields.ok()) return std::string(key);
  std::size_t width = 0;
  for (const cache::KeyField& field : *fields) width = std::max(width, field.label.size());
  std::string text;
  for (const auto& [label, bytes] : *fields) {
    text += HasLines(bytes) ? fmt::format("{}\n{}", label, Indented(bytes))
                            : fmt::format("{:<{}}  {}\n", label, width, bytes);
  }
  return text;
}

json KeyJson(std::string_view key) {
  const auto fields = cache::ParseKey(key);
  if (!fields.ok()) return nullptr;
  json list = json::array();
  for (const auto& [label, bytes] : *fields) list.push_back({{"label", label}, {"bytes", bytes}});
  return list;
}

Result<Report> ReportExplain(std::string_view a, std::string_view b) {
  LIJIT_ASSIGN(const std::vector<cache::KeyDifference> differences, cache::Explain(a, b));
  json list = json::array();
  std::string text = differences.empty() ? "The keys are equal.\n" : "";
  for (const cache::KeyDifference& difference : differences) {
    list.push_back({{"label", difference.label},
                    {"a", SideJson(difference.in_a, difference.a)},
                    {"b", SideJson(difference.in_b, difference.b)}});
    text += DifferenceText(difference);
  }
  return Report{.json = {{"ok", true},
                         {"a", cache::KeyDigest(a)},
                         {"b", cache::KeyDigest(b)},
                         {"equal", differences.empty()},
                         {"differences", list}},
                .text = Printable(text)};
}

}  // namespace lijit::tools
