// SPDX-License-Identifier: Apache-2.0
// The table of schedules (schedules.def), and which one a kernel gets.
#pragma once

#include <span>
#include <string_view>

#include "compiler/ir/module.h"
#include "compiler/target/target.h"
#include "lijit/result.h"

namespace lijit::lower {

struct ScheduleRow {
  std::string_view name;
  std::string_view pass;
  std::string_view features;
  int max_columns;      // that a block may do at a time; 0: one tile
  int resident_blocks;  // of a multiprocessor, which share all work; 0: as many blocks as work
  int code_alignment;   // of rows of codes in memory, in bytes
  std::string_view doc;
};

std::span<const ScheduleRow> AllSchedules();

// The row of this name. InvalidArgument: there is none.
Result<ScheduleRow> FindSchedule(std::string_view name);

// The schedule for the module's only kernel: for "auto" the first row that fits it and the target;
// for a name that row, or simt for kernels that it is not for (writers, gathers, selections).
// Refused: the named schedule is for such kernels but cannot do this one, or the target lacks a
// feature; the message says why.
Result<ScheduleRow> ScheduleFor(std::string_view wanted, const ir::Module& module,
                                const target::Target& target);

}  // namespace lijit::lower
