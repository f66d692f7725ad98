// SPDX-License-Identifier: Apache-2.0
#include "tools/support_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/text_table.h"

namespace lijit::tools {
namespace {

// The position of `value`, which is appended if it is new.
std::size_t IndexOf(std::vector<std::string>& values, const std::string& value) {
  const auto found = std::find(values.begin(), values.end(), value);
  if (found == values.end()) values.push_back(value);
  return static_cast<std::size_t>(found - values.begin());
}

SupportGrid::Line& LineOf(SupportGrid& grid, const SupportRow& row) {
  for (SupportGrid::Line& line : grid.lines) {
    if (line.target == row.target && line.schedule == row.schedule && line.backend == row.backend) {
      return line;
    }
  }
  grid.lines.push_back({row.target, row.schedule, row.backend, {}});
  return grid.lines.back();
}

// Ops by evidence, of one line and format.
using OpsByEvidence = std::map<std::string, std::size_t>;

std::string Cell(const OpsByEvidence& ops, std::size_t all_ops) {
  if (ops.size() == 1 && ops.begin()->second == all_ops) return ops.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [evidence, count] : ops) parts.push_back(fmt::format("{} {}", evidence, count));
  return parts.empty() ? "" : fmt::format("{} of {} ops", Join(parts), all_ops);
}

SupportGrid::Refusal RefusalOf(const SupportRow& row) {
  std::vector<std::string> what;
  for (const std::string* const part : {&row.format, &row.op, &row.schedule, &row.backend}) {
    if (*part != "*") what.push_back(*part);
  }
  return {row.target, what.empty() ? "everything" : Join(what, " "), row.refused};
}

std::string MarkdownRow(const std::vector<std::string>& cells) {
  return "| " + Join(cells, " | ") + " |\n";
}

// What a target's lines say of one format. Backends that say the same stand together.
std::string MarkdownCell(const std::vector<const SupportGrid::Line*>& lines, std::size_t format) {
  std::vector<std::string> ways;
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    const auto says_the_same = [&](const SupportGrid::Line* other) {
      return other->schedule == (*line)->schedule && other->cells[format] == (*line)->cells[format];
    };
    const bool is_said = std::any_of(lines.begin(), line, says_the_same);
    if ((*line)->cells[format].empty() || is_said) continue;
    std::vector<std::string> backends;
    for (const SupportGrid::Line* const other : lines) {
      if (says_the_same(other)) backends.push_back(other->backend);
    }
    ways.push_back(fmt::format("`{}`, {}: {}", (*line)->schedule, Join(backends, " and "),
                               (*line)->cells[format]));
  }
  return ways.empty() ? "no" : Join(ways, "<br>");
}

// Positions of equal rows.
using Alike = std::vector<std::size_t>;

std::vector<Alike> GroupsOfEqual(const std::vector<TextRow>& rows) {
  std::vector<Alike> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const Alike& g) { return rows[g[0]] == rows[i]; });
    if (group == groups.end()) {
      groups.push_back({i});
    } else {
      group->push_back(i);
    }
  }
  return groups;
}

std::string Names(const std::vector<std::string>& names, const Alike& which) {
  std::vector<std::string> quoted;
  for (const std::size_t i : which) quoted.push_back(fmt::format("`{}`", names[i]));
  return Join(quoted);
}

}  // namespace

SupportGrid MakeSupportGrid(const std::vector<SupportRow>& table) {
  SupportGrid grid;
  std::vector<std::string> ops;
  for (const SupportRow& row : table) {
    if (!row.refused.empty()) {
      grid.refusals.push_back(RefusalOf(row));
      continue;
    }
    IndexOf(grid.formats, row.format);
    IndexOf(ops, row.op);
    LineOf(grid, row);
  }
  std::vector<std::vector<OpsByEvidence>> counts(grid.lines.size());
  for (auto& line : counts) line.resize(grid.formats.size());
  for (const SupportRow& row : table) {
    if (!row.refused.empty()) continue;
    const auto line = static_cast<std::size_t>(&LineOf(grid, row) - grid.lines.data());
    ++counts[line][IndexOf(grid.formats, row.format)][row.evidence];
  }
  for (std::size_t i = 0; i < grid.lines.size(); ++i) {
    for (const OpsByEvidence& count : counts[i]) {
      grid.lines[i].cells.push_back(Cell(count, ops.size()));
    }
  }
  return grid;
}

std::string SupportText(const SupportGrid& grid) {
  TextRow headers = {"target", "schedule", "backend"};
  headers.insert(headers.end(), grid.formats.begin(), grid.formats.end());
  std::vector<TextRow> rows;
  for (const SupportGrid::Line& line : grid.lines) {
    TextRow row = {line.target, line.schedule, line.backend};
    for (const std::string& cell : line.cells) row.push_back(cell.empty() ? "-" : cell);
    rows.push_back(std::move(row));
  }
  std::string text = TextTable(headers, rows);
  if (grid.refusals.empty()) return text;
  rows.clear();
  for (const SupportGrid::Refusal& refusal : grid.refusals) {
    rows.push_back({refusal.target, refusal.what, refusal.reason});
  }
  return text + "\n" + TextTable({"refused", "what", "why, and what would work"}, rows);
}

std::string SupportMarkdown(const SupportGrid& grid) {
  std::vector<std::string> targets;
  for (const SupportGrid::Line& line : grid.lines) IndexOf(targets, line.target);
  std::vector<TextRow> cells;  // by target and format
  for (const std::string& target : targets) {
    std::vector<const SupportGrid::Line*> lines;
    for (const SupportGrid::Line& line : grid.lines) {
      if (line.target == target) lines.push_back(&line);
    }
    TextRow& row = cells.emplace_back();
    for (std::size_t i = 0; i < grid.formats.size(); ++i) row.push_back(MarkdownCell(lines, i));
  }
  std::vector<TextRow> columns;  // by format and target
  for (std::size_t i = 0; i < grid.formats.size(); ++i) {
    TextRow& column = columns.emplace_back();
    for (const TextRow& row : cells) column.push_back(row[i]);
  }
  TextRow header = {"target"};
  std::vector<std::size_t> shown;  // the first format of each column
  for (const Alike& formats : GroupsOfEqual(columns)) {
    header.push_back(Names(grid.formats, formats));
    shown.push_back(formats[0]);
  }
  std::string text = MarkdownRow(header) + MarkdownRow(TextRow(header.size(), "---"));
  for (const Alike& alike : GroupsOfEqual(cells)) {
    TextRow row = {Names(targets, alike)};
    for (const std::size_t format : shown) row.push_back(cells[alike[0]][format]);
    text += MarkdownRow(row);
  }
  if (!grid.refusals.empty()) text += "\n";
  for (const SupportGrid::Refusal& refusal : grid.refusals) {
    text += fmt::format("- `{}`, {}: refused; {}\n", refusal.target, refusal.what, refusal.reason);
  }
  return text;
}

}  // namespace lijit::tools
