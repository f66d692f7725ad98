// SPDX-License-Identifier: Apache-2.0
// One device's primary context, and making it current for the length of a call.
#pragma once

#include <string_view>

#include "lijit/device.h"
#include "lijit/result.h"
#include "runtime/toolchain/driver.h"

namespace lijit::runtime {

// What is known of a device before it is opened. DeviceInfo's target is left empty.
Result<DeviceInfo> DescribeCudaDevice(const Driver& driver, int ordinal);

class CudaContext {
 public:
  CudaContext(const Driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {}
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  ~CudaContext();

  // Retains the primary context. Once, before everything else.
  Status Open();

  const Driver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  // Usable in this process, that is, not in a child of fork.
  bool usable() const { return context_ != nullptr && driver_.CheckProcess().ok(); }
  Result<int> Attribute(int attribute) const;

  // Makes the context current on this thread until destruction, leaving the thread's own below it.
  class Scope {
   public:
    explicit Scope(const CudaContext& context);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();
    Status status() const { return status_; }

   private:
    const Driver& driver_;
    Status status_;
  };

 private:
  const Driver& driver_;
  int ordinal_;
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
};

}  // namespace lijit::runtime
