// SPDX-License-Identifier: Apache-2.0
// The evaluator against the host functions of cuda_fp4.h and cuda_fp8.h, an oracle that needs no
// GPU: every bfloat16, and the neighbourhood of every boundary between two codes.
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/ir/evaluate_codes.h"
#include "compiler/support/float_text.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::ir {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::uint32_t CudaE2m1(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
std::uint32_t CudaE4m3(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }
std::uint32_t CudaE5m2(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); }

float NumberOf(__half_raw half) { return __half2float(half); }
float CudaNumberOfE2m1(std::uint32_t code) {
  return NumberOf(__nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(code), __NV_E2M1));
}
float CudaNumberOfE4m3(std::uint32_t code) {
  return NumberOf(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), __NV_E4M3));
}
float CudaNumberOfE5m2(std::uint32_t code) {
  return NumberOf(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), __NV_E5M2));
}

struct Oracle {
  const char* format;
  std::uint32_t (*encode)(float);
  float (*decode)(std::uint32_t);
};

class CudaHeaders : public testing::TestWithParam<Oracle> {
 protected:
  const Format& format() const { return FormatNamed(GetParam().format); }
};

TEST_P(CudaHeaders, EveryBf16HasTheSameCode) {
  const ElementCodes codes(format().element);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float x = FloatFromBits(bits << 16);
    ASSERT_EQ(codes.Encode(x), GetParam().encode(x)) << FloatToText(x);
  }
}

TEST_P(CudaHeaders, EveryBoundaryHasTheSameCodes) {
  const ElementCodes codes(format().element);
  for (std::uint32_t code = 0; code < format().element.MaxCode(); ++code) {
    const float middle = (codes.Decode(code) + codes.Decode(code + 1)) / 2;
    for (const float sign : {1.0f, -1.0f}) {
      for (const float x : {codes.Decode(code), std::nextafter(middle, 0.0f), middle,
                            std::nextafter(middle, kInf)}) {
        ASSERT_EQ(codes.Encode(sign * x), GetParam().encode(sign * x)) << FloatToText(sign * x);
      }
    }
  }
}

TEST_P(CudaHeaders, EveryCodeHasTheSameNumber) {
  const ElementCodes codes(format().element);
  for (std::uint32_t code = 0; code < 2 * format().element.SignBit(); ++code) {
    const float ours = codes.Decode(code);
    const float theirs = GetParam().decode(code);
    if (std::isnan(ours) && std::isnan(theirs)) continue;
    ASSERT_EQ(BitsOfFloat(ours), BitsOfFloat(theirs)) << code;
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, CudaHeaders,
                         testing::Values(Oracle{"mxfp4", CudaE2m1, CudaNumberOfE2m1},
                                         Oracle{"nvfp4", CudaE2m1, CudaNumberOfE2m1},
                                         Oracle{"fp8_e4m3", CudaE4m3, CudaNumberOfE4m3},
                                         Oracle{"mxfp8_e5m2", CudaE5m2, CudaNumberOfE5m2}),
                         [](const testing::TestParamInfo<Oracle>& param) {
                           return std::string(param.param.format);
                         });

// Scale codes: the header rounds the quotient up. Where it says 0 the rule's least code is 1.
TEST(CudaHeadersScale, EveryBf16HasTheSameUe8m0) {
  const FormatCodes mxfp8(FormatNamed("mxfp8"));
  for (std::uint32_t bits = 0; bits <= 0x7f80; ++bits) {
    const float a = FloatFromBits(bits << 16);
    const int theirs = __nv_cvt_float_to_e8m0(a / 448.0f, __NV_SATFINITE, cudaRoundPosInf);
    const std::vector<float> block(32, a);
    ASSERT_EQ(mxfp8.BlockScaleCodeOf(block, 1), std::max(theirs, 1)) << FloatToText(a);
  }
}

TEST(CudaHeadersScale, EveryUe8m0HasTheSameNumber) {
  const FormatCodes mxfp4(FormatNamed("mxfp4"));
  for (int code = 0; code < 255; ++code) {
    const __nv_bfloat16_raw theirs =
        __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(code));
    EXPECT_EQ(BitsOfFloat(mxfp4.ScaleNumber(code)), std::uint32_t{theirs.x} << 16) << code;
  }
}

}  // namespace
}  // namespace lijit::ir
