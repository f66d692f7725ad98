// SPDX-License-Identifier: Apache-2.0
// Packed conversions, exhaustive over 16-bit inputs and over all codes. Where CUDA's headers are
// there, their host functions are the reference; the tables in float_formats_test.cc need none.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "tests/unit/runtime/emulator/ptx_runner.h"

#if defined(LIJIT_HAS_CUDA_HEADERS)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#endif

namespace lijit::emulator {
namespace {

using Rows = std::vector<std::vector<std::uint64_t>>;

// f32 inputs: every bf16 value, and every bf16 value with the lowest mantissa bit set (its nearest
// neighbours, so that ties are left and right of).
Rows F32Inputs() {
  Rows rows;
  for (std::uint64_t code = 0; code < 65536; ++code) rows.push_back({code << 16, 0});
  for (std::uint64_t code = 0; code < 65536; ++code) rows.push_back({code << 16 | 1, 0});
  for (std::uint64_t code = 0; code < 65536; ++code) rows.push_back({code << 16 | 0x8000, 0});
  return rows;
}

Rows AllCodes(unsigned bits) {
  Rows rows;
  for (std::uint64_t code = 0; code < 1u << bits; ++code) rows.push_back({code});
  return rows;
}

TEST(ConvertPackedTest, TheFirstSourceIsTheUpperHalf) {
  const std::vector<std::uint64_t> one_two{0x3f800000, 0x40000000};
  EXPECT_EQ(EvaluateOne("cvt.rn.f16x2.f32 %d, %a, %b;", {32, 32, 32}, one_two), 0x3c004000u);
  EXPECT_EQ(EvaluateOne("cvt.rn.bf16x2.f32 %d, %a, %b;", {32, 32, 32}, one_two), 0x3f804000u);
  EXPECT_EQ(EvaluateOne("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", {16, 32, 32}, one_two), 0x3840u);
  EXPECT_EQ(EvaluateOne("cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;", {16, 32, 32}, one_two), 0x3c40u);
  EXPECT_EQ(EvaluateOne("cvt.rn.satfinite.e2m1x2.f32 %d, %a, %b;", {8, 32, 32}, one_two), 0x24u);
  EXPECT_EQ(EvaluateOne("cvt.rz.ue8m0x2.f32 %d, %a, %b;", {16, 32, 32}, one_two), 0x7f80u);
}

TEST(ConvertPackedTest, Relu) {
  const std::vector<std::uint64_t> values{0xbf800000, 0x7fc00000};  // -1, NaN
  EXPECT_EQ(EvaluateOne("cvt.rn.relu.f16x2.f32 %d, %a, %b;", {32, 32, 32}, values), 0x00007fffu);
  EXPECT_EQ(EvaluateOne("cvt.rn.satfinite.relu.e4m3x2.f32 %d, %a, %b;", {16, 32, 32}, values),
            0x007fu);
  EXPECT_EQ(EvaluateOne("cvt.rn.relu.f16x2.e4m3x2 %d, %a;", {32, 16}, {0xb838}), 0x00003c00u);
}

TEST(ConvertPackedTest, ModifiersThatAreMissingAreErrors) {
  EXPECT_EQ(BodyError(".reg .b16 d; .reg .f32 a;\ncvt.rn.e4m3x2.f32 d, a, a;"),
            "ptx line 6: cvt.rn.e4m3x2.f32: needs '.satfinite'");
  EXPECT_EQ(BodyError(".reg .b16 d; .reg .f32 a;\ncvt.rz.satfinite.e4m3x2.f32 d, a, a;"),
            "ptx line 6: cvt.rz.satfinite.e4m3x2.f32: needs a rounding that this conversion has");
  EXPECT_EQ(BodyError(".reg .b16 d; .reg .b32 a;\ncvt.rn.e2m1x2.e4m3x2 d, a;"),
            "ptx line 6: cvt.rn.e2m1x2.e4m3x2: these types are not known to the emulator");
}

#if defined(LIJIT_HAS_CUDA_HEADERS)

float F32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

TEST(ConvertPackedTest, Fp8FromF32AsCudaHeaders) {
  const Rows inputs = F32Inputs();
  const auto e4m3 = Evaluate("cvt.rn.satfinite.e4m3x2.f32 %d, %b, %a;", {16, 32, 32}, inputs);
  const auto e5m2 = Evaluate("cvt.rn.satfinite.e5m2x2.f32 %d, %b, %a;", {16, 32, 32}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const float value = F32(inputs[i][0]);
    ASSERT_EQ(e4m3[i], __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3)) << value;
    ASSERT_EQ(e5m2[i], __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2)) << value;
  }
}

