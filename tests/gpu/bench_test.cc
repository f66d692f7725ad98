// SPDX-License-Identifier: Apache-2.0
// Recording, verifying and timing on a CUDA device. No time is judged, only that there is one.
#include <gtest/gtest.h>

#include "lijit/bench.h"

namespace lijit {
namespace {

TEST(GpuBench, VerifiesAndTimes) {
  const auto device = OpenDevice("cuda", "");
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  BenchRequest request;
  request.runtime.device = "cuda";
  request.runtime.cache = cache::CacheConfig{};  // memory only
  for (const char* format : {"fp8_e4m3", "mxfp4"}) {
    IndexerConfig& config = request.indexers.emplace_back();
    config.format = format;
  }
  request.shapes = {{.batch = 3, .context = 4001, .next_n = 2},
                    {.op = "ragged", .queries = 70, .keys = 1111, .causal = true}};
  request.rotated_bytes = 8 << 20;
  request.replays = 10;
  const auto report = Bench(request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->rows.size(), 4u);
  for (const BenchRow& row : report->rows) {
    EXPECT_TRUE(row.verified) << row.problem;
    ASSERT_TRUE(row.us.has_value()) << row.problem;
    EXPECT_GT(*row.us, 0.5);
    EXPECT_GE(*row.us_p90, *row.us);
    EXPECT_GT(row.gbps, 0);
    EXPECT_EQ(row.us_with_clean.has_value(), !row.shape.is_paged());
  }
}

}  // namespace
}  // namespace lijit
