// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/driver_assembler.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "compiler/target/target.h"
#include "lijit/cubin.h"
#include "runtime/device/cuda_context.h"
#include "runtime/toolchain/compile_log.h"

namespace lijit::runtime {
namespace {

void* Number(std::uintptr_t value) { return reinterpret_cast<void*>(value); }  // NOLINT

// CUjit_target.
std::uintptr_t JitTarget(const target::Target& target) {
  std::uintptr_t base = 0;
  if (target.variant == target::Variant::kAccelerated) base = kCuComputeAcceleratedTargetBase;
  if (target.variant == target::Variant::kFamily) base = kCuComputeFamilyTargetBase;
  return base + static_cast<std::uintptr_t>(target.capability);
}

// The ordinal of a device that the target's cubins are for.
Result<int> FindDevice(const Driver& driver, const target::Target& target) {
  LIJIT_TRY(driver.CheckProcess());
  int count = 0;
  LIJIT_TRY(driver.Check(driver.DeviceGetCount(&count), "counting CUDA devices"));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    LIJIT_ASSIGN(const DeviceInfo info, DescribeCudaDevice(driver, ordinal));
    if (info.compute_capability == target.capability) return ordinal;
  }
  return Unavailable(fmt::format(
      "nvJitLink was not found, and the CUDA driver assembles only for devices that are here, of "
      "which none has compute capability {}.{}, for {}; install nvJitLink (lijit doctor)",
      target.major(), target.minor(), target.name));
}

// One assembly. The driver keeps pointers to the options and writes the logs until it is destroyed.
class Link {
 public:
  Link(const Driver& driver, const target::Target& target)
      : driver_(driver), values_{Number(JitTarget(target)), info_.data(),
                                 Number(info_.size() - 1),  error_.data(),
                                 Number(error_.size() - 1), Number(1)} {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    if (state_ != nullptr) driver_.LinkDestroy(state_);
  }

  // Returns the CUresult of the first step that fails.
  int Run(const AssembleRequest& request) {
    const int made = driver_.LinkCreate(options_.size(), options_.data(), values_.data(), &state_);
    if (made != kCuSuccess) return made;
    const int added =
        driver_.LinkAddData(state_, kCuJitInputPtx, request.ptx.c_str(), request.ptx.size() + 1,
                            request.name.c_str(), 0, nullptr, nullptr);
    return added != kCuSuccess ? added : driver_.LinkComplete(state_, &image_, &image_bytes_);
  }

  std::string Log() const {
    return CleanLog(std::string(error_.data()) + std::string(info_.data()));
  }
  // Valid while this lives.
  std::span<const std::byte> image() const {
    return {static_cast<const std::byte*>(image_), image_ == nullptr ? 0 : image_bytes_};
  }

 private:
  const Driver& driver_;
  std::array<char, 1 << 15> info_{};
  std::array<char, 1 << 13> error_{};
  std::array<int, 6> options_ = {
      kCuJitTarget,         kCuJitInfoLogBuffer,           kCuJitInfoLogBufferSizeBytes,
      kCuJitErrorLogBuffer, kCuJitErrorLogBufferSizeBytes, kCuJitLogVerbose};
  std::array<void*, 6> values_;
  CuLinkState state_ = nullptr;
  void* image_ = nullptr;
  std::size_t image_bytes_ = 0;
};

Error Explain(const Driver& driver, int result, const AssembleRequest& request,
              const std::string& log) {
  const std::string quoted = QuoteLines(log, ", line ", request.ptx);
  const std::string what =
      fmt::format("the CUDA driver did not assemble {} for {}", request.name, request.target);
  return Failed(fmt::format("{}\n{}{}{}", driver.Explain(result, what).message, log,
                            quoted.empty() ? "" : "\nin the generated PTX:\n", quoted));
}

}  // namespace

Result<Compilation> AssembleByDriver(const Driver& driver, const AssembleRequest& request) {
  if (!request.options.empty()) {
    return InvalidArgument(
        fmt::format("{}: the CUDA driver, which assembles here, takes no ptxas "
                    "options; nvJitLink does",
                    request.options[0]));
  }
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(request.target));
  LIJIT_ASSIGN(const int ordinal, FindDevice(driver, target));
  CudaContext context(driver, ordinal);
  LIJIT_TRY(context.Open());
  const CudaContext::Scope scope(context);
  LIJIT_TRY(scope.status());
  Link link(driver, target);
  if (const int result = link.Run(request); result != kCuSuccess) {
    return Explain(driver, result, request, link.Log());
  }
  Compilation compilation;
  compilation.kind = ImageKind::kCubin;
  compilation.image.assign(link.image().begin(), link.image().end());
  compilation.log = link.Log();
  LIJIT_ASSIGN(const cubin::Image image, cubin::ReadCubin(compilation.image));
  for (const cubin::Kernel& kernel : image.kernels) compilation.kernels.push_back(kernel.name);
  return compilation;
}

}  // namespace lijit::runtime
