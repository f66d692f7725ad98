// SPDX-License-Identifier: Apache-2.0
// Reported faults of scores, masks, NaN and selection.
#include <cmath>

#include "tests/emulated/reported_faults.h"

namespace lijit::tests {
namespace {

TestIndexer& Any() { return TestIndexer::Of(Small("fp8_e4m3")); }

// What stood behind a row won.
TEST_F(ReportedFaults, B44_StaleTails) {
  std::vector<float> logits = RandomRows(3, 400, 1);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (i % 400 >= 100 * (1 + i / 400)) logits[i] = 1e30f;
  }
  TopKCase top_k(Any(), {.logits = logits, .columns = 400, .k = 150, .ends = {100, 200, 300}});
  top_k.Check();
  for (std::size_t i = 0; i < top_k.got.size(); ++i) {
    EXPECT_TRUE(top_k.got[i] < 0 || logits[i / 150 * 400 + Size(top_k.got[i])] < 1e30f) << i;
  }
}

// Memory that nobody had set was multiplied by zero.
TEST_F(ReportedFaults, B45_OutputsFullOfNan) {
  for (const char* format : kFormats) {
    TestCache cache(TestIndexer::Of(Small(format)), {.lengths = {129, 0}});
    PagedCase paged(cache);
    const auto bytes = Size(paged.arguments.out.elements() * 4);
    ASSERT_TRUE(Any().device().Fill(paged.arguments.out.data, 0xff, bytes).ok());
    paged.Check();
    for (const float logit : paged.got()) EXPECT_FALSE(std::isnan(logit));
  }
}

// Buckets of half precision, and rows longer than they were made for.
TEST_F(ReportedFaults, B47_ScoresBeyondHalfPrecision) {
  std::vector<float> logits(262'209);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = -1e5f - static_cast<float>(i * 7919 % 262'209) / 64;
    if (i % 5 == 0) logits[i] = -kInfinity;
  }
  TopKCase(Any(), {.logits = logits, .k = 2048}).Check();
}

// A radix pass too few.
TEST_F(ReportedFaults, B49_ScoresThatDifferInTheLowBits) {
  std::vector<float> logits(3000);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = 1 + static_cast<float>(i * 977 % 3000) * 0x1p-23f;
  }
  TopKCase(Any(), {.logits = logits, .k = 64}).Check();
}

// As many rows as a prefill of 32K has.
TEST_F(ReportedFaults, B50_ManyRows) {
  TopKCase(Any(), {.logits = RandomRows(32'768, 3, 1), .columns = 3, .k = 4}).Check();
}

// Sizes that were taken for one another.
TEST_F(ReportedFaults, B51_RowsColumnsAndCountsThatDiffer) {
  TopKCase(Any(), {.logits = RandomRows(3, 33'000, 1), .columns = 33'000, .k = 5}).Check();
}

// Masked columns went through a ReLU.
TEST_F(ReportedFaults, B54_MaskedColumnsStayMinusInfinity) {
  for (const char* format : kFormats) {
    TestCache cache(TestIndexer::Of(Small(format)), {.lengths = {10}});
    PagedCase paged(cache, {.scoring = {.width = 64}});
    paged.Check();
    for (std::size_t n = 10; n < 64; ++n) EXPECT_EQ(paged.got()[n], -kInfinity);
  }
}

// Scores of half precision: all of these were infinite.
TEST_F(ReportedFaults, B55_ScoresBeyondHalfPrecisionAreNumbers) {
  const std::vector<float> large(8 * 128, 448);
  RaggedCase ragged(Any(), {.keys = 1,
                            .starts = {0},
                            .ends = {1},
                            .k = std::vector<float>(128, 448),
                            .scoring = {.q = large, .w = std::vector<float>(8, 1e3f)}});
  ragged.Check();
  EXPECT_EQ(ragged.got()[0], 8 * 1e3f * (448.f * 448.f * 128.f));
}

}  // namespace
}  // namespace lijit::tests
