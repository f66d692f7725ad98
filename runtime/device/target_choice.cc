// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/target_choice.h"

#include <fmt/format.h>

#include <string>

namespace lijit::runtime {
namespace {

std::string RunnableTargets(int capability) {
  std::string names;
  for (const target::Target& row : target::AllTargets()) {
    if (!target::PtxRunsOn(row, capability)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  }
  return names;
}

}  // namespace

Result<TargetChoice> ChooseTarget(int capability, std::string_view wanted) {
  if (wanted.empty() || wanted == "native") {
    LIJIT_ASSIGN(const target::Target native,
                 target::TargetForCapability(capability / 10, capability % 10));
    return TargetChoice{native, ImageKind::kCubin};
  }
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(wanted));
  if (target.capability == capability) return TargetChoice{target, ImageKind::kCubin};
  if (target::PtxRunsOn(target, capability)) return TargetChoice{target, ImageKind::kPtx};
  return Refused(fmt::format(
      "a device of compute capability {}.{} cannot run code for {}; it can run {}; the emulated "
      "device runs any target",
      capability / 10, capability % 10, wanted, RunnableTargets(capability)));
}

}  // namespace lijit::runtime
