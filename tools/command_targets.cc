// SPDX-License-Identifier: Apache-2.0
// `lijit targets`: the support table.
#include <memory>

#include "tools/commands.h"
#include "tools/support_grid.h"

namespace lijit::tools {
namespace {

nlohmann::ordered_json RowJson(const SupportRow& row) {
  nlohmann::ordered_json object = {{"target", row.target},
                                   {"format", row.format},
                                   {"op", row.op},
                                   {"schedule", row.schedule},
                                   {"backend", row.backend}};
  if (row.refused.empty()) {
    object["evidence"] = row.evidence;
  } else {
    object["refused"] = true;
    object["reason"] = row.refused;
  }
  return object;
}

Report DoTargets(bool markdown) {
  const std::vector<SupportRow> table = SupportTable();
  const SupportGrid grid = MakeSupportGrid(table);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const SupportRow& row : table) rows.push_back(RowJson(row));
  return {.json = {{"ok", true}, {"rows", rows}},
          .text = markdown ? SupportMarkdown(grid) : SupportText(grid)};
}

}  // namespace

Action AddTargets(CLI::App& app) {
  const auto markdown = std::make_shared<bool>(false);
  app.add_flag("--markdown", *markdown, "the table of README.md");
  app.footer(
      "Evidence: hardware (tested on a device of the target) or emulated (the same PTX, executed\n"
      "and checked on the CPU). What is not in the table is refused with exit code 3.\n"
      "Example:\n"
      "  lijit targets --json");
  return [markdown](Progress&) { return DoTargets(*markdown); };
}

}  // namespace lijit::tools
