// SPDX-License-Identifier: Apache-2.0
// Which schedule a kernel gets: one that fits it and that the support table has for it.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/module.h"
#include "compiler/lower/schedule.h"
#include "compiler/target/target.h"
#include "lijit/result.h"

namespace lijit::runtime {

// `module` holds one kernel; `format` and `shipped` are as for CheckSupport. "auto" takes the first
// schedule that fits and is supported; a name takes that one or says why not (lower::ScheduleFor).
Result<lower::ScheduleRow> ChooseSchedule(std::string_view wanted, const ir::Module& module,
                                          const target::Target& target, std::string_view backend,
                                          std::string_view format, bool shipped);

}  // namespace lijit::runtime
