// SPDX-License-Identifier: Apache-2.0
// An emulated device that runs a few blocks of each launch and leaves out the others, so that the
// largest grids take no time. Its memory is mapped as it is touched.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lijit/device.h"
#include "runtime/emulator/global_memory.h"
#include "runtime/emulator/load.h"

namespace lijit::tests {

class SomeBlocksDevice : public Device {
 public:
  explicit SomeBlocksDevice(std::string_view target);

  // Which blocks run: these, or the last `count` of each grid.
  void RunBlocks(std::vector<std::uint64_t> blocks) { blocks_ = std::move(blocks); }
  void RunLast(std::uint64_t count) {
    blocks_.clear();
    last_ = count;
  }

  const DeviceInfo& info() const override { return info_; }
  Result<DeviceAddress> Allocate(std::uint64_t bytes, std::string_view label) override {
    return memory_.Allocate(bytes, label);
  }
  Status Free(DeviceAddress address) override { return memory_.Free(address); }
  Status CopyToDevice(DeviceAddress to, const void* from, std::uint64_t bytes) override {
    return memory_.CopyIn(to, from, bytes);
  }
  Status CopyToHost(void* to, DeviceAddress from, std::uint64_t bytes) override {
    return memory_.CopyOut(to, from, bytes);
  }
  Status Fill(DeviceAddress to, std::uint8_t value, std::uint64_t bytes) override {
    return memory_.Fill(to, value, bytes);
  }
  ImageKind image_kind() const override { return ImageKind::kPtx; }
  Result<KernelHandle> Load(std::span<const std::byte> image, std::string_view kernel) override;
  // A finding is a failure.
  Status Launch(KernelHandle kernel, const LaunchShape& shape,
                std::span<const std::byte> parameters, Stream stream) override;
  Status Synchronize() override { return {}; }
  Result<std::unique_ptr<Graph>> Record(const std::function<Status(Stream)>&) override {
    return Unavailable("a device that runs some blocks records nothing");
  }

 private:
  DeviceInfo info_;
  emulator::GlobalMemory memory_;
  std::vector<std::unique_ptr<emulator::LoadedKernel>> kernels_;
  std::vector<std::uint64_t> blocks_;
  std::uint64_t last_ = 1;
};

}  // namespace lijit::tests
