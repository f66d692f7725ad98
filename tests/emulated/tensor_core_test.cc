// SPDX-License-Identifier: Apache-2.0
// The tensor-core schedules: the evidence of their rows in runtime/support/support.def, and the
// paths that only they have. MXFP4 equals the evaluator in every bit; FP8 is within the contract's
// limits.
#include <cmath>

#include "compiler/target/target.h"
#include "lijit/run.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

class TensorCores : public IndexerTest {};

// Targets of the two kinds of tensor cores, and their schedules.
struct Unit {
  std::string_view target;
  std::string_view mxfp4, fp8;
};

constexpr Unit kUnits[] = {{"sm_86", "mma_s8", "mma_f16"}, {"sm_90a", "wgmma_s8", "wgmma_e4m3"}};

IndexerConfig With(std::string_view schedule, std::string_view format, int heads = 8,
                   int head_dim = 128, int page = 64) {
  IndexerConfig config = Small(format, heads, head_dim, page);
  config.schedule = schedule;
  return config;
}

RunReport RunOn(std::string_view target, const IndexerConfig& config, std::string_view op,
                std::int64_t context, int next_n = 1) {
  RunRequest request;
  request.runtime = {"emulated", std::string(target), TestCacheConfig()};
  request.indexer = config;
  request.op = op;
  if (op == "paged") request.batch = 2;
  if (op == "paged") request.next_n = next_n;
  if (op == "ragged") request.queries = 5;
  request.context = context;
  request.top_k = 9;
  const Result<RunReport> report = lijit::Run(request);
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.ok() ? *report : RunReport{};
}

TEST_F(TensorCores, EveryTarget) {
  for (const target::Target& target : target::AllTargets()) {
    for (const char* op : {"paged", "ragged"}) {
      const Unit& unit = kUnits[target.name == "sm_90a" ? 1 : 0];
      const RunReport mxfp4 = RunOn(target.name, With("auto", "mxfp4"), op, 70);
      EXPECT_EQ(mxfp4.schedule, unit.mxfp4);
      EXPECT_TRUE(mxfp4.ok && mxfp4.bitwise_equal) << target.name << " " << op;
      const RunReport fp8 = RunOn(target.name, With("auto", "fp8_e4m3"), op, 70);
      EXPECT_EQ(fp8.schedule, unit.fp8);
      EXPECT_TRUE(fp8.ok) << target.name << " " << op;
      EXPECT_LT(std::abs(fp8.calc_diff), 5e-6);
    }
  }
}

TEST_F(TensorCores, ContextsAtTheEdgesOfTiles) {
  for (const Unit& unit : kUnits) {
    for (const char* format : {"mxfp4", "fp8_e4m3"}) {
      for (const std::int64_t context : {0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 300}) {
        const auto config = With("auto", format);
        EXPECT_TRUE(RunOn(unit.target, config, "paged", context).ok) << unit.target << context;
        EXPECT_TRUE(RunOn(unit.target, config, "ragged", context).ok) << unit.target << context;
      }
      EXPECT_TRUE(RunOn(unit.target, With("auto", format), "paged", 4097).ok) << unit.target;
    }
  }
}

TEST_F(TensorCores, NextNAndContextsShorterThanIt) {
  for (const Unit& unit : kUnits) {
    for (int next_n = 1; next_n <= 8; ++next_n) {
      for (const std::int64_t context : {3, 140}) {
        const auto report = RunOn(unit.target, With("auto", "mxfp4"), "paged", context, next_n);
        EXPECT_TRUE(report.ok && report.bitwise_equal) << unit.target << next_n << " " << context;
        EXPECT_TRUE(RunOn(unit.target, With("auto", "fp8_e4m3"), "paged", context, next_n).ok);
      }
    }
  }
}

TEST_F(TensorCores, HeadsDimsAndPages) {
  for (const Unit& unit : kUnits) {
    for (const char* format : {"mxfp4", "fp8_e4m3"}) {
      for (const int heads : {8, 16, 32, 64, 128}) {
        EXPECT_TRUE(RunOn(unit.target, With("auto", format, heads), "paged", 40).ok) << heads;
        EXPECT_TRUE(RunOn(unit.target, With("auto", format, heads), "ragged", 40).ok) << heads;
        EXPECT_TRUE(RunOn(unit.target, With("auto", format, heads, 64), "ragged", 40).ok) << heads;
      }
      for (const int page : {16, 32, 64, 128, 256}) {
        const auto config = With("auto", format, 8, 64, page);
        EXPECT_TRUE(RunOn(unit.target, config, "paged", 150).ok) << unit.target << " " << page;
      }
    }
  }
}

