// SPDX-License-Identifier: Apache-2.0
// Lengths, bounds and tails at their borders.
#include <climits>

#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

class EdgeCases : public IndexerTest {};

constexpr const char* kFormats[] = {"fp8_e4m3", "mxfp4"};
const std::vector<int> kLengths = {0, 1, 63, 64, 65, 127, 129, 300};

TEST_F(EdgeCases, ContextLengthsAndRowsARequest) {
  for (const char* format : kFormats) {
    TestCache cache(TestIndexer::Of(Small(format)), {.lengths = kLengths});
    for (int next_n = 1; next_n <= 8; ++next_n) PagedCase(cache, {.next_n = next_n}).Check();
    GatherCase(cache).Check();
  }
}

TEST_F(EdgeCases, NoTokensAtAll) {
  for (const char* format : kFormats) {
    TestIndexer& indexer = TestIndexer::Of(Small(format));
    QueryCase(indexer, {.tokens = 0}).Check();
    WriteCase(indexer, {.slots = {}}).Check();
    TestCache cache(indexer, {.lengths = {}});
    GatherCase(cache).Check();
    PagedCase(cache, {.scoring = {.width = 100}}).Check();
    RaggedCase(indexer, {.starts = {}, .ends = {}}).Check();
    RaggedCase(indexer, {.keys = 0, .scoring = {.width = 0}}).Check();
    RaggedCase(indexer, {.keys = 0, .scoring = {.width = 5}}).Check();
    TopKCase(indexer, {.logits = {}, .columns = 7, .ends = {}}).Check();
    TopKCase(indexer, {.logits = {}, .columns = 0, .ends = {0, 5, -1}}).Check();
  }
}

TEST_F(EdgeCases, AnEmptyPool) {
  TestIndexer& indexer = TestIndexer::Of(Small("mxfp4"));
  TestCache cache(indexer, {.lengths = {65}});
  PagedCase paged(cache);
  paged.arguments.pool.page_count = 0;
  EXPECT_TRUE(indexer->LogitsPaged(paged.arguments).ok());
  EXPECT_EQ(paged.Output(), std::vector<float>(65, -kInfinity));
}

TEST_F(EdgeCases, BoundsOfRaggedRows) {
  for (const char* format : kFormats) {
    RaggedCase(TestIndexer::Of(Small(format)),
               {.keys = 150,
                .starts = {0, -5, 10, 0, 140, 64, 149, 150, INT_MIN, INT_MAX, 0, 128},
                .ends = {150, 10, 5, 1000, 150, 64, 150, 151, INT_MAX, INT_MIN, INT_MIN, 129},
                .scoring = {.width = 400}})
        .Check();
  }
}

TEST_F(EdgeCases, ATailThatIsKept) {
  for (const char* format : kFormats) {
    TestIndexer& indexer = TestIndexer::Of(Small(format));
    const ScoringOptions keep = {.width = 300, .out_stride = 333, .tail = Tail::kKeep};
    RaggedCase(indexer, {.starts = {3, 0, 9}, .ends = {64, 0, 4}, .scoring = keep}).Check();
    TestCache cache(indexer, {.lengths = kLengths});
    PagedCase(cache, {.next_n = 2, .scoring = keep}).Check();
  }
}

// Columns that nobody asked for are neither computed nor written.
TEST_F(EdgeCases, WidthsBelowAndAboveTheContext) {
  TestCache cache(TestIndexer::Of(Small("mxfp4")), {.lengths = {300, 100}});
  for (const std::int64_t width : {0, 1, 64, 127, 128, 129, 299, 300, 301, 513}) {
    PagedCase(cache, {.scoring = {.width = width, .out_stride = width + 3}}).Check();
  }
}

TEST_F(EdgeCases, EachRowHasItsOwnLength) {
  for (const char* format : kFormats) {
    TestCache cache(TestIndexer::Of(Small(format)), {.lengths = {300, 300}});
    PagedCase(cache, {.next_n = 2, .row_lengths = {300, 10, -7, 129}}).Check();
  }
}

// One entry for four tokens, as in V4: the row at position p sees (p + 1) / 4 of them.
TEST_F(EdgeCases, CompressedCaches) {
  TestCache cache(TestIndexer::Of(Small("mxfp4")), {.lengths = {70, 70, 70, 70}});
  for (const int next_n : {1, 2, 5}) {
    PagedCase(cache, {.next_n = next_n, .lengths = {3, 4, 257, 280}, .ratio = 4}).Check();
  }
}

TEST_F(EdgeCases, PageIdsThatAreNone) {
  for (const char* format : kFormats) {
    TestCache cache(TestIndexer::Of(Small(format)), {.lengths = {300, 300, 65}, .page_count = 12});
    for (const std::int32_t id : {-1, 12, INT_MAX, INT_MIN}) {
      cache.Entry(0, 1) = id;
      cache.Entry(1, 4) = id;
      PagedCase(cache, {.next_n = 3}).Check();
      GatherCase(cache).Check();
    }
  }
}

// Padding holds anything; the last row of the table ends where its memory ends.
TEST_F(EdgeCases, TablesLongerAndShorterThanTheContext) {
  TestCache longer(TestIndexer::Of(Small("mxfp4")), {.lengths = {64, 65}, .table_width = 5});
  longer.Entry(0, 1) = INT_MAX;
  longer.Entry(1, 2) = INT_MIN;
  PagedCase(longer).Check();
  GatherCase(longer).Check();
  TestCache shorter(TestIndexer::Of(Small("mxfp4")), {.lengths = {128, 128}});
  PagedCase(shorter, {.lengths = {1000, 129}, .scoring = {.width = 400}}).Check();
  GatherCase(shorter, {.cu_seq_lens = {0, 300, 500}}).Check();
}

TEST_F(EdgeCases, GatherOfManyRequests) {
  std::vector<int> lengths;
  for (int b = 0; b < 100; ++b) lengths.push_back(b % 7 == 3 ? 70 : b % 3);
  TestCache cache(TestIndexer::Of(Small("fp8_e4m3")), {.lengths = lengths});
  GatherCase(cache).Check();
  GatherCase(cache, {.rows = 100}).Check();   // the outputs hold fewer
  GatherCase(cache, {.rows = 2000}).Check();  // and more
}

TEST_F(EdgeCases, SlotsThatAreNone) {
  for (const char* format : kFormats) {
    const std::vector<std::int64_t> slots = {-1,        5,  255, 256, 0,  LLONG_MIN,
                                             LLONG_MAX, 64, 127, -64, 191};
    WriteCase(TestIndexer::Of(Small(format)), {.slots = slots}).Check();
  }
}

}  // namespace
}  // namespace lijit::tests
