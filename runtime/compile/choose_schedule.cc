// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/choose_schedule.h"

#include "lijit/targets.h"

namespace lijit::runtime {

Result<lower::ScheduleRow> ChooseSchedule(std::string_view wanted, const ir::Module& module,
                                          const target::Target& target, std::string_view backend,
                                          std::string_view format, bool shipped) {
  const std::string_view op = ir::KernelKindName(module.kernels[0].kind);
  const auto supported = [&](const lower::ScheduleRow& row) {
    return CheckSupport(target.name, format, op, row.name, backend, shipped);
  };
  if (wanted == "auto") {
    for (const lower::ScheduleRow& row : lower::AllSchedules()) {
      const Result<lower::ScheduleRow> fitting = lower::ScheduleFor(row.name, module, target);
      if (fitting.ok() && supported(*fitting).ok()) return *fitting;
    }
  }
  const std::string_view name = wanted == "auto" ? "simt" : wanted;
  LIJIT_ASSIGN(const lower::ScheduleRow row, lower::ScheduleFor(name, module, target));
  LIJIT_TRY(supported(row));
  return row;
}

}  // namespace lijit::runtime
