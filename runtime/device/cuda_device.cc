// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda_device.h"

#include <fmt/format.h>

#include <utility>

#include "runtime/device/cuda_context.h"
#include "runtime/device/cuda_graph.h"
#include "runtime/device/cuda_kernels.h"
#include "runtime/device/cuda_memory.h"
#include "runtime/device/target_choice.h"
#include "runtime/toolchain/driver.h"

namespace lijit::runtime {
namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(std::unique_ptr<CudaContext> context, DeviceInfo info, ImageKind image_kind,
             std::uint32_t max_shared_bytes)
      : context_(std::move(context)),
        memory_(*context_),
        kernels_(*context_, info.target, image_kind, max_shared_bytes),
        info_(std::move(info)),
        image_kind_(image_kind) {}

  const DeviceInfo& info() const override { return info_; }
  ImageKind image_kind() const override { return image_kind_; }

  Result<DeviceAddress> Allocate(std::uint64_t bytes, std::string_view label) override {
    return memory_.Allocate(bytes, label);
  }
  Status Free(DeviceAddress address) override { return memory_.Free(address); }

  Status CopyToDevice(DeviceAddress destination, const void* source, std::uint64_t bytes) override {
    return Access(destination, bytes, "copying to the device", [&](const Driver& driver) {
      return driver.MemcpyHtoD(destination, source, bytes);
    });
  }
  Status CopyToHost(void* destination, DeviceAddress source, std::uint64_t bytes) override {
    return Access(source, bytes, "copying to the host", [&](const Driver& driver) {
      return driver.MemcpyDtoH(destination, source, bytes);
    });
  }
  Status Fill(DeviceAddress destination, std::uint8_t value, std::uint64_t bytes) override {
    return Access(destination, bytes, "filling",
                  [&](const Driver& driver) { return driver.MemsetD8(destination, value, bytes); });
  }

  Result<KernelHandle> Load(std::span<const std::byte> image, std::string_view kernel) override {
    return kernels_.Load(image, kernel);
  }
  Status Launch(KernelHandle kernel, const LaunchShape& shape,
                std::span<const std::byte> parameters, Stream stream) override {
    return kernels_.Launch(kernel, shape, parameters, stream);
  }

  Status Synchronize() override {
    const CudaContext::Scope scope(*context_);
    LIJIT_TRY(scope.status());
    return Check(context_->driver().CtxSynchronize(), "synchronizing");
  }

  Result<std::unique_ptr<Graph>> Record(const std::function<Status(Stream)>& work) override {
    return RecordCudaGraph(*context_, work);
  }

 private:
  // Kernels fail asynchronously, so an error names the last one too.
  Status Check(int result, std::string_view what) const {
    if (result == kCuSuccess) return {};
    const std::string kernel = kernels_.last_launched();
    return context_->driver().Explain(
        result, fmt::format("{}, CUDA device {}{}", what, context_->ordinal(),
                            kernel.empty() ? "" : ", after launching '" + kernel + "'"));
  }

  template <typename Call>
  Status Access(DeviceAddress address, std::uint64_t bytes, std::string_view what, Call call) {
    const CudaContext::Scope scope(*context_);
    LIJIT_TRY(scope.status());
    if (bytes == 0) return {};
    LIJIT_TRY(memory_.Check(address, bytes, what));
    return Check(call(context_->driver()), what);
  }

  std::unique_ptr<CudaContext> context_;
  CudaMemory memory_;
  CudaKernels kernels_;
  DeviceInfo info_;
  ImageKind image_kind_;
};

Result<int> CountDevices(const Driver& driver) {
  LIJIT_TRY(driver.CheckProcess());
  int count = 0;
  LIJIT_TRY(driver.Check(driver.DeviceGetCount(&count), "counting CUDA devices"));
  return count;
}

}  // namespace

Result<std::shared_ptr<Device>> OpenCudaDevice(int ordinal, std::string_view target) {
  LIJIT_ASSIGN(const Driver* driver, ProcessDriver());
  LIJIT_ASSIGN(const int count, CountDevices(*driver));
  if (ordinal < 0 || ordinal >= count) {
    return Unavailable(fmt::format(
        "there is no CUDA device {}; the driver shows {}, numbered from 0", ordinal, count));
  }
  LIJIT_ASSIGN(DeviceInfo info, DescribeCudaDevice(*driver, ordinal));
  const Result<TargetChoice> choice = ChooseTarget(info.compute_capability, target);
  if (!choice.ok()) {
    return Error{choice.error().code,
                 fmt::format("CUDA device {}, {}: {}", ordinal, info.name, choice.error().message)};
  }
  info.target = choice->target.name;
  auto context = std::make_unique<CudaContext>(*driver, ordinal);
  LIJIT_TRY(context->Open());
  LIJIT_ASSIGN(const int shared, context->Attribute(kCuDeviceMaxSharedMemoryPerBlockOptin));
  return std::shared_ptr<Device>(std::make_shared<CudaDevice>(
      std::move(context), std::move(info), choice->image_kind, static_cast<std::uint32_t>(shared)));
}

Result<std::vector<DeviceInfo>> ListCudaDevices() {
  LIJIT_ASSIGN(const Driver* driver, ProcessDriver());
  LIJIT_ASSIGN(const int count, CountDevices(*driver));
  std::vector<DeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    LIJIT_ASSIGN(DeviceInfo info, DescribeCudaDevice(*driver, ordinal));
    const Result<TargetChoice> choice = ChooseTarget(info.compute_capability, "");
    if (choice.ok()) info.target = choice->target.name;
    devices.push_back(std::move(info));
  }
  return devices;
}

}  // namespace lijit::runtime
