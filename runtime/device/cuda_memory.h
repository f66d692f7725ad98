// SPDX-License-Identifier: Apache-2.0
// The global memory of one CUDA device.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "lijit/device.h"
#include "lijit/result.h"
#include "runtime/device/cuda_context.h"

namespace lijit::runtime {

class CudaMemory {
 public:
  explicit CudaMemory(const CudaContext& context) : context_(context) {}
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  // Frees what is left.
  ~CudaMemory();

  Result<DeviceAddress> Allocate(std::uint64_t bytes, std::string_view label);
  Status Free(DeviceAddress address);
  // Is [address, address + bytes) this device's memory? The end is known only for memory that was
  // allocated here. `what` names the range in the error.
  Status Check(DeviceAddress address, std::uint64_t bytes, std::string_view what) const;

 private:
  struct Allocation {
    std::uint64_t bytes = 0;
    std::string label;
  };

  const CudaContext& context_;
  mutable std::mutex mutex_;
  std::map<DeviceAddress, Allocation> allocations_;
};

}  // namespace lijit::runtime
