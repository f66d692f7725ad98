// SPDX-License-Identifier: Apache-2.0
// Row, key and block numbers whose offsets pass 2^31 and 2^32. Only the blocks that compute the
// last rows run; what the others would read and write is never mapped.
#include "tests/support/indexer_fixture.h"
#include "tests/support/some_blocks_device.h"

namespace lijit::tests {
namespace {

class LargeGrids : public IndexerTest {
 protected:
  LargeGrids()
      : device_(std::make_shared<SomeBlocksDevice>("sm_86")),
        runtime_(
            std::make_shared<Runtime>(device_, std::make_shared<cache::Store>(TestCacheConfig()))),
        memory_(*device_) {}

  TestIndexer Make(const IndexerConfig& config) { return {runtime_, config}; }

  // An uninitialized tensor that begins with `rows` and ends as `small` does.
  Tensor EndingAs(const Tensor& small, std::int64_t rows, std::int64_t row_stride = 0) {
    Sizes shape(small.shape.begin(), small.shape.begin() + small.rank);
    shape[0] = rows;
    const Tensor large = memory_.Raw(small.dtype, shape, row_stride);
    const auto count = small.shape[0];
    std::vector<std::byte> bytes(Size(small.elements() * DTypeBytes(small.dtype)));
    EXPECT_TRUE(device_->CopyToHost(bytes.data(), small.data, bytes.size()).ok());
    memory_.WriteBytes(TailOf(large, count), bytes);
    return large;
  }

