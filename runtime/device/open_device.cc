// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "lijit/device.h"
#include "runtime/device/cuda_device.h"
#include "runtime/device/emulated_device.h"
#include "runtime/toolchain/driver.h"

namespace lijit {
namespace {

// What the emulated device stands for unless told otherwise: the oldest target that users have in
// numbers, whose instructions all later ones have.
constexpr std::string_view kDefaultEmulatedTarget = "sm_86";

Result<std::shared_ptr<Device>> OpenEmulated(std::string_view target) {
  if (target == "native") {
    return InvalidArgument(
        "target 'native' is a CUDA device's own, and the emulated device has none; name a target, "
        "for example sm_86");
  }
  return runtime::OpenEmulatedDevice(target.empty() ? kDefaultEmulatedTarget : target);
}

// A driver that is there and does not work is an error, not a reason to emulate.
Result<std::shared_ptr<Device>> OpenAny(std::string_view target) {
  const auto& driver = runtime::ProcessDriver();
  const bool absent = !driver.ok() && driver.error().code == ErrorCode::kUnavailable;
  return absent ? OpenEmulated(target) : runtime::OpenCudaDevice(0, target);
}

}  // namespace

Result<std::shared_ptr<Device>> OpenDevice(std::string_view which, std::string_view target) {
  constexpr std::string_view kNumbered = "cuda:";
  if (which == "auto") return OpenAny(target);
  if (which == "emulated") return OpenEmulated(target);
  if (which == "cuda") return runtime::OpenCudaDevice(0, target);
  if (which.starts_with(kNumbered)) {
    int ordinal = -1;
    const char* const end = which.data() + which.size();
    const auto [rest, problem] = std::from_chars(which.data() + kNumbered.size(), end, ordinal);
    if (problem == std::errc() && rest == end && ordinal >= 0) {
      return runtime::OpenCudaDevice(ordinal, target);
    }
  }
  return InvalidArgument(
      fmt::format("unknown device '{}'; accepted are auto, cuda, cuda:N and emulated", which));
}

}  // namespace lijit
