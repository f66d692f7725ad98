// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/resources.h"

#include <gtest/gtest.h>

namespace lijit::runtime {
namespace {

TEST(ResourcesTest, OneKernelAsPtxasWritesIt) {
  const auto kernels = ParseResources(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_86'\n"
      "ptxas info    : Function properties for k\n"
      "    128 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 1 barriers, 256 bytes smem, 360 bytes cmem[0], 8 "
      "bytes cmem[2]\n");
  ASSERT_TRUE(kernels.ok()) << kernels.error().message;
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ((*kernels)[0], (KernelResources{.kernel = "k",
                                            .target = "sm_86",
                                            .registers = 10,
                                            .stack_bytes = 128,
                                            .spill_store_bytes = 16,
                                            .spill_load_bytes = 24,
                                            .shared_bytes = 256,
                                            .constant_bytes = 368,
                                            .barriers = 1}));
}

TEST(ResourcesTest, NvrtcsFormAndDeviceFunctions) {
  const auto kernels = ParseResources(
      "ptxas info    : Compiling entry function 'first' for 'sm_90a'\r\n"
      "ptxas info    : Function properties for first\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     64 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     64 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 16 barriers, 64 bytes cumulative stack size");
  ASSERT_TRUE(kernels.ok()) << kernels.error().message;
  ASSERT_EQ(kernels->size(), 2u);
  EXPECT_EQ((*kernels)[0].registers, 255u);
  EXPECT_EQ((*kernels)[0].stack_bytes, 0u);
  EXPECT_EQ((*kernels)[1].kernel, "second");
  EXPECT_EQ((*kernels)[1].barriers, 16u);
  EXPECT_EQ((*kernels)[1].spill_store_bytes, 0u);
}

TEST(ResourcesTest, NvJitLinksShortForm) {
  const auto parsed = ParseResources(
      "info    : 0 bytes gmem\n"
      "info    : Function properties for 'k':\n"
      "info    : used 4 registers, used 1 barriers, 8 stack, 16 bytes smem, 360 bytes cmem[0], 0 "
      "bytes lmem");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 1u);
  const KernelResources& k = (*parsed)[0];
  EXPECT_EQ(k.kernel, "k");
  EXPECT_EQ(k.registers, 4u);
  EXPECT_EQ(k.barriers, 1u);
  EXPECT_EQ(k.stack_bytes, 8u);
  EXPECT_EQ(k.shared_bytes, 16u);
  EXPECT_EQ(k.constant_bytes, 360u);
}

TEST(ResourcesTest, BothFormsOfOneKernel) {
  const std::string long_form =
      "ptxas info    : Compiling entry function 'k' for 'sm_86'\n"
      "ptxas info    : Function properties for k\n"
      "    8 bytes stack frame, 4 bytes spill stores, 2 bytes spill loads\n"
      "ptxas info    : Used 4 registers, used 0 barriers\n";
  const std::string short_form =
      "info    : Function properties for 'k':\n"
      "info    : used 4 registers, used 0 barriers, 8 stack\n";
  for (const std::string& log : {long_form + short_form, short_form + long_form}) {
    const auto parsed = ParseResources(log);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    ASSERT_EQ(parsed->size(), 1u);
    EXPECT_EQ((*parsed)[0].target, "sm_86");
    EXPECT_EQ((*parsed)[0].spill_store_bytes, 4u);
  }
}

TEST(ResourcesTest, NothingToParse) {
  EXPECT_TRUE(ParseResources("")->empty());
  EXPECT_TRUE(ParseResources("k.cu(3): warning: unused\nUsed 3 registers\n")->empty());
}

TEST(ResourcesTest, DamagedLogs) {
  const auto cut = ParseResources("ptxas info : Compiling entry function 'k' for 'sm_86'\n");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, ErrorCode::kDamaged);
  EXPECT_NE(cut.error().message.find("'k'"), std::string::npos);
  const auto large = ParseResources(
      "ptxas info : Compiling entry function 'k' for 'sm_86'\n"
      "ptxas info : Used 99999999999 registers\n");
  ASSERT_FALSE(large.ok());
  const auto sum = ParseResources(
      "ptxas info : Compiling entry function 'k' for 'sm_86'\n"
      "ptxas info : Used 1 registers, 4294967295 bytes cmem[0], 1 bytes cmem[2]\n");
  ASSERT_FALSE(sum.ok());
}

}  // namespace
}  // namespace lijit::runtime
