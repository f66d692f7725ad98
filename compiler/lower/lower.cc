// SPDX-License-Identifier: Apache-2.0
// The passes and their order.
#include "compiler/lower/lower.h"

#include <fmt/format.h>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/lower/schedule.h"

namespace lijit::lower {
namespace {

constexpr Pass kPasses[] = {
    // First, since all others work on entries. Another schedule's pass may stand in its place.
    {"schedule_simt", "what one thread does, with conversions of codes as single ops",
     ScheduleSimt},
    // Before the expansion, which leaves nothing to replace.
    {"native_conversions", "conversions that the target has and that agree in every bit",
     UseNativeConversions},
    // After this every op is one that backends print.
    {"expand_conversions", "the other conversions as bit operations", ExpandConversions},
    // Last, since the others leave unused ops behind.
    {"simplify", "no products with 1.0 and no unused ops", Simplify},
};

// What stands in the place of schedule_simt for kernels that fit (schedules.def).
constexpr Pass kOtherSchedules[] = {
    {"schedule_wgmma_s8", "logits of MXFP4 by tensor cores of warpgroups, as integers",
     ScheduleWgmmaS8},
    {"schedule_wgmma_e4m3", "logits of FP8 by tensor cores of warpgroups", ScheduleWgmmaE4m3},
    {"schedule_mma_s8", "logits of MXFP4 by tensor cores, as integers", ScheduleMmaS8},
    {"schedule_mma_f16", "logits of FP8 by tensor cores, as halves", ScheduleMmaF16},
};

const Pass* FindPass(std::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  for (const Pass& pass : kOtherSchedules) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

// A pass that leaves an unsound module is a bug of the compiler, not of the user.
void CheckSound(const ir::Module& module, std::string_view pass) {
  const std::vector<Diagnostic> problems = ir::Verify(module);
  if (problems.empty()) return;
  const std::string text = fmt::format(
      "after pass {}: {}\n{}", pass, RenderDiagnostic(problems[0], "entry", ""), ir::Print(module));
  AbortAt(__FILE__, __LINE__, text.c_str());
}

}  // namespace

std::span<const Pass> AllPasses() { return kPasses; }

std::span<const Pass> OtherSchedulePasses() { return kOtherSchedules; }

Status RunPass(ir::Module& module, const target::Target& target, std::string_view name) {
  if (const Pass* pass = FindPass(name)) {
    LIJIT_TRY(pass->run(module, target));
    CheckSound(module, name);
    return {};
  }
  std::string known;
  for (const Pass& pass : kPasses) known += fmt::format(" {}", pass.name);
  for (const Pass& pass : kOtherSchedules) known += fmt::format(" {}", pass.name);
  return InvalidArgument(fmt::format("there is no pass '{}'; there are{}", name, known));
}

Result<ir::Module> Lower(ir::Module module, const target::Target& target,
                         std::string_view schedule) {
  LIJIT_ASSIGN(const ScheduleRow row, ScheduleFor(schedule, module, target));
  LIJIT_TRY(RunPass(module, target, row.pass));
  for (const Pass& pass : std::span(kPasses).subspan(1)) {
    LIJIT_TRY(RunPass(module, target, pass.name));
  }
  return module;
}

}  // namespace lijit::lower
