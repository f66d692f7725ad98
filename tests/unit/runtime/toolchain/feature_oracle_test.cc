// SPDX-License-Identifier: Apache-2.0
// features.def against the compiler: an instruction of every feature is compiled for every target,
// and what is accepted must be what Has() says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compiler/target/feature.h"
#include "tests/unit/runtime/toolchain/toolchain_fixture.h"

namespace lijit::runtime {
namespace {

using target::Feature;

// PTX over registers r0-r9 (b32), f0-f3 (f32), h0-h1 (b16), a0-a1 (b64).
const std::map<Feature, std::string> kInstructions = {
    {Feature::kBf16Arithmetic, "fma.rn.bf16x2 r0, r1, r2, r3;"},
    {Feature::kMaxNan, "max.NaN.f32 f0, f1, f2;"},
    {Feature::kReduxSync, "redux.sync.add.s32 r0, r1, -1;"},
    {Feature::kCpAsync, "cp.async.cg.shared.global [r0], [a0], 16;"},
    {Feature::kE4m3Convert, "cvt.rn.satfinite.e4m3x2.f32 h0, f0, f1; cvt.rn.f16x2.e4m3x2 r0, h0;"},
    {Feature::kE2m1Convert,
     ".reg .b8 b; cvt.rn.satfinite.e2m1x2.f32 b, f0, f1; cvt.rn.f16x2.e2m1x2 r0, b;"},
    {Feature::kUe8m0Convert,
     "cvt.rp.satfinite.ue8m0x2.f32 h0, f0, f1; cvt.rn.bf16x2.ue8m0x2 r0, h0;"},
    {Feature::kMmaS8,
     "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
     "{r0, r1, r2, r3}, {r4, r5, r6, r7}, {r8, r9}, {r0, r1, r2, r3};"},
    {Feature::kMmaF16,
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
     "{f0, f1, f2, f3}, {r4, r5, r6, r7}, {r8, r9}, {f0, f1, f2, f3};"},
    {Feature::kMmaE4m3,
     "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
     "{f0, f1, f2, f3}, {r4, r5, r6, r7}, {r8, r9}, {f0, f1, f2, f3};"},
    {Feature::kMmaMxf4,
     "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32"
     ".ue8m0 {f0, f1, f2, f3}, {r4, r5, r6, r7}, {r8, r9}, {f0, f1, f2, f3}, r0, {0, 0}, r1, "
     "{0, 0};"},
    {Feature::kWgmma,
     "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
     "{f0, f1, f2, f3}, a0, a1, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; "
     "wgmma.wait_group.sync.aligned 0;"},
    {Feature::kCpAsyncBulk,
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r0], [a0], 16, [r1];"},
    {Feature::kSetmaxnreg, "setmaxnreg.inc.sync.aligned.u32 64;"},
    {Feature::kGriddepcontrol, "griddepcontrol.wait;"},
    {Feature::kTcgen05, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [r0], 32;"},
    {Feature::kDp4a, "dp4a.s32.s32 r0, r1, r2, r3;"},
};

std::string Kernel(const std::string& instruction) {
  return fmt::format(
      "extern \"C\" __global__ void k(unsigned* p) {{ asm volatile(\"{{ .reg .b32 r<10>; .reg .f32 "
      "f<4>; .reg .b16 h<2>; .reg .b64 a<2>; mov.b64 a0, %0; {} }}\" :: \"l\"(p) : \"memory\"); }}",
      instruction);
}

class FeatureOracleTest : public testing::TestWithParam<target::FeatureInfo> {};

TEST_P(FeatureOracleTest, NvrtcAcceptsItExactlyWhereTheTableSaysSo) {
  LIJIT_NEED(InstalledNvrtc());
  const Nvrtc& nvrtc = **InstalledNvrtc();
  const auto instruction = kInstructions.find(GetParam().feature);
  ASSERT_NE(instruction, kInstructions.end());
  for (const target::Target& target : target::AllTargets()) {
    const auto made = nvrtc.Compile({.source = Kernel(instruction->second),
                                     .name = "k.cu",
                                     .architecture = std::string(target.name),
                                     .options = {},
                                     .kernels = {"k"}});
    EXPECT_EQ(made.ok(), target::Has(target, GetParam().feature))
        << target.name << (made.ok() ? " is accepted" : "\n" + made.error().message);
    // A mistake in the test's own PTX would be refused in other words.
    if (!made.ok()) {
      EXPECT_TRUE(Contains(made.error().message, "not supported on .target") ||
                  Contains(made.error().message, "requires .target"))
          << made.error().message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Features, FeatureOracleTest,
                         testing::ValuesIn(target::AllFeatures().begin(),
                                           target::AllFeatures().end()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace lijit::runtime
