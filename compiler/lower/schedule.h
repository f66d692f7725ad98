// SPDX-License-Identifier: Apache-2.0
// The table of schedules (schedules.def).
#pragma once

#include <span>
#include <string_view>

#include "compiler/target/target.h"
#include "lijit/result.h"

namespace lijit::lower {

struct ScheduleRow {
  std::string_view name;
  std::string_view features;
  std::string_view doc;
};

std::span<const ScheduleRow> AllSchedules();

// The schedule of this name, or for "auto" the first one that the target can do. InvalidArgument:
// no such schedule. Refused: the target lacks a feature, which the message names.
Result<ScheduleRow> FindSchedule(std::string_view name, const target::Target& target);

}  // namespace lijit::lower
