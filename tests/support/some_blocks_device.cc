// SPDX-License-Identifier: Apache-2.0
#include "tests/support/some_blocks_device.h"

#include "runtime/emulator/cta.h"

namespace lijit::tests {

SomeBlocksDevice::SomeBlocksDevice(std::string_view target) {
  info_.name = "some blocks";
  info_.target = target;
}

Result<KernelHandle> SomeBlocksDevice::Load(std::span<const std::byte> image,
                                            std::string_view kernel) {
  const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  LIJIT_ASSIGN(auto loaded, emulator::LoadKernel(text, kernel, memory_));
  kernels_.push_back(std::move(loaded));
  return KernelHandle{kernels_.size() - 1};
}

Status SomeBlocksDevice::Launch(KernelHandle kernel, const LaunchShape& shape,
                                std::span<const std::byte> parameters, Stream) {
  constexpr std::uint64_t kStepLimit = std::uint64_t{1} << 30;
  const emulator::LaunchConfig config{&kernels_[kernel.id]->kernel, shape, parameters, &memory_,
                                      kStepLimit};
  emulator::LaunchState state;
  emulator::Cta cta(config, state);
  std::vector<std::uint64_t> blocks = blocks_;
  for (std::uint64_t i = last_; blocks_.empty() && i > 0; --i) blocks.push_back(shape.grid[0] - i);
  for (const std::uint64_t block : blocks) cta.Run({static_cast<std::uint32_t>(block), 0, 0});
  const std::optional<Finding> finding = state.TakeFinding();
  return finding ? Status(Failed(finding->message)) : Status();
}

}  // namespace lijit::tests
