// SPDX-License-Identifier: Apache-2.0
// The support table, laid out for reading: targets down, formats across.
#pragma once

#include <string>
#include <vector>

#include "lijit/targets.h"

namespace lijit::tools {

struct SupportGrid {
  // One way (schedule and backend) to run kernels on a target; a cell a format says by what
  // evidence: "emulated", "hardware 2, emulated 4 of 6 ops", or "" if it is not supported.
  struct Line {
    std::string target, schedule, backend;
    std::vector<std::string> cells;
  };
  struct Refusal {
    std::string target, what, reason;  // what: "everything", or format, op, schedule, backend
  };
  std::vector<std::string> formats;
  std::vector<Line> lines;  // in the table's order
  std::vector<Refusal> refusals;
};

SupportGrid MakeSupportGrid(const std::vector<SupportRow>& table);

std::string SupportText(const SupportGrid& grid);
// Targets that say the same share a row, formats a column.
std::string SupportMarkdown(const SupportGrid& grid);

}  // namespace lijit::tools
