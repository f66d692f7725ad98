// SPDX-License-Identifier: Apache-2.0
// Loaded modules and kernels of one CUDA device.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lijit/device.h"
#include "lijit/result.h"
#include "runtime/device/cuda_context.h"

namespace lijit::runtime {

class CudaKernels {
 public:
  // `max_shared_bytes`: what a block of the device may opt in to. `target`: what images must be
  // for.
  CudaKernels(const CudaContext& context, std::string target, ImageKind kind,
              std::uint32_t max_shared_bytes)
      : context_(context),
        target_(std::move(target)),
        kind_(kind),
        max_shared_bytes_(max_shared_bytes) {}
  CudaKernels(const CudaKernels&) = delete;
  CudaKernels& operator=(const CudaKernels&) = delete;
  ~CudaKernels();

  Result<KernelHandle> Load(std::span<const std::byte> image, std::string_view kernel);
  Status Launch(KernelHandle kernel, const LaunchShape& shape,
                std::span<const std::byte> parameters, Stream stream);
  // The kernel that was launched last, for errors that come later than their cause; "" before.
  std::string last_launched() const;

 private:
  struct Kernel {
    std::string name;
    CuModule module = nullptr;
    CuFunction function = nullptr;
    std::uint32_t max_threads = 0;
    std::uint32_t max_dynamic_shared_bytes = 0;
  };

  Status CheckImage(std::span<const std::byte> image, const std::string& kernel) const;
  Status CheckNotCapturing(std::string_view kernel) const;
  Status LoadModule(std::span<const std::byte> image, Kernel& kernel) const;
  Status FindFunction(Kernel& kernel) const;
  Result<std::shared_ptr<const Kernel>> Find(KernelHandle handle) const;
  static Status CheckShape(const Kernel& kernel, const LaunchShape& shape);

  const CudaContext& context_;
  const std::string target_;
  const ImageKind kind_;
  const std::uint32_t max_shared_bytes_;
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const Kernel>> kernels_;
  std::atomic<std::uint64_t> last_launched_ = 0;
};

}  // namespace lijit::runtime
