// SPDX-License-Identifier: Apache-2.0
// Reported faults of address arithmetic and bounds.
#include <climits>

#include "tests/emulated/reported_faults.h"

namespace lijit::tests {
namespace {

constexpr std::int64_t kLayeredStride = 1'039'680;

// A 32-bit product of page and stride.
TEST_F(ReportedFaults, B2_PagesBeyondTwoGiB) {
  for (const char* format : kFormats) {
    TestCache cache(TestIndexer::Of(Small(format)), {.lengths = {129, 70},
                                                     .page_stride = kLayeredStride,
                                                     .page_count = 2070,
                                                     .pages = {2066, 5, 2069, 2068, 0}});
    PagedCase(cache).Check();
    GatherCase(cache).Check();
  }
}

// The same where a 32-bit product wraps twice.
TEST_F(ReportedFaults, B3_PagesBeyondFourGiB) {
  for (const char* format : kFormats) {
    TestCache cache(TestIndexer::Of(Small(format)), {.lengths = {129, 70},
                                                     .page_stride = 1'435'968,
                                                     .page_count = 4565,
                                                     .pages = {1496, 2991, 4564, 2990, 1}});
    PagedCase(cache).Check();
    GatherCase(cache).Check();
  }
}

// The same in the writer.
TEST_F(ReportedFaults, B4_SlotsBeyondTwoGiB) {
  for (const char* format : kFormats) {
    WriteCase(TestIndexer::Of(Small(format)),
              {.slots = {2066 * 64, 4200 * 64 + 63, 4130 * 64 + 1, 64},
               .page_count = 4201,
               .page_stride = kLayeredStride})
        .Check();
  }
}

// Columns behind a row of the block table belong to the next request.
TEST_F(ReportedFaults, B8_TheNextRowOfTheBlockTable) {
  for (const int page : {16, 64}) {
    TestCache cache(TestIndexer::Of(Small("mxfp4", 8, 128, page)), {.lengths = {2 * page, page}});
    PagedCase(cache, {.lengths = {5 * page, page + 1}}).Check();
    GatherCase(cache, {.cu_seq_lens = {0, 5 * page, 7 * page}}).Check();
  }
}

// Strides of row and column exchanged, which small batches do not show.
TEST_F(ReportedFaults, B10_BatchAboveSixtyFour) {
  TestCache cache(TestIndexer::Of(Small("mxfp4", 8, 32)), {.lengths = std::vector<int>(96, 66)});
  PagedCase(cache, {.scoring = {.width = 70, .out_stride = 163840, .weight_stride = 9}}).Check();
}

// Page ids that are none: read as the last page of the cache, or page 0.
TEST_F(ReportedFaults, B11_PageIdsThatAreNone) {
  TestCache cache(TestIndexer::Of(Small("mxfp4")),
                  {.lengths = {200, 10}, .page_count = 7, .table_width = 6});
  cache.Entry(0, 0) = -1;
  cache.Entry(0, 2) = 7;
  cache.Entry(0, 5) = INT_MAX;  // padding
  PagedCase paged(cache);
  paged.Check();
  for (const std::size_t n : {0u, 63u, 128u, 191u}) EXPECT_EQ(paged.got()[n], -kInfinity);
  GatherCase(cache).Check();
}

// A token's position taken for a column of the page table.
TEST_F(ReportedFaults, B12_LongContextsInShuffledPages) {
  for (const int page : {64, 256}) {
    TestCache cache(TestIndexer::Of(Small("fp8_e4m3", 8, 128, page)), {.lengths = {6000}});
    PagedCase paged(cache);
    paged.Check();
    TopKCase(cache.indexer(), {.logits = paged.got(), .k = 2048}).Check();
  }
}

// Vector accesses that drop the low bits of an address.
TEST_F(ReportedFaults, B13_StridesThatAreNotMultiplesOfSixteen) {
  IndexerConfig config = Small("fp8_e4m3", 8, 128, 16);
  config.schedule = "simt";  // the others read 16 bytes at a time, and refuse such a stride
  TestIndexer& indexer = TestIndexer::Of(config);
  TestCache cache(indexer, {.lengths = {40, 3}, .page_stride = 16 * 132 + 4});
  GatherCase(cache).Check();
  PagedCase(cache).Check();
  WriteCase(indexer, {.slots = {1, 17, 63}, .page_stride = 16 * 132 + 4}).Check();
}

// A store to a sentinel offset in the place of no store. The output ends with its memory.
TEST_F(ReportedFaults, B14_NothingIsWrittenForMaskedRows) {
  TestCache cache(TestIndexer::Of(Small("mxfp4")), {.lengths = {0, 1, 2}});
  PagedCase(cache, {.next_n = 4, .scoring = {.width = 130, .tail = Tail::kKeep}}).Check();
}

// A context that is longer than the caller thought.
TEST_F(ReportedFaults, B15_WidthBelowTheContext) {
  TestCache cache(TestIndexer::Of(Small("fp8_e4m3")), {.lengths = {100, 300}});
  PagedCase(cache, {.scoring = {.width = 256, .out_stride = 260}}).Check();
}

// A grid dimension above 65,535.
TEST_F(ReportedFaults, B16_ManyRowsTimesHeads) {
  const std::size_t rows = 1100;
  RaggedCase(TestIndexer::Of(Small("mxfp4", 64, 32)), {.keys = 1,
                                                       .starts = std::vector<std::int32_t>(rows, 0),
                                                       .ends = std::vector<std::int32_t>(rows, 1)})
      .Check();
}

}  // namespace
}  // namespace lijit::tests
