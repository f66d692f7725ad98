// SPDX-License-Identifier: Apache-2.0
// What kernels are compiled to for a device: machine code for its own target, or PTX of an older
// one that the driver assembles.
#pragma once

#include <string_view>

#include "compiler/target/target.h"
#include "lijit/device.h"
#include "lijit/result.h"

namespace lijit::runtime {

struct TargetChoice {
  target::Target target;
  ImageKind image_kind = ImageKind::kCubin;
};

// `wanted` is empty or "native" for the device's default target, else a target's name. Refused when
// the device cannot run that target's code, naming those whose code it can.
Result<TargetChoice> ChooseTarget(int capability, std::string_view wanted);

}  // namespace lijit::runtime
