// SPDX-License-Identifier: Apache-2.0
// From a kernel that says what is computed to an entry that a backend prints. lower.cc lists the
// passes, their order and why.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/module.h"
#include "compiler/target/target.h"
#include "lijit/result.h"

namespace lijit::lower {

// A pass turns a module into a module; each stands in its own file.
struct Pass {
  std::string_view name;
  std::string_view doc;
  Status (*run)(ir::Module& module, const target::Target& target);
};

// The passes in the order in which they run, the schedule simt first.
std::span<const Pass> AllPasses();
// The passes of the other schedules, one of which may run in the place of the first.
std::span<const Pass> OtherSchedulePasses();

// The kernel alone with the formats and layouts that it uses: what a compilation depends on.
Result<ir::Module> ExtractKernel(const ir::Module& module, std::string_view kernel);

// Runs all passes on `module`, which holds verified kernels, with the schedule named ("simt").
// Refused: the schedule cannot do the kernel; the message says why and what would work.
Result<ir::Module> Lower(ir::Module module, const target::Target& target,
                         std::string_view schedule);

// Runs the named pass. InvalidArgument: no such pass.
Status RunPass(ir::Module& module, const target::Target& target, std::string_view name);

// The passes themselves.
Status ScheduleSimt(ir::Module& module, const target::Target& target);
Status ScheduleMmaS8(ir::Module& module, const target::Target& target);
Status ScheduleMmaF16(ir::Module& module, const target::Target& target);
Status ScheduleWgmmaS8(ir::Module& module, const target::Target& target);
Status ScheduleWgmmaE4m3(ir::Module& module, const target::Target& target);
Status UseNativeConversions(ir::Module& module, const target::Target& target);
Status ExpandConversions(ir::Module& module, const target::Target& target);
Status Simplify(ir::Module& module, const target::Target& target);

}  // namespace lijit::lower
