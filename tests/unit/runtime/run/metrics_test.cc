// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "runtime/compile/kernel_module.h"

namespace lijit::runtime {
namespace {

// docs/numerics.md, "The promise".
TEST(MetricsTest, OnlyFp8OnTensorCoresIsNotExact) {
  const Result<ir::Module> formats = ShippedFormats();
  ASSERT_TRUE(formats.ok());
  for (const ir::Format& format : formats->formats) {
    EXPECT_TRUE(IsExact(format, "simt")) << format.name;
    for (const char* const schedule : {"mma_s8", "mma_f16"}) {
      EXPECT_EQ(IsExact(format, schedule), format.name.starts_with("mxfp4")) << format.name;
    }
  }
}

TEST(MetricsTest, OneBitIsADifference) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::array<float, 3> x = {1.0f, 0.0f, kNan};
  EXPECT_TRUE(BitwiseEqual(x, std::array<float, 3>{1.0f, 0.0f, -kNan}));
  EXPECT_FALSE(BitwiseEqual(x, std::array<float, 3>{1.0f, -0.0f, kNan}));
  EXPECT_FALSE(BitwiseEqual(x, std::array<float, 3>{1.0000001f, 0.0f, kNan}));
}

}  // namespace
}  // namespace lijit::runtime
