// SPDX-License-Identifier: Apache-2.0
// Reported faults of the cache's layout.
#include "tests/emulated/reported_faults.h"

namespace lijit::tests {
namespace {

bool IsPoison(std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) {
    if (byte != kPoison) return false;
  }
  return true;
}

// "Rows of 132 bytes": a page is planar, all values before all scales.
TEST_F(ReportedFaults, B35_PagesArePlanar) {
  WriteCase c(TestIndexer::Of(Small("fp8_e4m3")), {.slots = {1}});
  c.Check();
  const auto page = c.Page(0);
  EXPECT_TRUE(IsPoison(page.first(128)));
  EXPECT_FALSE(IsPoison(page.subspan(128, 4)));
  EXPECT_TRUE(IsPoison(page.subspan(256, 64 * 128 - 256 + 4)));
  EXPECT_FALSE(IsPoison(page.subspan(64 * 128 + 4, 4)));
  EXPECT_TRUE(IsPoison(page.subspan(64 * 128 + 8)));
}

// Every layer's view of a slab began at the first layer.
TEST_F(ReportedFaults, B36_LayersInOneSlab) {
  for (const char* format : kFormats) {
    TestIndexer& indexer = TestIndexer::Of(Small(format));
    const std::int64_t bytes = indexer->page_bytes(), pages = 8;
    const auto slab = std::make_shared<Slab>(indexer.device(), pages * 3 * bytes);
    std::vector<std::unique_ptr<TestCache>> layers;
    for (std::int64_t layer = 0; layer < 3; ++layer) {
      layers.push_back(std::make_unique<TestCache>(
          indexer, CacheOptions{.lengths = {300, 65},
                                .page_stride = 3 * bytes,
                                .page_count = pages,
                                .slab = slab,
                                .slab_offset = layer * bytes,
                                .seed = static_cast<std::uint64_t>(layer)}));
    }
    std::vector<std::vector<float>> logits;
    for (const auto& layer : layers) {
      PagedCase paged(*layer);
      paged.Check();
      GatherCase(*layer).Check();
      logits.push_back(paged.got());
    }
    EXPECT_FALSE(SameBits(logits[0], logits[1]) || SameBits(logits[0], logits[2]));
  }
}

// The stride of 256 tokens where a page holds their 64 compressed rows.
TEST_F(ReportedFaults, B37_PagesOfCompressedRows) {
  TestIndexer& indexer = TestIndexer::Of(Small("mxfp4"));
  EXPECT_EQ(indexer->page_bytes(), 4352);
  TestCache cache(indexer, {.lengths = {130}});
  PagedCase(cache, {.lengths = {4 * 130}, .ratio = 4}).Check();
}

// A page is moved as a whole, by its id.
TEST_F(ReportedFaults, B38_PagesThatMove) {
  for (const char* format : kFormats) {
    // All of each page has keys, so all of it may be copied.
    TestCache cache(TestIndexer::Of(Small(format)),
                    {.lengths = {192}, .page_count = 12, .pages = {1, 3, 5}});
    PagedCase before(cache);
    before.Check();
    cache.MovePage(3, 9);
    cache.Entry(0, 1) = 9;
    PagedCase after(cache);
    after.Check();
    EXPECT_TRUE(SameBits(after.got(), before.got()));
  }
}

// Bytes a token, which capacity follows from.
TEST_F(ReportedFaults, B39_BytesAreExact) {
  TestIndexer& fp8 = TestIndexer::Of(Small("fp8_e4m3"));
  TestIndexer& fp4 = TestIndexer::Of(Small("mxfp4"));
  EXPECT_EQ(fp8.row().total(), 132);
  EXPECT_EQ(fp4.row().total(), 68);
  EXPECT_EQ(fp8->page_bytes(), 64 * 132);
  EXPECT_EQ(fp4->page_bytes(), 64 * 68);
}

// Scores of a long prefill do not fit memory at once: tiles of them are the same bits.
TEST_F(ReportedFaults, B40_TilesOfScores) {
  TestIndexer& indexer = TestIndexer::Of(Small("mxfp4"));
  RaggedCase whole(indexer, {.keys = 300, .starts = {0, 17}, .ends = {290, 300}});
  whole.Check();
  TestMemory memory(indexer.device());
  for (std::int32_t first = 0; first < 300; first += 100) {
    LogitsRaggedArguments a = whole.arguments;
    a.k_values = TailOf(a.k_values, 300 - first);
    a.k_scales = TailOf(a.k_scales, 300 - first);
    a.k_values.shape[0] = a.k_scales.shape[0] = 100;
    a.starts = memory.Put(std::vector<std::int32_t>{0 - first, 17 - first}, {2});
    a.ends = memory.Put(std::vector<std::int32_t>{290 - first, 300 - first}, {2});
    a.out = memory.Poisoned(DType::kF32, {2, 100});
    ASSERT_TRUE(indexer->LogitsRagged(a).ok());
    const std::vector<float> tile = memory.Read<float>(a.out);
    for (std::size_t row = 0; row < 2; ++row) {
      EXPECT_TRUE(SameBits(std::span(tile).subspan(row * 100, 100),
                           std::span(whole.got()).subspan(row * 300 + Size(first), 100)));
    }
  }
}

// Blocks of 33,792 bytes straddle the pages of the system.
TEST_F(ReportedFaults, B41_StridesThatAreNoPowersOfTwo) {
  TestIndexer& indexer = TestIndexer::Of(Small("fp8_e4m3"));
  TestCache cache(indexer, {.lengths = {300}, .page_stride = 33'792, .page_count = 70});
  PagedCase(cache).Check();
  GatherCase(cache).Check();
  WriteCase(indexer, {.slots = {62 * 64, 69 * 64 + 63}, .page_count = 70, .page_stride = 33'792})
      .Check();
}

// Written as FP8 and read as FP4.
TEST_F(ReportedFaults, B42_PoolsOfAnotherFormat) {
  TestCache fp8(TestIndexer::Of(Small("fp8_e4m3")), {});
  TestCache fp4(TestIndexer::Of(Small("mxfp4")), {});
  PagedCase paged(fp4);
  paged.arguments.pool = fp8.pool();
  const Status status = fp4.indexer()->LogitsPaged(paged.arguments);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("fp8_e4m3"), std::string::npos);
  EXPECT_NE(status.error().message.find("mxfp4"), std::string::npos);
}

}  // namespace
}  // namespace lijit::tests
