// SPDX-License-Identifier: Apache-2.0
// Which devices run an image, and what must hold before a driver sees one. The rule is NVIDIA's
// documented one (same major revision, same or higher minor; "a" on exactly one capability) with
// what its linker adds: integrated GPUs stand alone, and .nv.compat may forbid the step.
#include <fmt/format.h>

#include <algorithm>

#include "cache/cubin/target.h"

namespace lijit::cubin {
namespace {

constexpr std::uint32_t kIntegrated[] = {87, 88};  // boards whose code is for themselves only

bool IsIntegrated(std::uint32_t capability) {
  return std::find(std::begin(kIntegrated), std::end(kIntegrated), capability) !=
         std::end(kIntegrated);
}

std::string Dotted(std::uint32_t capability) {
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

Error CannotRun(const Image& image, std::uint32_t device, std::string_view why) {
  return Refused(
      fmt::format("the image is for {}, {}; the device is {}", image.target, why, Dotted(device)));
}

bool HasKernel(const Image& image, std::string_view name) {
  return std::any_of(image.kernels.begin(), image.kernels.end(),
                     [&](const Kernel& kernel) { return kernel.name == name; });
}

// "sm_100f" and "sm_100" are told apart only by a tool's note.
bool IsExactly(const Image& image, std::string_view target) {
  if (image.target == target) return true;
  const std::optional<NamedTarget> wanted = ParseTarget(target);
  return wanted && !image.target_suffix_known && wanted->sm == image.sm && wanted->suffix == 'f';
}

}  // namespace

Status CanRun(const Image& image, int compute_capability) {
  const std::uint32_t device =
      compute_capability < 0 ? 0 : static_cast<std::uint32_t>(compute_capability);
  const std::uint32_t sm = image.sm;
  if (!image.executable)
    return CannotRun(image, device, "but is a relocatable object, which must be linked first");
  if (sm == device) return {};
  if (image.accelerated)
    return CannotRun(image, device,
                     fmt::format("which runs only on compute capability {}", Dotted(sm)));
  if (sm / 10 != device / 10 || sm % 10 > device % 10)
    return CannotRun(image, device,
                     fmt::format("which needs compute capability {}, or higher with the same major "
                                 "number",
                                 Dotted(sm)));
  if (IsIntegrated(sm) || IsIntegrated(device))
    return CannotRun(image, device,
                     "and code is not exchanged between integrated and discrete GPUs");
  const std::uint32_t isa_class = image.isa_class.value_or(0);
  if (image.has_compat && isa_class != 1 && isa_class != 2)
    return CannotRun(
        image, device,
        fmt::format("and its instructions exist only there (.nv.compat ISA_CLASS {})", isa_class));
  return {};
}

std::vector<int> RunsOn(const Image& image) {
  std::vector<int> capabilities;
  for (const int capability : kKnownCapabilities)
    if (CanRun(image, capability).ok()) capabilities.push_back(capability);
  return capabilities;
}

Status Verify(std::span<const std::byte> bytes, std::string_view target,
              std::span<const std::string> kernels) {
  const Result<Image> read = ReadCubin(bytes);
  if (!read.ok())
    return Damaged("the cubin for " + std::string(target) +
                   " cannot be loaded: " + read.error().message);
  const Image& image = read.value();
  const auto refuse = [&](const std::string& why) {
    return Damaged(fmt::format("the cubin for {} cannot be loaded: {}", target, why));
  };
  if (!image.problems.empty()) return refuse(fmt::format("{}", fmt::join(image.problems, "; ")));
  if (!image.executable) return refuse("it is a relocatable object");
  if (!IsExactly(image, target)) return refuse("it was made for " + image.target);
  for (const std::string& kernel : kernels)
    if (!HasKernel(image, kernel)) return refuse("it has no kernel " + kernel);
  return {};
}

}  // namespace lijit::cubin
