// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, libcuda.so.1, loaded at run time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lijit/result.h"
#include "runtime/toolchain/driver_types.h"

namespace lijit::runtime {

struct Driver {
#define LIJIT_FUNCTION(member, symbol, required, parameters) \
  int(*member) parameters = nullptr;  // NOLINT: a declarator
#include "runtime/toolchain/driver_functions.def"
#undef LIJIT_FUNCTION

  std::string path;     // of libcuda.so.1
  std::string version;  // "580.159.03, CUDA 13.0"
  pid_t process = 0;    // that initialized it

  // "what: CUDA_ERROR_NO_BINARY_FOR_GPU (209), no kernel image ...; advice". Out of memory and all
  // else is Failed.
  Error Explain(int result, std::string_view what) const;
  // Ok for success, else Explain.
  Status Check(int result, std::string_view what) const;
  // CUDA does not work in a child of fork whose parent used it; Failed says so.
  Status CheckProcess() const;
};

// Loaded and initialized at the first call. Unavailable when there is no driver or no device,
// Failed when there is a driver that does not work.
const Result<const Driver*>& ProcessDriver();

// "CUDA_ERROR_NO_BINARY_FOR_GPU (209); advice" without asking a driver.
std::string DescribeDriverError(int result);

}  // namespace lijit::runtime
