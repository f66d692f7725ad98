// SPDX-License-Identifier: Apache-2.0
#include "compiler/support/diagnostic.h"

#include <fmt/format.h>

namespace lijit {
namespace {

std::string_view LineOf(std::string_view text, int line) {
  for (int current = 1; current < line; ++current) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string RenderDiagnostic(const Diagnostic& diagnostic, std::string_view file_name,
                             std::string_view text) {
  const SourceLocation at = diagnostic.location;
  if (at.line == 0) {
    return fmt::format("{}: error: {} [{}]\n", file_name, diagnostic.message, diagnostic.rule);
  }
  const std::string_view line = LineOf(text, at.line);
  // Tabs stay tabs, so that the caret stands below its column in every terminal.
  std::string indent(line.substr(0, static_cast<std::size_t>(at.column - 1)));
  for (char& c : indent) c = c == '\t' ? '\t' : ' ';
  return fmt::format("{}:{}:{}: error: {} [{}]\n{}\n{}^\n", file_name, at.line, at.column,
                     diagnostic.message, diagnostic.rule, line, indent);
}

std::string RenderDiagnostics(const std::vector<Diagnostic>& diagnostics,
                              std::string_view file_name, std::string_view text) {
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics) {
    all += RenderDiagnostic(diagnostic, file_name, text);
  }
  return all;
}

}  // namespace lijit
