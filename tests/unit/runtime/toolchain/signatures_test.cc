// SPDX-License-Identifier: Apache-2.0
// The function tables against NVIDIA's own headers, where they are installed: as many parameters,
// each of the same size. All checks happen while compiling.
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/toolchain/driver_types.h"

namespace lijit::runtime {
namespace {

template <typename R, typename... Parameters>
constexpr std::array<std::size_t, sizeof...(Parameters)> Sizes(R (*)(Parameters...)) {
  return {sizeof(Parameters)...};
}

#define LIJIT_CHECK_SIGNATURE(symbol, parameters)                       \
  static_assert(Sizes(static_cast<int(*) parameters>(nullptr)) ==       \
                    Sizes(static_cast<decltype(&(::symbol))>(nullptr)), \
                #symbol);

#define LIJIT_FUNCTION(member, symbol, required, parameters) \
  LIJIT_CHECK_SIGNATURE(symbol, parameters)
#include "runtime/toolchain/driver_functions.def"
#undef LIJIT_FUNCTION

#define LIJIT_FUNCTION(member, symbol, parameters) LIJIT_CHECK_SIGNATURE(symbol, parameters)
#include "runtime/toolchain/nvjitlink_functions.def"
#include "runtime/toolchain/nvrtc_functions.def"
#undef LIJIT_FUNCTION

static_assert(NVJITLINK_INPUT_PTX == 2);
static_assert(NVRTC_ERROR_COMPILATION == 6);
static_assert(NVRTC_ERROR_INTERNAL_ERROR == 11);
static_assert(NVJITLINK_ERROR_PTX_COMPILE == 4);
static_assert(NVJITLINK_ERROR_UNSUPPORTED_ARCH == 17);

}  // namespace
}  // namespace lijit::runtime
