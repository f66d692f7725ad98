// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/schedule.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "compiler/target/feature.h"

namespace lijit::lower {
namespace {

constexpr ScheduleRow kSchedules[] = {
#define SCHEDULE(name, features, doc) {name, features, doc},
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

}  // namespace

std::span<const ScheduleRow> AllSchedules() { return kSchedules; }

Result<ScheduleRow> FindSchedule(std::string_view name, const target::Target& target) {
  std::string known;
  for (const ScheduleRow& row : kSchedules) {
    known += fmt::format(" {}", row.name);
    const std::string_view missing = MissingFeature(row.features, target);
    if (name == "auto" && missing.empty()) return row;
    if (name != row.name) continue;
    if (missing.empty()) return row;
    return Refused(
        fmt::format("schedule {} needs {}, which {} does not have; schedule simt works "
                    "everywhere",
                    name, missing, target.name));
  }
  return InvalidArgument(fmt::format("there is no schedule '{}'; there are auto{}", name, known));
}

}  // namespace lijit::lower
