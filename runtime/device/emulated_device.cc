// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/emulated_device.h"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/target/target.h"
#include "runtime/device/recording.h"
#include "runtime/emulator/global_memory.h"
#include "runtime/emulator/launch.h"
#include "runtime/emulator/load.h"

namespace lijit::runtime {
namespace {

// Launches and their parameters, replayed one by one.
class EmulatedGraph final : public Graph {
 public:
  explicit EmulatedGraph(Device& device) : device_(device) {}

  void Add(KernelHandle kernel, const LaunchShape& shape, std::span<const std::byte> parameters) {
    launches_.push_back({kernel, shape, {parameters.begin(), parameters.end()}});
  }

  Status Launch(Stream) override {
    for (const Recorded& launch : launches_) {
      LIJIT_TRY(device_.Launch(launch.kernel, launch.shape, launch.parameters, nullptr));
    }
    return {};
  }

  Result<std::vector<double>> Time(int) override {
    return Unavailable(fmt::format("device '{}' has no clock: times are measured on a CUDA device",
                                   device_.info().name));
  }

 private:
  struct Recorded {
    KernelHandle kernel;
    LaunchShape shape;
    std::vector<std::byte> parameters;
  };

  Device& device_;
  std::vector<Recorded> launches_;
};

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(const target::Target& target, const EmulationOptions& options) : target_(target) {
    info_.kind = DeviceKind::kEmulated;
    info_.name = fmt::format("emulated {}", target.name);
    info_.target = target.name;
    info_.compute_capability = target.capability;
    info_.multiprocessors = 3;  // so that blocks which share all work have several parts of it
    options_.host_threads = options.host_threads;
    options_.step_limit = options.step_limit;
    options_.max_shared_bytes = target.max_shared_bytes_per_block;
  }

  const DeviceInfo& info() const override { return info_; }

  Result<DeviceAddress> Allocate(std::uint64_t bytes, std::string_view label) override {
    const std::lock_guard lock(mutex_);
    return memory_.Allocate(bytes, label);
  }

  Status Free(DeviceAddress address) override {
    const std::lock_guard lock(mutex_);
    return memory_.Free(address);
  }

  Status CopyToDevice(DeviceAddress destination, const void* source, std::uint64_t bytes) override {
    const std::lock_guard lock(mutex_);
    return memory_.CopyIn(destination, source, bytes);
  }

  Status CopyToHost(void* destination, DeviceAddress source, std::uint64_t bytes) override {
    const std::lock_guard lock(mutex_);
    return memory_.CopyOut(destination, source, bytes);
  }

  Status Fill(DeviceAddress destination, std::uint8_t value, std::uint64_t bytes) override {
    const std::lock_guard lock(mutex_);
    return memory_.Fill(destination, value, bytes);
  }

  ImageKind image_kind() const override { return ImageKind::kPtx; }

  Result<KernelHandle> Load(std::span<const std::byte> image, std::string_view kernel) override {
    LIJIT_TRY(CheckNotRecording(kernel));
    const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
    const std::lock_guard lock(mutex_);
    LIJIT_ASSIGN(std::unique_ptr<emulator::LoadedKernel> loaded,
                 emulator::LoadKernel(text, kernel, memory_));
    LIJIT_TRY(CheckTarget(loaded->module.target, kernel));
    kernels_.push_back(std::move(loaded));
    return KernelHandle{kernels_.size()};
  }

  Status Launch(KernelHandle kernel, const LaunchShape& shape,
                std::span<const std::byte> parameters, Stream stream) override {
    const std::lock_guard lock(mutex_);
    if (kernel.id == 0 || kernel.id > kernels_.size()) {
      return InvalidArgument(fmt::format("no kernel has handle {}; load it first", kernel.id));
    }
    if (recordings_.contains(stream)) {
      static_cast<EmulatedGraph*>(stream)->Add(kernel, shape, parameters);
      return {};
    }
    LIJIT_ASSIGN(
        emulator::LaunchResult result,
        emulator::Launch(kernels_[kernel.id - 1]->kernel, shape, parameters, memory_, options_));
    instructions_ += result.instructions;
    if (!result.finding) return {};
    findings_.push_back(*result.finding);
    return Failed(std::move(result.finding->message));
  }

  Status Synchronize() override { return {}; }

  // The stream that stands for a recording is its graph.
  Result<std::unique_ptr<Graph>> Record(const std::function<Status(Stream)>& work) override {
    const RecordingScope recording;
    LIJIT_TRY(recording.status());
    auto graph = std::make_unique<EmulatedGraph>(*this);
    SetRecording(graph.get(), true);
    const Status worked = work(graph.get());
    SetRecording(graph.get(), false);
    LIJIT_TRY(worked);
    return std::unique_ptr<Graph>(std::move(graph));
  }

  std::uint64_t instructions() const override {
    const std::lock_guard lock(mutex_);
    return instructions_;
  }

  std::vector<Finding> findings() const override {
    const std::lock_guard lock(mutex_);
    return findings_;
  }

 private:
  void SetRecording(Stream stream, bool on) {
    const std::lock_guard lock(mutex_);
    if (on) {
      recordings_.insert(stream);
    } else {
      recordings_.erase(stream);
    }
  }

  // The target of the PTX, named as in its .target directive.
  Status CheckTarget(std::string_view name, std::string_view kernel) const {
    LIJIT_ASSIGN(const target::Target target, target::ParseTarget(name));
    const bool same = target == target_;
    if (same || (target.variant != target::Variant::kAccelerated &&
                 target::PtxRunsOn(target, target_.capability))) {
      return {};
    }
    return InvalidArgument(
        fmt::format("the PTX of '{}' is for {}, which an emulated {} cannot "
                    "run; compile it for {}",
                    kernel, name, target_.name, target_.ptx_architecture));
  }

  target::Target target_;
  DeviceInfo info_;
  emulator::LaunchOptions options_;
  mutable std::mutex mutex_;  // of all below: a launch runs to its end under it
  emulator::GlobalMemory memory_;
  std::vector<std::unique_ptr<emulator::LoadedKernel>> kernels_;
  std::set<Stream> recordings_;
  std::vector<Finding> findings_;
  std::uint64_t instructions_ = 0;
};

}  // namespace

Result<std::shared_ptr<Device>> OpenEmulatedDevice(std::string_view target,
                                                   const EmulationOptions& options) {
  LIJIT_ASSIGN(const target::Target row, target::ParseTarget(target));
  return std::shared_ptr<Device>(std::make_shared<EmulatedDevice>(row, options));
}

std::shared_ptr<Device> MakeEmulatedDevice(std::string_view target) {
  Result<std::shared_ptr<Device>> device = OpenEmulatedDevice(target);
  return device.ok() ? *device : nullptr;
}

}  // namespace lijit::runtime
