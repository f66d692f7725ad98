// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/predict.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lijit::runtime {
namespace {

using sass::Pipe;

sass::Mix SomeMix() {
  sass::Mix mix;
  mix.instructions = 256;
  mix.slots[IndexOf(Pipe::kFma)] = 64;
  mix.slots[IndexOf(Pipe::kImad)] = 64;
  mix.slots[IndexOf(Pipe::kControl)] = 128;
  mix.macs[0] = 8192;
  return mix;
}

double ClocksOf(const Prediction& prediction, std::string_view name) {
  for (const PipeTime& pipe : prediction.pipes) {
    if (pipe.pipe == name) return pipe.clocks;
  }
  return 0;
}

TEST(PredictTest, TheSlowestPipeBounds) {
  const GpuLimits gpu = *LimitsOf("NVIDIA GeForce RTX 3090");
  const auto prediction = Predict(SomeMix(), gpu, 4);
  ASSERT_TRUE(prediction);
  EXPECT_EQ(prediction->bound, "tensor");
  EXPECT_NEAR(ClocksOf(*prediction, "tensor"), 8, 0.1);
  EXPECT_NEAR(prediction->gpairs, 82 * 1.695 / 8, 0.1);
  EXPECT_EQ(ClocksOf(*prediction, "instructions"), 2);
  EXPECT_EQ(ClocksOf(*prediction, "imad"), 1);
  EXPECT_EQ(ClocksOf(*prediction, "fma"), 1);      // both kinds share its lanes
  EXPECT_EQ(ClocksOf(*prediction, "control"), 0);  // has no rate
  EXPECT_EQ(prediction->memory_gpairs, 234);
}

TEST(PredictTest, OrMemory) {
  const auto prediction = Predict(SomeMix(), *LimitsOf("NVIDIA GeForce RTX 3090"), 936);
  EXPECT_EQ(prediction->bound, "memory");
  EXPECT_EQ(prediction->gpairs, 1);
}

TEST(PredictTest, WhatHasNoRateIsNotPredicted) {
  GpuLimits gpu = *LimitsOf("NVIDIA GeForce RTX 3090");
  sass::Mix fp8 = SomeMix();
  fp8.macs = {0, 8192, 0, 0};  // GA102 has no FP8
  EXPECT_FALSE(Predict(fp8, gpu, 4));
  sass::Mix other = SomeMix();
  other.macs[3] = 1;
  EXPECT_FALSE(Predict(other, gpu, 4));
  EXPECT_FALSE(Predict(sass::Mix{}, gpu, 4));
  gpu.capability = 75;
  EXPECT_FALSE(Predict(SomeMix(), gpu, 4));
}

// Tensor cores do a power of two of multiplications in a clock: rates, clocks and the number of
// multiprocessors of each row agree.
TEST(PredictTest, PublishedRatesAgreeWithClocks) {
  for (const GpuLimits& gpu : AllGpus()) {
    EXPECT_TRUE(Predict(SomeMix(), gpu, 4)) << gpu.name;
    for (const double tera : {gpu.int8_tops, gpu.fp8_tflops, gpu.f16_tflops}) {
      if (tera == 0) continue;
      const double rate = std::log2(tera * 1e6 / (2.0 * gpu.multiprocessors * gpu.mhz));
      EXPECT_NEAR(rate, std::round(rate), 0.02) << gpu.name << " " << tera;
    }
  }
}

}  // namespace
}  // namespace lijit::runtime
