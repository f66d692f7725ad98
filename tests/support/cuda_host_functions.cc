// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_host_functions.h"

#ifdef LIJIT_HAS_CUDA_FP4_H
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#endif

namespace lijit::tests {

#ifdef LIJIT_HAS_CUDA_FP4_H
namespace {

std::uint32_t EncodeE2m1(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
std::uint32_t EncodeE4m3(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }
std::uint32_t EncodeE5m2(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); }

float Number(__half_raw half) { return __half2float(half); }
float DecodeE2m1(std::uint32_t code) {
  return Number(__nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(code), __NV_E2M1));
}
float DecodeE4m3(std::uint32_t code) {
  return Number(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), __NV_E4M3));
}
float DecodeE5m2(std::uint32_t code) {
  return Number(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), __NV_E5M2));
}

struct Row {
  ir::ElementFormat element;
  CudaHostFunctions functions;
};

const Row kRows[] = {
    {{.exponent = 2, .mantissa = 1, .bias = 1, .nan = 0x7}, {EncodeE2m1, DecodeE2m1}},
    {ir::E4m3(), {EncodeE4m3, DecodeE4m3}},
    {{.exponent = 5, .mantissa = 2, .bias = 15, .special = ir::Special::kIeee, .nan = 0x7f},
     {EncodeE5m2, DecodeE5m2}}};

}  // namespace

std::optional<CudaHostFunctions> CudaHostFunctionsOf(const ir::ElementFormat& element) {
  for (const Row& row : kRows) {
    if (row.element == element) return row.functions;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> CudaHostUe8m0(float quotient) {
  return __nv_cvt_float_to_e8m0(quotient, __NV_SATFINITE, cudaRoundPosInf);
}

bool HasCudaHostFunctions() { return true; }
#else
std::optional<CudaHostFunctions> CudaHostFunctionsOf(const ir::ElementFormat&) {
  return std::nullopt;
}
std::optional<std::uint32_t> CudaHostUe8m0(float) { return std::nullopt; }
bool HasCudaHostFunctions() { return false; }
#endif

}  // namespace lijit::tests
