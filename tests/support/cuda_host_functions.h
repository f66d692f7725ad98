// SPDX-License-Identifier: Apache-2.0
// The host functions of CUDA's headers, an oracle that needs no GPU: cuda_fp4.h and cuda_fp8.h.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/format.h"

namespace lijit::tests {

struct CudaHostFunctions {
  std::uint32_t (*encode)(float);  // nearest, ties to even, saturating
  float (*decode)(std::uint32_t);  // of a code without noise
};

// Those of an element; nullopt if the headers have none for it, or were not there when this was
// built.
std::optional<CudaHostFunctions> CudaHostFunctionsOf(const ir::ElementFormat& element);

// UE8M0 rounded up and saturating; nullopt without the headers.
std::optional<std::uint32_t> CudaHostUe8m0(float quotient);

// Whether the headers were there.
bool HasCudaHostFunctions();

}  // namespace lijit::tests
