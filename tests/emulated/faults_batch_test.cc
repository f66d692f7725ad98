// SPDX-License-Identifier: Apache-2.0
// Reported faults of batches, several rows a request, and prefill in chunks.
#include "tests/emulated/reported_faults.h"

namespace lijit::tests {
namespace {

// Shared memory that grows with the batch.
TEST_F(ReportedFaults, B20_LargeBatches) {
  std::vector<int> lengths(8192);
  for (std::size_t b = 0; b < lengths.size(); ++b) lengths[b] = static_cast<int>(b % 3);
  TestCache cache(TestIndexer::Of(Small("mxfp4", 8, 32, 16)), {.lengths = lengths});
  PagedCase(cache).Check();
}

// context_lens[B, k][:, :n] is a view.
TEST_F(ReportedFaults, B22_LengthsThatAreAView) {
  TestCache cache(TestIndexer::Of(Small("fp8_e4m3")), {.lengths = {130, 200}});
  PagedCase(cache,
            {.next_n = 3, .row_lengths = {128, 129, 130, 3, 2, 200}, .length_strides = {8, 1}})
      .Check();
}

// Only the last length of a request was obeyed.
TEST_F(ReportedFaults, B23_LengthsThatFallWithinARequest) {
  TestCache cache(TestIndexer::Of(Small("mxfp4")), {.lengths = {300}});
  PagedCase(cache, {.next_n = 2, .row_lengths = {300, 10}}).Check();
}

// What was prepared for 256 keys was used for 257.
TEST_F(ReportedFaults, B24_AContextThatGrewSinceTheLastLaunch) {
  TestCache cache(TestIndexer::Of(Small("mxfp4")), {.lengths = {257}});
  for (const std::int32_t length : {256, 257}) {
    PagedCase(cache, {.lengths = {length}, .scoring = {.width = 260}}).Check();
  }
}

// Rows that pad a batch have no metadata.
TEST_F(ReportedFaults, B25_PaddedBatches) {
  std::vector<int> lengths(112, 0);
  std::fill_n(lengths.begin(), 100, 65);
  TestCache cache(TestIndexer::Of(Small("fp8_e4m3", 8, 32)), {.lengths = lengths});
  PagedCase paged(cache, {.next_n = 2, .scoring = {.width = 70, .out_stride = 96}});
  paged.Check();
  for (std::size_t i = Size(2 * 100 * 70); i < paged.got().size(); ++i) {
    ASSERT_EQ(paged.got()[i], -kInfinity);
  }
}

// Each draft row's window was advanced by its shard's positions, not by all.
TEST_F(ReportedFaults, B26_ShardsOfAContext) {
  constexpr int kLength = 131, kNextN = 3;
  TestIndexer& indexer = TestIndexer::Of(Small("mxfp4"));
  const std::vector<float> keys = RandomRows(kLength, 128, 9);
  TestCache whole_cache(indexer, {.lengths = {kLength}, .keys = keys});
  PagedCase whole(whole_cache, {.next_n = kNextN});
  whole.Check();
  for (const int world : {2, 4}) {
    for (int rank = 0; rank < world; ++rank) {
      std::vector<float> own;
      for (int n = rank; n < kLength; n += world) {
        own.insert(own.end(), keys.begin() + n * 128, keys.begin() + (n + 1) * 128);
      }
      std::vector<std::int32_t> visible;
      for (int j = 0; j < kNextN; ++j) {
        visible.push_back((kLength - kNextN + j + 1 - rank + world - 1) / world);
      }
      TestCache cache(indexer, {.lengths = {static_cast<int>(own.size() / 128)}, .keys = own});
      PagedCase shard(cache, {.next_n = kNextN, .row_lengths = visible});
      shard.Check();
      const std::size_t width = shard.got().size() / kNextN;
      for (std::size_t j = 0; j < kNextN; ++j) {
        for (std::size_t i = 0; i < width; ++i) {
          const std::size_t n = i * Size(world) + Size(rank);
          const float wanted = n < kLength ? whole.got()[j * kLength + n] : -kInfinity;
          ASSERT_EQ(shard.got()[j * width + i], wanted) << world << " " << rank << " " << n;
        }
      }
    }
  }
}

// A chunk behind 4096 cached tokens of a cache with one entry for 4 sees 1152 entries, not 128.
TEST_F(ReportedFaults, B27_ChunksSeeWhatCameBefore) {
  TestCache cache(TestIndexer::Of(Small("mxfp4")), {.lengths = {1152}});
  PagedCase paged(cache, {.next_n = 2, .lengths = {4096 + 512}, .ratio = 4});
  paged.Check();
  EXPECT_EQ(paged.got().size(), 2u * 1152);
  EXPECT_GT(paged.got().back(), -kInfinity);
  EXPECT_EQ(paged.got()[1151], -kInfinity);  // the row before sees 4607 / 4
}

// Later chunks of queries were scored with the first chunk's weights.
TEST_F(ReportedFaults, B29_ChunksOfQueries) {
  constexpr int kRows = 13, kChunk = 4;
  std::vector<float> w = RandomRows(kRows, 8, 3);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = (i / 8) % 2 == 0 ? w[i] : -w[i];
  TestIndexer& indexer = TestIndexer::Of(Small("fp8_e4m3"));
  RaggedCase whole(indexer, {.starts = std::vector<std::int32_t>(kRows, 0),
                             .ends = std::vector<std::int32_t>(kRows, 65),
                             .scoring = {.w = w}});
  whole.Check();
  TestMemory memory(indexer.device());
  const Tensor out = memory.Poisoned(DType::kF32, {kRows, 65});
  for (std::int64_t first = 0; first < kRows; first += kChunk) {
    const auto part = [&](Tensor tensor) {
      tensor = TailOf(tensor, kRows - first);
      tensor.shape[0] = std::min<std::int64_t>(kChunk, kRows - first);
      return tensor;
    };
    LogitsRaggedArguments a = whole.arguments;
    a.q_values = part(a.q_values);
    a.weights = part(a.weights);
    a.starts = part(a.starts);
    a.ends = part(a.ends);
    a.out = part(out);
    ASSERT_TRUE(indexer->LogitsRagged(a).ok());
  }
  EXPECT_TRUE(SameBits(memory.Read<float>(out), whole.got()));
}

// Columns of a window taken for columns of the whole.
TEST_F(ReportedFaults, B30_SelectionsOfRaggedRows) {
  const std::vector<std::int32_t> starts = {0, 100, 100}, ends = {50, 180, 260};
  TestIndexer& indexer = TestIndexer::Of(Small("mxfp4"));
  RaggedCase ragged(indexer, {.keys = 260, .starts = starts, .ends = ends});
  ragged.Check();
  TopKCase top_k(indexer,
                 {.logits = ragged.got(), .columns = 260, .k = 20, .starts = starts, .ends = ends});
  top_k.Check();
  for (std::size_t i = 0; i < top_k.got.size(); ++i) {
    const std::size_t row = i / 20;
    const std::int32_t column = top_k.got[i] + starts[row];
    EXPECT_GE(column, starts[row]);
    EXPECT_LT(column, ends[row]);
    EXPECT_GT(ragged.got()[row * 260 + Size(column)], -kInfinity);
  }
}

// Keys that did not fit the workspace were scored all the same.
TEST_F(ReportedFaults, B31_AWorkspaceThatIsTooSmall) {
  TestIndexer& indexer = TestIndexer::Of(Small("fp8_e4m3"));
  TestCache cache(indexer, {.lengths = {300, 100}});
  GatherCase gather(cache, {.rows = 100});
  gather.Check();
  RaggedCase(
      indexer,
      {.keys = 100, .starts = {0, 50, 300}, .ends = {400, 400, 400}, .scoring = {.width = 400}})
      .Check();
}

// An unsigned difference of a length and next_n.
TEST_F(ReportedFaults, B32_ContextShorterThanNextN) {
  for (const char* format : kFormats) {
    TestCache cache(TestIndexer::Of(Small(format)), {.lengths = {0, 1, 3}});
    for (int next_n = 2; next_n <= 4; ++next_n) {
      PagedCase(cache, {.next_n = next_n, .scoring = {.width = 130}}).Check();
    }
  }
}

// An unsigned difference of a row's bounds.
TEST_F(ReportedFaults, B33_StartsBehindEnds) {
  RaggedCase ragged(TestIndexer::Of(Small("mxfp4")), {.starts = {10}, .ends = {5}});
  ragged.Check();
  EXPECT_EQ(ragged.got(), std::vector<float>(65, -kInfinity));
}

}  // namespace
}  // namespace lijit::tests
