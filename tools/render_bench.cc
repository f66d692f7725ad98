// SPDX-License-Identifier: Apache-2.0
#include "tools/render_bench.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "tools/bench_file.h"
#include "tools/text_table.h"

namespace lijit::tools {
namespace {

using json = nlohmann::ordered_json;

// As many places as a table of times has; null if it was not measured.
json Rounded(const std::optional<double>& value, double places = 100) {
  return value ? json(std::round(*value * places) / places) : json();
}

std::optional<double> IfTimed(const BenchRow& row, double value) {
  return row.us ? std::optional(value) : std::nullopt;
}

template <typename T>
std::string Cell(const char* format, const std::optional<T>& value) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

json RowJson(const BenchRow& row) {
  json object = ShapeJson(row.shape);
  object["us"] = Rounded(row.us);
  object["us_p90"] = Rounded(row.us_p90);
  object["tflops"] = Rounded(IfTimed(row, row.tflops), 10);
  object["gbps"] = Rounded(IfTimed(row, row.gbps), 10);
  if (row.shape.is_paged()) {
    object["metadata_us"] = 0;  // no such kernel
  } else {
    object["us_with_clean"] = Rounded(row.us_with_clean);
  }
  object["gpairs"] = Rounded(IfTimed(row, row.gpairs));
  object["limit"] = row.limit.empty() ? json() : json(row.limit);
  object["limit_share"] = Rounded(row.limit_share, 1000);
  object["format"] = row.format;
  object["schedule"] = row.schedule;
  object["backend"] = row.backend;
  object["target"] = row.target;
  object["verified"] = row.verified;
  object["bitwise_equal"] = row.bitwise_equal;
  object["calc_diff"] = row.calc_diff;
  object["compared"] = row.compared;
  object["problem"] = row.problem;
  object["calls"] = row.calls;
  object["replays"] = row.replays;
  object["sm_clock_mhz"] = row.sm_mhz ? json(*row.sm_mhz) : json();
  object["watts"] = Rounded(row.watts, 10);
  return object;
}

// "yes", or how near.
std::string VerifiedText(const BenchRow& row) {
  if (!row.verified) return "NO";
  return row.bitwise_equal ? "every bit" : fmt::format("diff {:.0e}", row.calc_diff);
}

TextRow RowText(const BenchRow& row) {
  const auto timed = [&](double value) { return IfTimed(row, value); };
  return {ShapeText(row.shape),
          row.format,
          row.schedule,
          VerifiedText(row),
          Cell("{:.2f}", row.us),
          Cell("{:.2f}", row.us_p90),
          Cell("{:.2f}", row.us_with_clean),
          Cell("{:.2f}", timed(row.gpairs)),
          Cell("{:.1f}", timed(row.tflops)),
          Cell("{:.1f}", timed(row.gbps)),
          row.limit_share ? fmt::format("{:.0f}% {}", *row.limit_share * 100, row.limit) : "-",
          Cell("{}", row.sm_mhz),
          Cell("{:.0f}", row.watts)};
}

}  // namespace

json BenchJson(const BenchReport& report) {
  json rows = json::array();
  for (const BenchRow& row : report.rows) rows.push_back(RowJson(row));
  return {{"ok", report.ok},
          {"what", "lijit, logits in f32"},
          {"device",
           fmt::format("{}, {} multiprocessors, driver {}", report.device, report.multiprocessors,
                       report.driver.empty() ? "none" : report.driver)},
          {"state", report.state},
          {"limits", report.limits},
          {"method", report.method},
          {"rows", std::move(rows)}};
}

std::string BenchText(const BenchReport& report) {
  std::string text =
      TextFields({{"device", fmt::format("{}, {} multiprocessors, driver {}", report.device,
                                         report.multiprocessors,
                                         report.driver.empty() ? "none" : report.driver)},
                  {"before", report.state},
                  {"limits", report.limits}});
  std::vector<TextRow> rows;
  for (const BenchRow& row : report.rows) rows.push_back(RowText(row));
  text += "\n" + TextTable({"shape", "format", "schedule", "verified", ">us", ">p90", ">with clean",
                            ">Gpairs/s", ">TFLOP/s", ">GB/s", ">of limit", ">MHz", ">W"},
                           rows);
  for (const BenchRow& row : report.rows) {
    if (row.problem.empty()) continue;
    text += fmt::format("problem: {} {}: {}\n", ShapeText(row.shape), row.format, row.problem);
  }
  return text;
}

json ComparisonJson(const BenchComparison& comparison) {
  json rows = json::array();
  for (const BenchComparison::Row& row : comparison.rows) {
    json object = ShapeJson(row.ours.shape);
    object["format"] = row.ours.format;
    object["group"] = row.group;
    object["us"] = row.ours.us;
    object["peer_us"] = row.peer.us;
    object["peer_metadata_us"] = row.peer.metadata_us;
    object["ratio"] = Rounded(row.ratio, 1000);
    object["ratio_kernel"] = Rounded(row.ratio_kernel, 1000);
    rows.push_back(std::move(object));
  }
  json groups = json::array();
  for (const BenchComparison::Group& group : comparison.groups) {
    groups.push_back({{"format", group.format},
                      {"group", group.name},
                      {"rows", group.rows},
                      {"ratio", Rounded(group.ratio, 1000)},
                      {"least", Rounded(group.least, 1000)}});
  }
  return {{"rows", std::move(rows)},
          {"groups", std::move(groups)},
          {"unmatched", comparison.unmatched}};
}

std::string ComparisonText(const BenchComparison& comparison) {
  std::vector<TextRow> rows;
  for (const BenchComparison::Row& row : comparison.rows) {
    rows.push_back({ShapeText(row.ours.shape), row.ours.format, row.group,
                    fmt::format("{:.2f}", row.ours.us), fmt::format("{:.2f}", row.peer.us),
                    fmt::format("{:.2f}", row.peer.metadata_us),
                    fmt::format("{:.2f}x", row.ratio_kernel), fmt::format("{:.2f}x", row.ratio)});
  }
  std::vector<TextRow> groups;
  for (const BenchComparison::Group& group : comparison.groups) {
    groups.push_back({group.format, group.name, fmt::format("{}", group.rows),
                      fmt::format("{:.2f}x", group.ratio), fmt::format("{:.2f}x", group.least)});
  }
  std::string text = TextTable(
      {"shape", "format", "group", ">us", ">peer us", ">peer metadata", ">kernel", ">ratio"}, rows);
  text += "\n" + TextTable({"format", "group", ">rows", ">geometric mean", ">least"}, groups);
  text += "\nratio: the peer's time over ours, with metadata kernels in \"decode small\"\n";
  if (comparison.unmatched > 0) {
    text += fmt::format("{} of our rows have no time, or the peer has none for them\n",
                        comparison.unmatched);
  }
  return text;
}

}  // namespace lijit::tools