  std::shared_ptr<SomeBlocksDevice> device_;
  std::shared_ptr<Runtime> runtime_;
  TestMemory memory_;
};

void ExpectOk(const Status& status) { EXPECT_TRUE(status.ok()) << status.error().message; }

constexpr const char* kFormats[] = {"fp8_e4m3", "mxfp4"};
constexpr std::int64_t kMany = (std::int64_t{1} << 26) + 1;

TEST_F(LargeGrids, B17_QueryRows) {
  for (const char* format : kFormats) {
    TestIndexer indexer = Make(Small(format));
    QueryCase last(indexer, {.tokens = 1});
    QuantizeQueryArguments a = last.arguments;
    a.q = EndingAs(a.q, kMany / 8);
    a.w = EndingAs(a.w, kMany / 8);
    a.values = EndingAs(a.values, kMany / 8);
    if (IsGiven(a.scales)) a.scales = EndingAs(a.scales, kMany / 8);
    a.weights = EndingAs(a.weights, kMany / 8);
    device_->RunLast(2);  // four heads each
    ExpectOk(indexer->QuantizeQuery(a));
    EXPECT_TRUE(
        SameBytes(memory_.Read<std::uint8_t>(TailOf(a.values, 1)), last.expected.rows.values));
    EXPECT_TRUE(SameBits(memory_.Read<float>(TailOf(a.weights, 1)), last.expected.weights));
  }
}

TEST_F(LargeGrids, KeysToWrite) {
  for (const char* format : kFormats) {
    TestIndexer indexer = Make(Small(format));
    WriteCase last(indexer, {.slots = {70}});
    last.arguments.k = EndingAs(last.arguments.k, kMany);
    last.arguments.slots = EndingAs(last.arguments.slots, kMany);
    last.Check();
  }
}

TEST_F(LargeGrids, KeysToGather) {
  for (const char* format : kFormats) {
    TestIndexer indexer = Make(Small(format));
    TestCache cache(indexer, {.lengths = {1}});
    GatherCase last(cache);
    GatherCacheArguments a = last.arguments;
    const Tensor table = memory_.Raw(DType::kI32, {1, kMany / 64 + 1});
    memory_.Write(TailOf(ViewOf(table.data, DType::kI32, {kMany / 64 + 1}), 1),
                  std::vector<std::int32_t>{cache.Entry(0, 0)});
    a.block_table = table;
    a.cu_seq_lens = memory_.Put(std::vector<std::int32_t>{0, static_cast<int>(kMany)}, {2});
    a.values = EndingAs(a.values, kMany);
    if (IsGiven(a.scales)) a.scales = EndingAs(a.scales, kMany);
    ExpectOk(indexer->GatherCache(a));
    const ir::EvaluatedRows expected = ir::EvaluateGatherCache(
        indexer.Module(ir::KernelKind::kGatherCache), indexer.Kernel(ir::KernelKind::kGatherCache),
        cache.pages(), cache.table(), std::vector<std::int32_t>{0, 1});
    EXPECT_TRUE(SameBytes(memory_.Read<std::uint8_t>(TailOf(a.values, 1)), expected.values));
    EXPECT_TRUE(SameBytes(memory_.Read<std::uint8_t>(TailOf(a.scales, 1)), expected.scales));
  }
}

TEST_F(LargeGrids, KeysToScore) {
  for (const char* format : kFormats) {
    TestIndexer indexer = Make(Small(format));
    RaggedCase last(indexer, {.keys = 1, .starts = {0}, .ends = {1}});
    last.Check();
    LogitsRaggedArguments a = last.arguments;
    a.k_values = EndingAs(a.k_values, kMany);
    a.k_scales = EndingAs(a.k_scales, kMany);
    a.starts = memory_.Put(std::vector<std::int32_t>{static_cast<int>(kMany) - 1}, {1});
    a.ends = memory_.Put(std::vector<std::int32_t>{static_cast<int>(kMany)}, {1});
    a.out = memory_.Raw(DType::kF32, {1, kMany});
    ExpectOk(indexer->LogitsRagged(a));
    const Tensor column = TailOf(ViewOf(a.out.data, DType::kF32, {kMany}), 1);
    EXPECT_TRUE(SameBits(memory_.Read<float>(column), last.expected()));
  }
}

// More rows than a grid has blocks: block 5 computes row 5 and the row 2^31 - 1 behind it.
TEST_F(LargeGrids, MoreRowsThanBlocks) {
  TestIndexer indexer = Make(Small("mxfp4", /*heads=*/8, /*head_dim=*/32));
  RaggedCase last(indexer, {.keys = 1, .starts = {0}, .ends = {1}});
  last.Check();
  constexpr std::int64_t kRows = (std::int64_t{1} << 31) + 5;
  LogitsRaggedArguments a = last.arguments;
  const auto ending = [&](const Tensor& small) {
    const Tensor large = EndingAs(small, kRows);
    Tensor early = large;
    early.shape[0] = 6;
    std::vector<std::byte> zeros(Size(early.elements() * DTypeBytes(early.dtype)));
    memory_.WriteBytes(early, zeros);
    return large;
  };
  a.q_values = ending(a.q_values);
  a.q_scales = ending(a.q_scales);
  a.weights = ending(a.weights);
  a.starts = ending(a.starts);
  a.ends = ending(a.ends);
  a.out = memory_.Raw(DType::kF32, {kRows, 1});
  device_->RunBlocks({5});
  ExpectOk(indexer->LogitsRagged(a));
  EXPECT_TRUE(SameBits(memory_.Read<float>(TailOf(a.out, 1)), last.expected()));
}

TEST_F(LargeGrids, RequestsToScore) {
  for (const char* format : kFormats) {
    TestIndexer indexer = Make(Small(format));
    TestCache cache(indexer, {.lengths = {65}});
    PagedCase last(cache);
    last.Check();
    LogitsPagedArguments a = last.arguments;
    a.q_values = EndingAs(a.q_values, kMany);
    if (IsGiven(a.q_scales)) a.q_scales = EndingAs(a.q_scales, kMany);
    a.block_table = EndingAs(a.block_table, kMany);
    a.context_lens = EndingAs(a.context_lens, kMany);
    a.weights = EndingAs(a.weights, kMany);
    a.out = memory_.Raw(DType::kF32, {kMany, 65});
    ExpectOk(indexer->LogitsPaged(a));
    EXPECT_TRUE(SameBits(memory_.Read<float>(TailOf(a.out, 1)), last.expected()));
  }
}

TEST_F(LargeGrids, RowsToSelectFrom) {
  TestIndexer indexer = Make(Small("fp8_e4m3"));
  TopKCase last(indexer, {.logits = RandomRows(1, 300, 1), .k = 9});
  last.Check();
  TopKArguments a = last.arguments;
  a.logits = EndingAs(a.logits, kMany, 512);
  a.ends = EndingAs(a.ends, kMany);
  a.indices = EndingAs(a.indices, kMany, 512);
  ExpectOk(indexer->TopK(a));
  EXPECT_EQ(memory_.Read<std::int32_t>(TailOf(a.indices, 1)), last.expected);
}

}  // namespace
}  // namespace lijit::tests