TEST(ConvertPackedTest, Fp8FromF16AsCudaHeaders) {
  const Rows inputs = AllCodes(16);
  const auto e4m3 =
      Evaluate("{ .reg .b32 p; mov.b32 p, {%a, 0}; cvt.rn.satfinite.e4m3x2.f16x2 %d, p; }",
               {16, 16}, inputs);
  const auto e5m2 =
      Evaluate("{ .reg .b32 p; mov.b32 p, {%a, 0}; cvt.rn.satfinite.e5m2x2.f16x2 %d, p; }",
               {16, 16}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const __half_raw half{static_cast<unsigned short>(i)};
    ASSERT_EQ(e4m3[i], __nv_cvt_halfraw_to_fp8(half, __NV_SATFINITE, __NV_E4M3)) << i;
    ASSERT_EQ(e5m2[i], __nv_cvt_halfraw_to_fp8(half, __NV_SATFINITE, __NV_E5M2)) << i;
  }
}

TEST(ConvertPackedTest, Fp4AsCudaHeaders) {
  const Rows inputs = F32Inputs();
  const auto codes = Evaluate("cvt.rn.satfinite.e2m1x2.f32 %d, %b, %a;", {8, 32, 32}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const float value = F32(inputs[i][0]);
    ASSERT_EQ(codes[i], __nv_cvt_float_to_fp4(value, __NV_E2M1, cudaRoundNearest)) << value;
  }
}

TEST(ConvertPackedTest, Ue8m0AsCudaHeaders) {
  const Rows inputs = F32Inputs();
  struct Form {
    const char* text;
    cudaRoundMode rounding;
    __nv_saturation_t saturation;
  };
  const Form forms[] = {
      {"cvt.rz.ue8m0x2.f32 %d, %b, %a;", cudaRoundZero, __NV_NOSAT},
      {"cvt.rp.ue8m0x2.f32 %d, %b, %a;", cudaRoundPosInf, __NV_NOSAT},
      {"cvt.rz.satfinite.ue8m0x2.f32 %d, %b, %a;", cudaRoundZero, __NV_SATFINITE},
      {"cvt.rp.satfinite.ue8m0x2.f32 %d, %b, %a;", cudaRoundPosInf, __NV_SATFINITE}};
  for (const Form& form : forms) {
    const auto codes = Evaluate(form.text, {16, 32, 32}, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const float value = F32(inputs[i][0]);
      ASSERT_EQ(codes[i], __nv_cvt_float_to_e8m0(value, form.saturation, form.rounding))
          << form.text << value;
    }
  }
}

TEST(ConvertPackedTest, AllCodesBackAsCudaHeaders) {
  const Rows inputs = AllCodes(16);
  const auto e4m3 = Evaluate("cvt.rn.f16x2.e4m3x2 %d, %a;", {32, 16}, inputs);
  const auto e5m2 = Evaluate("cvt.rn.f16x2.e5m2x2 %d, %a;", {32, 16}, inputs);
  const auto ue8m0 = Evaluate("cvt.rn.bf16x2.ue8m0x2 %d, %a;", {32, 16}, inputs);
  const auto is_nan = [](unsigned half) { return (half & 0x7fff) > 0x7c00; };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (unsigned half = 0; half < 2; ++half) {
      const auto code = static_cast<unsigned char>(i >> (8 * half));
      const unsigned a = __nv_cvt_fp8_to_halfraw(code, __NV_E4M3).x;
      const unsigned b = __nv_cvt_fp8_to_halfraw(code, __NV_E5M2).x;
      const unsigned c = __nv_cvt_e8m0_to_bf16raw(code).x;
      ASSERT_EQ(e4m3[i] >> (16 * half) & 0xffff, is_nan(a) ? 0x7fff : a) << +code;
      ASSERT_EQ(e5m2[i] >> (16 * half) & 0xffff, is_nan(b) ? 0x7fff : b) << +code;
      ASSERT_EQ(ue8m0[i] >> (16 * half) & 0xffff, c) << +code;
    }
  }
  const auto e2m1 = Evaluate("cvt.rn.f16x2.e2m1x2 %d, %a;", {32, 8}, AllCodes(8));
  for (unsigned i = 0; i < 256; ++i) {
    ASSERT_EQ(e2m1[i] & 0xffff, __nv_cvt_fp4_to_halfraw(i & 15, __NV_E2M1).x);
    ASSERT_EQ(e2m1[i] >> 16,
              __nv_cvt_fp4_to_halfraw(static_cast<unsigned char>(i >> 4), __NV_E2M1).x);
  }
}

TEST(ConvertPackedTest, HalvesFromF32AsCudaHeaders) {
  const Rows inputs = F32Inputs();
  const auto f16 = Evaluate("cvt.rn.f16x2.f32 %d, %b, %a;", {32, 32, 32}, inputs);
  const auto f16_zero = Evaluate("cvt.rz.f16x2.f32 %d, %b, %a;", {32, 32, 32}, inputs);
  const auto bf16 = Evaluate("cvt.rn.bf16x2.f32 %d, %b, %a;", {32, 32, 32}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const float value = F32(inputs[i][0]);
    ASSERT_EQ(f16[i], __half_raw(__float2half_rn(value)).x) << value;
    ASSERT_EQ(f16_zero[i], __half_raw(__float2half_rz(value)).x) << value;
    ASSERT_EQ(bf16[i], __nv_bfloat16_raw(__float2bfloat16_rn(value)).x) << value;
  }
}

#endif  // LIJIT_HAS_CUDA_HEADERS

}  // namespace
}  // namespace lijit::emulator
