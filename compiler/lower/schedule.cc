// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/schedule.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "compiler/lower/schedule_mma.h"
#include "compiler/target/feature.h"

namespace lijit::lower {
namespace {

constexpr ScheduleRow kSchedules[] = {
#define SCHEDULE(name, pass, features, max_columns, resident_blocks, code_alignment, doc) \
  {name, pass, features, max_columns, resident_blocks, code_alignment, doc},
#include "compiler/lower/schedules.def"
};

// The first feature of the list that the target lacks, or nothing.
std::string_view MissingFeature(std::string_view features, const target::Target& target) {
  while (!features.empty()) {
    const std::size_t comma = features.find(',');
    const std::string_view name = features.substr(0, comma);
    features = comma == std::string_view::npos ? std::string_view{} : features.substr(comma + 1);
    const std::optional<target::Feature> feature = target::FeatureByName(name);
    LIJIT_CHECK(feature.has_value());
    if (!target::Has(target, *feature)) return name;
  }
  return {};
}

bool IsLogits(const ir::Kernel& kernel) {
  return kernel.kind == ir::KernelKind::kLogitsRagged ||
         kernel.kind == ir::KernelKind::kLogitsPaged;
}

// Why the schedule cannot do the kernel on the target; empty if it can.
std::string Problem(const ScheduleRow& row, const ir::Module& module,
                    const target::Target& target) {
  if (row.name == "simt") return {};
  const std::string_view missing = MissingFeature(row.features, target);
  if (!missing.empty())
    return fmt::format("it needs {}, which {} does not have", missing, target.name);
  return MmaProblem(row.name, module);
}

}  // namespace

std::span<const ScheduleRow> AllSchedules() { return kSchedules; }

Result<ScheduleRow> FindSchedule(std::string_view name) {
  std::string known;
  for (const ScheduleRow& row : kSchedules) {
    if (row.name == name) return row;
    known += fmt::format(" {}", row.name);
  }
  return InvalidArgument(fmt::format("there is no schedule '{}'; there are auto{}", name, known));
}

Result<ScheduleRow> ScheduleFor(std::string_view wanted, const ir::Module& module,
                                const target::Target& target) {
  LIJIT_CHECK(module.kernels.size() == 1);
  const ir::Kernel& kernel = module.kernels[0];
  if (wanted == "auto") {
    for (const ScheduleRow& row : kSchedules) {
      const bool is_for = row.name == "simt" || IsLogits(kernel);
      if (is_for && Problem(row, module, target).empty()) return row;
    }
  }
  LIJIT_ASSIGN(const ScheduleRow row, FindSchedule(wanted));
  if (!IsLogits(kernel)) return FindSchedule("simt");
  const std::string problem = Problem(row, module, target);
  if (problem.empty()) return row;
  return Refused(fmt::format("schedule {} cannot do kernel @{}: {}; schedule simt can", wanted,
                             kernel.name, problem));
}

}  // namespace lijit::lower
