// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "lijit/bench.h"

namespace lijit {
namespace {

BenchTime Decode(std::int64_t batch, std::int64_t context, double us, double metadata_us = 0,
                 std::string format = "") {
  return {{.batch = batch, .context = context}, std::move(format), us, metadata_us};
}

TEST(CompareTimesTest, MetadataCountsWhereStartUpDoes) {
  const BenchTime ours[] = {Decode(1, 4096, 2, 0, "mxfp4"), Decode(64, 32768, 40, 0, "mxfp4")};
  const BenchTime peer[] = {Decode(64, 32768, 60, 4), Decode(1, 4096, 3, 1)};
  const BenchComparison comparison = CompareTimes(ours, peer);
  ASSERT_EQ(comparison.rows.size(), 2u);
  EXPECT_EQ(comparison.rows[0].group, "decode small");
  EXPECT_DOUBLE_EQ(comparison.rows[0].ratio, 2);
  EXPECT_DOUBLE_EQ(comparison.rows[0].ratio_kernel, 1.5);
  EXPECT_EQ(comparison.rows[1].group, "decode large");
  EXPECT_DOUBLE_EQ(comparison.rows[1].ratio, 1.5);
  EXPECT_EQ(comparison.unmatched, 0);
}

TEST(CompareTimesTest, GeometricMeansByFormatAndGroup) {
  BenchTime prefill = {{.op = "ragged", .queries = 2, .keys = 9}, "fp8_e4m3", 10, 0};
  const BenchTime ours[] = {Decode(1, 100, 1, 0, "mxfp4"), Decode(1, 200, 1, 0, "mxfp4"), prefill,
                            Decode(1, 300, 1, 0, "mxfp4"), Decode(1, 100, 0, 0, "mxfp4")};
  prefill.format.clear();
  prefill.us = 5;
  const BenchTime peer[] = {Decode(1, 100, 2), Decode(1, 200, 8), prefill};
  const BenchComparison comparison = CompareTimes(ours, peer);
  ASSERT_EQ(comparison.groups.size(), 2u);
  EXPECT_EQ(comparison.groups[0].name, "decode small");
  EXPECT_EQ(comparison.groups[0].rows, 2);
  EXPECT_DOUBLE_EQ(comparison.groups[0].ratio, 4);
  EXPECT_DOUBLE_EQ(comparison.groups[0].least, 2);
  EXPECT_EQ(comparison.groups[1].name, "prefill");
  EXPECT_EQ(comparison.groups[1].format, "fp8_e4m3");
  EXPECT_DOUBLE_EQ(comparison.groups[1].ratio, 0.5);
  EXPECT_EQ(comparison.unmatched, 2);  // a shape that the peer has not, and a row without a time
}

TEST(CompareTimesTest, APeerWithFormatsIsComparedFormatByFormat) {
  const BenchTime ours[] = {Decode(1, 100, 1, 0, "mxfp4")};
  const BenchTime peer[] = {Decode(1, 100, 7, 0, "fp8_e4m3"), Decode(1, 100, 3, 0, "mxfp4")};
  EXPECT_DOUBLE_EQ(CompareTimes(ours, peer).rows.at(0).ratio, 3);
}

}  // namespace
}  // namespace lijit
