// SPDX-License-Identifier: Apache-2.0
// `lijit bench` without a clock: every shape and format is verified by replaying its graph.
#include <gtest/gtest.h>

#include <string>

#include "lijit/bench.h"

namespace lijit {
namespace {

BenchRequest RequestFor(std::vector<BenchShape> shapes, std::string schedule = "auto") {
  BenchRequest request;
  request.runtime.device = "emulated";
  request.runtime.target = "sm_86";
  for (const char* format : {"fp8_e4m3", "mxfp4"}) {
    IndexerConfig config;
    config.format = format;
    config.schedule = schedule;
    request.indexers.push_back(config);
  }
  request.shapes = std::move(shapes);
  request.time = false;
  request.rotated_bytes = 3 * 64 * 200;  // a few sets
  return request;
}

void ExpectVerified(const BenchReport& report, std::size_t rows) {
  ASSERT_EQ(report.rows.size(), rows);
  for (const BenchRow& row : report.rows) {
    EXPECT_TRUE(row.verified) << row.problem;
    EXPECT_EQ(row.problem, "");
    EXPECT_TRUE(row.bitwise_equal || row.format != "mxfp4") << row.format;
    EXPECT_LT(row.calc_diff, 5e-6);
    EXPECT_GT(row.compared, 0);
    EXPECT_FALSE(row.us.has_value());
  }
  EXPECT_TRUE(report.ok);
}

TEST(EmulatedBench, DecodeAndPrefillAreVerified) {
  const std::vector<BenchShape> shapes = {
      {.heads = 8, .batch = 2, .context = 133, .next_n = 2},
      {.heads = 16, .batch = 1, .context = 70},
      {.op = "ragged", .heads = 8, .queries = 15, .keys = 130, .causal = true},
      {.op = "ragged", .heads = 16, .queries = 3, .keys = 65},
  };
  const auto report = Bench(RequestFor(shapes));
  ASSERT_TRUE(report.ok()) << report.error().message;
  ExpectVerified(*report, 2 * shapes.size());
  const BenchRow& decode = report->rows[0];
  EXPECT_EQ(decode.pairs, 2 * (132 + 133));
  EXPECT_EQ(decode.bytes, 4 * 8 * (128 + 4) + 2 * 133 * 132 + 2 * 3 * 4 + 2 * 4 + 4 * decode.pairs);
  const BenchRow& prefill = report->rows[2];
  EXPECT_EQ(prefill.bytes, 15 * 8 * (128 + 4) + 130 * 132 + 15 * 8 + 4 * prefill.pairs);
}

TEST(EmulatedBench, SchedulesByName) {
  const auto report = Bench(RequestFor({{.heads = 8, .context = 65}}, "simt"));
  ASSERT_TRUE(report.ok()) << report.error().message;
  ExpectVerified(*report, 2);
  EXPECT_EQ(report->rows[0].schedule, "simt");
}

TEST(EmulatedBench, TimesNeedAClock) {
  BenchRequest request = RequestFor({{.heads = 8, .context = 65}});
  request.time = true;
  const auto report = Bench(request);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(report.error().message.find("has no clock"), std::string::npos);
}

TEST(EmulatedBench, ARowThatFailsSaysWhyAndTheNextIsTried) {
  const auto report =
      Bench(RequestFor({{.heads = 7, .context = 65}, {.heads = 8, .context = 65}}, "mma_s8"));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->ok);
  ASSERT_EQ(report->rows.size(), 4u);
  for (const int wrong : {0, 1, 2}) {  // FP8 is nothing for mma_s8, seven heads neither
    EXPECT_NE(report->rows[static_cast<std::size_t>(wrong)].problem, "") << wrong;
    EXPECT_FALSE(report->rows[static_cast<std::size_t>(wrong)].verified) << wrong;
  }
  EXPECT_TRUE(report->rows[3].verified) << report->rows[3].problem;
}

TEST(EmulatedBench, ShapesThatThereAreNoneOf) {
  const std::vector<BenchShape> wrong = {{.op = "both"},
                                         {.heads = 0},
                                         {.batch = 0},
                                         {.context = 0},
                                         {.next_n = 9},
                                         {.context = std::int64_t{1} << 31},
                                         {.op = "ragged", .queries = 0, .keys = 3},
                                         {.op = "ragged", .queries = 3, .keys = 0}};
  for (const BenchShape& shape : wrong) {
    const auto report = Bench(RequestFor({shape}));
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(Bench(RequestFor({})).ok());
}

}  // namespace
}  // namespace lijit
