// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/limits.h"

#include <gtest/gtest.h>

namespace lijit::runtime {
namespace {

TEST(GpuLimitsTest, TheFirstRowWhoseNameFits) {
  EXPECT_EQ(LimitsOf("NVIDIA H200")->memory_gbps, 4800);
  EXPECT_EQ(LimitsOf("NVIDIA H100 PCIe")->multiprocessors, 114);
  EXPECT_EQ(LimitsOf("NVIDIA H100 80GB HBM3")->multiprocessors, 132);
  EXPECT_EQ(LimitsOf("NVIDIA GeForce RTX 3090 Ti")->multiprocessors, 84);
  EXPECT_EQ(LimitsOf("NVIDIA GeForce RTX 3090")->multiprocessors, 82);
  EXPECT_FALSE(LimitsOf("NVIDIA GeForce GTX 1080"));
  EXPECT_FALSE(LimitsOf("emulated sm_86"));
}

TEST(GpuLimitsTest, TheUnitThatTakesTheElements) {
  const GpuLimits gpu = *LimitsOf("NVIDIA GeForce RTX 3090");
  EXPECT_EQ(TensorTflops(gpu, 4), 284);
  EXPECT_EQ(TensorTflops(gpu, 8), 71);  // has no FP8 unit
  EXPECT_EQ(TensorTflops(gpu, 16), 71);
}

TEST(GpuLimitsTest, TheLargerOfTwoTimes) {
  GpuLimits gpu;
  gpu.memory_gbps = 1000;
  gpu.fp8_tflops = 100;
  EXPECT_EQ(LeastTimeFor(gpu, 3e6, 1e8, 8).by, "memory");
  EXPECT_DOUBLE_EQ(LeastTimeFor(gpu, 3e6, 1e8, 8).us, 3);
  EXPECT_EQ(LeastTimeFor(gpu, 3e6, 1e9, 8).by, "tensor");
  EXPECT_DOUBLE_EQ(LeastTimeFor(gpu, 3e6, 1e9, 8).us, 10);
  gpu.copy_gbps = 500;
  EXPECT_DOUBLE_EQ(LeastTimeFor(gpu, 3e6, 0, 8).us, 6);
}

}  // namespace
}  // namespace lijit::runtime