// Scales that fold, that do not, and that are no numbers, in keys and in queries.
TEST_F(TensorCores, SpreadsOfScalesInKeys) {
  for (const Unit& unit : kUnits) {
    TestIndexer& indexer = TestIndexer::Of(With(unit.mxfp4, "mxfp4"), unit.target);
    for (int spread = 0; spread <= 20; ++spread) {
      TestCache cache(indexer, {.lengths = {70}});
      for (int n = 0; n < 70; ++n) {
        for (int block = 0; block < 4; ++block) {
          const int code = 127 - (n * 7 + block * spread) % (spread + 1);
          cache.SetScale(0, n, block, static_cast<std::uint8_t>(code));
        }
      }
      PagedCase(cache, {.next_n = 3}).Check();
    }
  }
}

TEST_F(TensorCores, BytesAtTheEnds) {
  for (const Unit& unit : kUnits) {
    TestIndexer& indexer = TestIndexer::Of(With(unit.mxfp4, "mxfp4"), unit.target);
    constexpr std::uint8_t kCodes[] = {0, 1, 96, 97, 98, 127, 157, 158, 160, 161, 253, 254, 255};
    constexpr int kCount = std::size(kCodes);
    TestCache cache(indexer, {.lengths = std::vector<int>(kCount, kCount)});
    std::vector<std::uint8_t> q_scales;
    for (int b = 0; b < kCount; ++b) {
      q_scales.insert(q_scales.end(), 8 * 4, kCodes[b]);
      for (int n = 0; n < kCount; ++n) {
        for (int block = 0; block < 4; ++block) cache.SetScale(b, n, block, kCodes[n]);
      }
    }
    PagedCase(cache, {.scoring = {.q_scales = q_scales}}).Check();
  }
}

// Weights that a power of two cannot be moved into.
TEST_F(TensorCores, WeightsOutOfTheFoldedRange) {
  for (const Unit& unit : kUnits) {
    TestIndexer& indexer = TestIndexer::Of(With(unit.mxfp4, "mxfp4"), unit.target);
    TestCache cache(indexer, {.lengths = {70}});
    for (const float weight : {0.0f, -0.0f, 1e-40f, 1e-30f, 1e30f, kInfinity, std::nanf("")}) {
      std::vector<float> w(8, 0.5f);
      w[3] = weight;
      PagedCase(cache, {.scoring = {.w = w}}).Check();
    }
  }
}

TEST_F(TensorCores, TailsStridesAndBounds) {
  for (const Unit& unit : kUnits) {
    TestIndexer& indexer = TestIndexer::Of(With(unit.mxfp4, "mxfp4"), unit.target);
    TestCache cache(indexer, {.lengths = {70, 0, 129}, .page_stride = 8640});
    PagedCase(cache,
              {.next_n = 2, .scoring = {.width = 200, .out_stride = 260, .tail = Tail::kKeep}})
        .Check();
    PagedCase(cache,
              {.next_n = 2, .row_lengths = {70, 3, 0, 0, 128, 129}, .scoring = {.width = 140}})
        .Check();
    RaggedCase(indexer, {.keys = 300,
                         .starts = {0, 100, 250, 40, 299, -5},
                         .ends = {50, 180, 300, 20, 300, 9000},
                         .scoring = {.width = 310, .out_stride = 320}})
        .Check();
  }
}

TEST_F(TensorCores, NanCodesOfFp8MakeTheLogitNan) {
  for (const Unit& unit : kUnits) {
    RunRequest request;
    request.runtime = {"emulated", std::string(unit.target), TestCacheConfig()};
    request.indexer = With(unit.fp8, "fp8_e4m3");
    request.op = "ragged";
    request.queries = 2;
    request.context = 40;
    request.top_k = 4;
    request.k.shape = {40, 128};
    request.k.data.assign(40 * 128, 1.0f);
    request.k.data[7 * 128 + 33] = std::nanf("");
    const Result<RunReport> report = lijit::Run(request);
    ASSERT_TRUE(report.ok()) << report.error().message;
    for (int row = 0; row < 2; ++row) {
      for (int n = 0; n < 40; ++n) {
        EXPECT_EQ(std::isnan(report->logits[Size(row * 40 + n)]), n == 7) << n;
      }
    }
  }
}

}  // namespace
}  // namespace lijit::tests
