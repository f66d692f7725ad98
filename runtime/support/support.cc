// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/module.h"
#include "compiler/target/target.h"
#include "lijit/targets.h"
#include "runtime/compile/kernel_module.h"

namespace lijit {
namespace {

struct EvidenceRow {
  std::string_view schedule, backend, target, format, op, evidence;
};

constexpr EvidenceRow kEvidence[] = {
#define SUPPORT(schedule, backend, target, format, op, evidence) \
  {schedule, backend, target, format, op, evidence},
#include "runtime/support/support.def"
};

bool Matches(std::string_view pattern, std::string_view value) {
  return pattern == "*" || pattern == value;
}

// The strongest evidence for a combination, or nothing. A later row of the table is stronger.
std::string_view EvidenceFor(std::string_view target, std::string_view format, std::string_view op,
                             std::string_view schedule, std::string_view backend) {
  std::string_view evidence;
  for (const EvidenceRow& row : kEvidence) {
    if (row.schedule == schedule && row.backend == backend && Matches(row.target, target) &&
        Matches(row.format, format) && Matches(row.op, op)) {
      evidence = row.evidence;
    }
  }
  return evidence;
}

// Whether the table's "*" stands for these.
bool IsShippedFormat(std::string_view name) {
  static const Result<ir::Module> formats = runtime::ShippedFormats();
  LIJIT_CHECK(formats.ok());
  return std::ranges::any_of(formats->formats,
                             [name](const ir::Format& format) { return format.name == name; });
}
bool IsOp(std::string_view name) {
  return std::ranges::any_of(ir::AllKernelKinds(),
                             [name](const ir::KernelKindRow& row) { return row.text == name; });
}

// Schedules and backends that occur in the table, each once, in its order.
std::vector<std::pair<std::string_view, std::string_view>> Ways() {
  std::vector<std::pair<std::string_view, std::string_view>> ways;
  for (const EvidenceRow& row : kEvidence) {
    const std::pair way(row.schedule, row.backend);
    bool is_known = false;
    for (const auto& known : ways) is_known = is_known || known == way;
    if (!is_known) ways.push_back(way);
  }
  return ways;
}

}  // namespace

std::vector<SupportRow> SupportTable() {
  std::vector<SupportRow> table;
  // The shipped formats are part of the program; that they do not parse is its own fault.
  const Result<ir::Module> formats = runtime::ShippedFormats();
  LIJIT_CHECK(formats.ok());
  const auto ways = Ways();
  for (const target::Target& target : target::AllTargets()) {
    for (const ir::Format& format : formats->formats) {
      for (const ir::KernelKindRow& kind : ir::AllKernelKinds()) {
        for (const auto& [schedule, backend] : ways) {
          const std::string_view evidence =
              EvidenceFor(target.name, format.name, kind.text, schedule, backend);
          if (evidence.empty()) continue;
          table.push_back({std::string(target.name), format.name, std::string(kind.text),
                           std::string(schedule), std::string(backend), std::string(evidence), ""});
        }
      }
    }
  }
  for (const target::RefusedTarget& refused : target::RefusedTargets()) {
    table.push_back(
        {std::string(refused.name), "*", "*", "*", "*", "", std::string(refused.reason)});
  }
  return table;
}

Status CheckSupport(std::string_view target, std::string_view format, std::string_view op,
                    std::string_view schedule, std::string_view backend, bool shipped) {
  if (const auto known = target::ParseTarget(target); !known.ok()) return known.error();
  const bool generated = !shipped && schedule == "simt" && (backend == "cuda" || backend == "ptx");
  const bool is_listed =
      IsShippedFormat(format) && !EvidenceFor(target, format, op, schedule, backend).empty();
  if (IsOp(op) && (generated || is_listed)) return {};
  return Refused(fmt::format(
      "{} of {} on {} by schedule {} and backend {} has no evidence that it is right; schedule "
      "simt with backends cuda and ptx has it for every shipped format and target (lijit targets)",
      op, format, target, schedule, backend));
}

}  // namespace lijit
