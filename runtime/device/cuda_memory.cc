// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lijit::runtime {

CudaMemory::~CudaMemory() {
  if (!context_.usable()) return;
  const CudaContext::Scope scope(context_);
  if (!scope.status().ok()) return;
  for (const auto& [address, allocation] : allocations_) context_.driver().MemFree(address);
}

Result<DeviceAddress> CudaMemory::Allocate(std::uint64_t bytes, std::string_view label) {
  const CudaContext::Scope scope(context_);
  LIJIT_TRY(scope.status());
  const Driver& driver = context_.driver();
  DeviceAddress address = 0;
  // The driver has no empty allocations; the interface has.
  const int result = driver.MemAlloc(&address, std::max<std::uint64_t>(bytes, 1));
  if (result != kCuSuccess) {
    std::size_t free = 0;
    std::size_t total = 0;
    driver.MemGetInfo(&free, &total);
    return driver.Explain(result, fmt::format("allocating {} bytes for '{}' on CUDA device {}, "
                                              "which has {} of {} bytes free",
                                              bytes, label, context_.ordinal(), free, total));
  }
  const std::lock_guard lock(mutex_);
  allocations_[address] = {bytes, std::string(label)};
  return address;
}

Status CudaMemory::Free(DeviceAddress address) {
  const CudaContext::Scope scope(context_);
  LIJIT_TRY(scope.status());
  std::string label;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) {
      return InvalidArgument(
          fmt::format("address {:#x} is no allocation of CUDA device {}, or was freed before",
                      address, context_.ordinal()));
    }
    label = std::move(found->second.label);
    allocations_.erase(found);
  }
  return context_.driver().Check(context_.driver().MemFree(address),
                                 fmt::format("freeing '{}' at {:#x}", label, address));
}

Status CudaMemory::Check(DeviceAddress address, std::uint64_t bytes, std::string_view what) const {
  {
    const std::lock_guard lock(mutex_);
    auto after = allocations_.upper_bound(address);
    if (after != allocations_.begin()) {
      const auto& [start, allocation] = *--after;
      const std::uint64_t offset = address - start;
      if (offset <= allocation.bytes && bytes <= allocation.bytes - offset) return {};
      if (offset < allocation.bytes) {
        return InvalidArgument(
            fmt::format("{}: {} bytes at offset {} of '{}' do not lie inside its {} bytes", what,
                        bytes, offset, allocation.label, allocation.bytes));
      }
    }
  }
  int ordinal = -1;
  const int result =
      context_.driver().PointerGetAttribute(&ordinal, kCuPointerDeviceOrdinal, address);
  if (result != kCuSuccess) {
    return InvalidArgument(
        fmt::format("{}: address {:#x} is not memory of any CUDA device", what, address));
  }
  if (ordinal == context_.ordinal()) return {};
  return InvalidArgument(fmt::format(
      "{}: address {:#x} is memory of CUDA device {}, and this is device {}; copy it, or "
      "use that device",
      what, address, ordinal, context_.ordinal()));
}

}  // namespace lijit::runtime
