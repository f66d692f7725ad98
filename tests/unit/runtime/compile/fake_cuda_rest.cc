// SPDX-License-Identifier: Apache-2.0
// Every other function that lijit looks for: success, and nothing else.
#include <cstddef>
#include <cstdint>

#include "runtime/toolchain/driver_types.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

namespace lijit::runtime {

#define LIJIT_FUNCTION(member, symbol, required, parameters)                      \
  extern "C" __attribute__((weak, visibility("default"))) int symbol parameters { \
    return kCuSuccess;                                                            \
  }
#include "runtime/toolchain/driver_functions.def"
#undef LIJIT_FUNCTION

}  // namespace lijit::runtime
