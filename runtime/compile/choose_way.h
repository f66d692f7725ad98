// SPDX-License-Identifier: Apache-2.0
// By which schedule and backend a kernel is made: one that fits it and that the support table has.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/module.h"
#include "compiler/lower/schedule.h"
#include "compiler/target/target.h"
#include "lijit/device.h"
#include "lijit/result.h"
#include "runtime/compile/kernel_request.h"

namespace lijit::runtime {

struct Way {
  lower::ScheduleRow schedule;
  std::string backend;
};

// What is wanted of a way.
struct WayRequest {
  std::string_view schedule = "auto";
  std::string_view backend = "auto";
  ImageKind image = ImageKind::kCubin;
  std::string_view format;
  bool is_shipped_format = true;
};

// `module` holds one kernel. Of the ways that fit and are supported: the one whose schedule comes
// first in schedules.def; then the one of the backend that ChooseBackend prefers. Names are taken
// by their word, or refused with the reason.
Result<Way> ChooseWay(const WayRequest& request, const ir::Module& module,
                      const target::Target& target);

// What the cache is asked for, by serving and by `lijit warm` alike. `module` holds one kernel.
Result<KernelRequest> RequestFor(const ir::Module& module, const Way& way, std::string target,
                                 ImageKind image);

}  // namespace lijit::runtime
