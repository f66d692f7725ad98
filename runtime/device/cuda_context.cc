// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda_context.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace lijit::runtime {

Result<DeviceInfo> DescribeCudaDevice(const Driver& driver, int ordinal) {
  LIJIT_TRY(driver.CheckProcess());
  const std::string what = fmt::format("describing CUDA device {}", ordinal);
  CuDevice device = 0;
  LIJIT_TRY(driver.Check(driver.DeviceGet(&device, ordinal), what));
  std::array<char, 256> name{};
  LIJIT_TRY(driver.Check(driver.DeviceGetName(name.data(), name.size() - 1, device), what));
  std::array<char, 32> address{};
  LIJIT_TRY(driver.Check(
      driver.DeviceGetPCIBusId(address.data(), static_cast<int>(address.size() - 1), device),
      what));
  int major = 0;
  int minor = 0;
  DeviceInfo info;
  const std::pair<int, int*> attributes[] = {
      {kCuDeviceComputeCapabilityMajor, &major},
      {kCuDeviceComputeCapabilityMinor, &minor},
      {kCuDeviceMultiprocessorCount, &info.multiprocessors},
  };
  for (const auto& [attribute, value] : attributes) {
    LIJIT_TRY(driver.Check(driver.DeviceGetAttribute(value, attribute, device), what));
  }
  info.kind = DeviceKind::kCuda;
  info.name = name.data();
  info.compute_capability = 10 * major + minor;
  info.driver = driver.version;
  info.pci_address = address.data();
  return info;
}

Status CudaContext::Open() {
  LIJIT_TRY(driver_.CheckProcess());
  const std::string what = fmt::format("opening CUDA device {}", ordinal_);
  LIJIT_TRY(driver_.Check(driver_.DeviceGet(&device_, ordinal_), what));
  return driver_.Check(driver_.DevicePrimaryCtxRetain(&context_, device_), what);
}

CudaContext::~CudaContext() {
  if (usable()) driver_.DevicePrimaryCtxRelease(device_);
}

Result<int> CudaContext::Attribute(int attribute) const {
  int value = 0;
  LIJIT_TRY(driver_.Check(driver_.DeviceGetAttribute(&value, attribute, device_),
                          fmt::format("attribute {} of CUDA device {}", attribute, ordinal_)));
  return value;
}

CudaContext::Scope::Scope(const CudaContext& context) : driver_(context.driver_) {
  status_ = driver_.CheckProcess();
  if (!status_.ok()) return;
  status_ = driver_.Check(driver_.CtxPushCurrent(context.context_),
                          fmt::format("using CUDA device {}", context.ordinal_));
}

CudaContext::Scope::~Scope() {
  CuContext popped = nullptr;
  if (status_.ok()) driver_.CtxPopCurrent(&popped);
}

}  // namespace lijit::runtime
