// SPDX-License-Identifier: Apache-2.0
// Tensors that are views of larger ones, padded pages, layers in one slab, and offsets beyond 2^31,
// 2^32 and 2^33. What lies between rows is uninitialized, so reading it is a finding.
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

class Strides : public IndexerTest {};

constexpr const char* kFormats[] = {"fp8_e4m3", "mxfp4"};
constexpr std::int64_t kHuge = std::int64_t{1} << 31;  // elements: past every 32-bit offset

TEST_F(Strides, OfQueries) {
  for (const char* format : kFormats) {
    TestIndexer& indexer = TestIndexer::Of(Small(format));
    QueryCase(indexer, {.token_stride = 8 * 200, .head_stride = 200, .weight_stride = 11}).Check();
    QueryCase(indexer, {.token_stride = 129, .head_stride = 3 * 129}).Check();  // [H, T, D]
    QueryCase(indexer, {.token_stride = kHuge, .weight_stride = kHuge}).Check();
    QueryCase(indexer, {.tokens = 1, .head_stride = kHuge / 3}).Check();
  }
}

TEST_F(Strides, OfKeys) {
  for (const char* format : kFormats) {
    TestIndexer& indexer = TestIndexer::Of(Small(format));
    WriteCase(indexer, {.slots = {1, 2, 70}, .token_stride = 577}).Check();
    WriteCase(indexer, {.slots = {1, 2, 70}, .token_stride = kHuge}).Check();
  }
}

TEST_F(Strides, OfScores) {
  for (const char* format : kFormats) {
    TestIndexer& indexer = TestIndexer::Of(Small(format));
    const ScoringOptions wide = {.width = 200, .out_stride = 1000, .weight_stride = 13};
    const ScoringOptions huge = {.width = 200, .out_stride = kHuge, .weight_stride = kHuge};
    TestCache cache(indexer, {.lengths = {129, 65}, .table_stride = 7});
    TestCache far(indexer, {.lengths = {129, 65, 7}, .table_stride = kHuge});
    PagedCase(cache, {.next_n = 2, .scoring = wide}).Check();
    PagedCase(far, {.scoring = huge}).Check();
    GatherCase(cache).Check();
    GatherCase(far).Check();
    RaggedCase(indexer, {.scoring = wide}).Check();
    RaggedCase(indexer, {.starts = {0, 0, 5}, .ends = {9, 65, 60}, .scoring = huge}).Check();
  }
}

// Views like context_lens[B, k][:, :n], its transpose, and columns of a table.
TEST_F(Strides, OfLengths) {
  TestCache cache(TestIndexer::Of(Small("mxfp4")), {.lengths = {129, 300}});
  const std::vector<std::int32_t> rows = {100, 129, 7, 300};
  PagedCase(cache, {.next_n = 2, .row_lengths = rows, .length_strides = {5, 1}}).Check();
  PagedCase(cache, {.next_n = 2, .row_lengths = rows, .length_strides = {1, 2}}).Check();
  PagedCase(cache, {.next_n = 2, .row_lengths = rows, .length_strides = {kHuge, 3}}).Check();
  PagedCase(cache, {.next_n = 2, .length_strides = {9}}).Check();
}

TEST_F(Strides, OfSelections) {
  TestIndexer& indexer = TestIndexer::Of(Small("fp8_e4m3"));
  for (const std::int64_t stride : {std::int64_t{301}, kHuge}) {
    TopKCase(indexer, {.logits = RandomRows(3, 300, 1),
                       .columns = 300,
                       .k = 9,
                       .logits_stride = stride,
                       .indices_stride = stride})
        .Check();
  }
}

// Engines pad pages, or lay the layers of a model side by side in them.
TEST_F(Strides, OfPages) {
  const std::pair<const char*, std::int64_t> padded[] = {
      {"fp8_e4m3", 8640}, {"mxfp4", 4608}, {"fp8_e4m3", 4 * 8448}, {"mxfp4", 1'002'240}};
  for (const auto& [format, stride] : padded) {
    TestIndexer& indexer = TestIndexer::Of(Small(format));
    TestCache cache(indexer, {.lengths = {129, 65}, .page_stride = stride});
    GatherCase(cache).Check();
    PagedCase(cache).Check();
    WriteCase(indexer, {.slots = {0, 64, 65, 255}, .page_stride = stride}).Check();
  }
}

TEST_F(Strides, OfPagesBeyondThirtyTwoBits) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  for (const char* format : kFormats) {
    TestIndexer& indexer = TestIndexer::Of(Small(format));
    // Page 2 begins at 2^31, page 4 at 2^32 and page 8 at 2^33.
    TestCache cache(indexer, {.lengths = {300, 65},
                              .page_stride = kGiB,
                              .page_count = 10,
                              .pages = {8, 2, 4, 0, 3, 9, 1}});
    PagedCase(cache, {.next_n = 2}).Check();
    GatherCase(cache).Check();
    WriteCase(indexer, {.slots = {3, 2 * 64, 4 * 64 + 5, 8 * 64 + 63, 9 * 64 + 1, 10 * 64},
                        .page_count = 10,
                        .page_stride = kGiB})
        .Check();
  }
}

}  // namespace
}  // namespace lijit::tests
