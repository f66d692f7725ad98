// SPDX-License-Identifier: Apache-2.0
// The same bits from run to run and however many host threads run the blocks (reported fault B53:
// logits that changed between runs).
#include "runtime/device/emulated_device.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

class Determinism : public IndexerTest {};

struct Outputs {
  std::vector<float> paged, ragged;
  std::vector<std::int32_t> indices;
};

Outputs RunOnce(TestIndexer& indexer) {
  TestCache cache(indexer, {.lengths = {300, 129}});
  PagedCase paged(cache, {.next_n = 2});
  paged.Check();
  RaggedCase ragged(indexer, {.keys = 300, .starts = {0, 7}, .ends = {300, 200}});
  ragged.Check();
  TopKCase top_k(indexer, {.logits = ragged.got(), .columns = 300, .k = 64});
  top_k.Check();
  return {paged.got(), ragged.got(), top_k.got};
}

void ExpectSame(const Outputs& a, const Outputs& b) {
  EXPECT_TRUE(SameBits(a.paged, b.paged));
  EXPECT_TRUE(SameBits(a.ragged, b.ragged));
  EXPECT_EQ(a.indices, b.indices);
}

TEST_F(Determinism, B53_TwentyRuns) {
  for (const char* format : {"fp8_e4m3", "mxfp4"}) {
    TestIndexer& indexer = TestIndexer::Of(Small(format));
    const Outputs first = RunOnce(indexer);
    for (int run = 1; run < 20; ++run) ExpectSame(first, RunOnce(indexer));
  }
}

TEST_F(Determinism, AnyNumberOfHostThreads) {
  const Outputs first = RunOnce(TestIndexer::Of(Small("mxfp4")));
  for (const unsigned threads : {1u, 2u, 3u, 8u, 33u}) {
    const auto device = runtime::OpenEmulatedDevice("sm_86", {.host_threads = threads});
    ASSERT_TRUE(device.ok());
    TestIndexer indexer(
        std::make_shared<Runtime>(*device, std::make_shared<cache::Store>(TestCacheConfig())),
        Small("mxfp4"));
    ExpectSame(first, RunOnce(indexer));
    EXPECT_TRUE((*device)->findings().empty());
  }
}

// A kernel out of the cache computes what the one just compiled does.
TEST_F(Determinism, CompiledAndCached) {
  cache::CacheConfig memory_only;
  const auto device = runtime::OpenEmulatedDevice("sm_86");
  ASSERT_TRUE(device.ok());
  TestIndexer fresh(std::make_shared<Runtime>(*device, std::make_shared<cache::Store>(memory_only)),
                    Small("mxfp4"));
  ExpectSame(RunOnce(TestIndexer::Of(Small("mxfp4"))), RunOnce(fresh));
  for (const cache::Event& event : fresh->events()) EXPECT_FALSE(cache::IsHit(event.outcome));
  EXPECT_TRUE((*device)->findings().empty());
}

}  // namespace
}  // namespace lijit::tests
