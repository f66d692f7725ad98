// SPDX-License-Identifier: Apache-2.0
#include "tools/render_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tools/text_table.h"

namespace lijit::tools {
namespace {

using json = nlohmann::ordered_json;

template <typename T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json FindingJson(const Finding& finding) {
  return {{"kind", finding.kind}, {"message", finding.message}};
}

json EventJson(const cache::Event& event) {
  return {{"key", event.key},
          {"target", event.target},
          {"backend", event.backend},
          {"outcome", cache::Info(event.outcome).name},
          {"hit", cache::IsHit(event.outcome)},
          {"lookup_ms", event.times.lookup},
          {"wait_ms", event.times.wait},
          {"compile_ms", event.times.compile},
          {"publish_ms", event.times.publish},
          {"notes", event.notes},
          {"error", event.error}};
}

template <typename Items, typename Function>
json List(const Items& items, Function to_json) {
  json list = json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

std::string Checks(const RunReport& report) {
  const bool near = report.ok && !report.bitwise_equal;
  return TextTable(
      {"check", "result"},
      {{"stored queries, weights, pages equal the reference",
        std::string(YesNo(report.writers_equal))},
       // FP8 on tensor cores is summed in their order, which the contract bounds.
       {near ? "logits are within the limits of the reference"
             : "logits equal the reference in every bit",
        fmt::format("{}, calc_diff {:.3g}", YesNo(report.bitwise_equal || near), report.calc_diff)},
       {"top-k equals the reference", std::string(YesNo(report.topk_equal))},
       {"recall of the unquantized top-k", fmt::format("{:.4f}", report.recall)},
       {"logits against unquantized ones",
        fmt::format("calc_diff {:.3g}", report.calc_diff_unquantized)}});
}

}  // namespace

json RunJson(const RunReport& report) {
  return {{"ok", report.ok},
          {"bitwise_equal", report.bitwise_equal},
          {"writers_equal", report.writers_equal},
          {"calc_diff", report.calc_diff},
          {"topk_equal", report.topk_equal},
          {"recall", report.recall},
          {"calc_diff_unquantized", report.calc_diff_unquantized},
          {"device", report.device},
          {"target", report.target},
          {"backend", report.backend},
          {"schedule", report.schedule},
          {"format", report.format},
          {"op", report.op},
          {"heads", report.heads},
          {"head_dim", report.head_dim},
          {"page", report.page},
          {"bytes_per_token", report.bytes_per_token},
          {"rows", report.rows},
          {"keys", report.keys},
          {"width", report.width},
          {"top_k", report.top_k},
          {"cache", report.cache},
          {"compile_ms", report.compile_ms},
          {"findings", List(report.findings, FindingJson)},
          {"instructions", OrNull(report.instructions)},
          {"kernel_us", OrNull(report.kernel_us)},
          {"problems", report.problems},
          {"events", List(report.events, EventJson)}};
}

std::string RunText(const RunReport& report) {
  std::vector<std::pair<std::string, std::string>> fields = {
      {"job",
       fmt::format("{} {}, {} heads x {}, {} rows x {} keys, top {}", report.op, report.format,
                   report.heads, report.head_dim, report.rows, report.keys, report.top_k)},
      {"device", fmt::format("{}, target {}", report.device, report.target)},
      {"kernels", fmt::format("schedule {}, backend {}, cache {}, {:.0f} ms to compile",
                              report.schedule, report.backend, report.cache, report.compile_ms)},
      {"stored",
       fmt::format("{} bytes a token, pages of {}", report.bytes_per_token, report.page)}};
  if (report.instructions) {
    fields.emplace_back("emulated", fmt::format("{} thread-instructions, {} findings",
                                                *report.instructions, report.findings.size()));
  }
  if (report.kernel_us) {
    fields.emplace_back("logits", fmt::format("{:.1f} us a launch", *report.kernel_us));
  }
  std::string text = TextFields(fields) + "\n" + Checks(report);
  for (const std::string& problem : report.problems) text += "problem: " + problem + "\n";
  for (const Finding& finding : report.findings) {
    text += fmt::format("finding: {}: {}\n", finding.kind, finding.message);
  }
  return text;
}

std::vector<std::int32_t> BestFirst(const RunReport& report) {
  std::vector<std::int32_t> ranked = report.indices;
  const auto columns = static_cast<std::size_t>(std::max(report.top_k, 1));
  for (std::size_t begin = 0; begin + columns <= ranked.size(); begin += columns) {
    const auto row = static_cast<std::int64_t>(begin / columns);
    // A wrong kernel may have selected anything; what is no column comes last, as NaN does.
    const auto score = [&](std::int32_t index) {
      const bool is_column = index >= 0 && index < report.width;
      const auto position = static_cast<std::size_t>(row * report.width + index);
      const bool known = is_column && position < report.logits.size();
      if (!known) return std::pair(false, 0.0f);
      const float logit = report.logits[position];
      return std::isnan(logit) ? std::pair(true, -std::numeric_limits<float>::infinity())
                               : std::pair(true, logit);
    };
    const auto first = ranked.begin() + static_cast<std::ptrdiff_t>(begin);
    std::stable_sort(first, first + static_cast<std::ptrdiff_t>(columns),
                     [&](std::int32_t a, std::int32_t b) { return score(a) > score(b); });
  }
  return ranked;
}

}  // namespace lijit::tools
