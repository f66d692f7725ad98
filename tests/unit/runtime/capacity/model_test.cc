// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

TEST(Models, EachCanBePlannedInEachLayout) {
  ASSERT_EQ(Models().size(), 5u);
  for (const Model& model : Models()) {
    EXPECT_FALSE(model.source.empty()) << model.name;
    for (const Layout& layout : Layouts()) {
      Request request = RequestFor(model.name);
      request.layout = layout;
      for (const IndexerFormat format : kIndexerFormats) {
        const Plan plan = PlanOf(request, format);
        EXPECT_GT(plan.blocks, 0) << model.name;
        EXPECT_EQ(plan.pages.size(), model.caches.size());
      }
    }
  }
}

TEST(Models, NamesAreKnownOrListed) {
  EXPECT_TRUE(FindModel("deepseek-v4-pro").ok());
  const Result<Model> unknown = FindModel("deepseek-v5");
  ASSERT_FALSE(unknown.ok());
  for (const Model& model : Models()) {
    EXPECT_NE(unknown.error().message.find(model.name), std::string::npos) << model.name;
  }
  EXPECT_FALSE(FindLayout("").ok());
  EXPECT_FALSE(ParsePool("slab").ok());
  EXPECT_FALSE(ParseIndexerFormat("fp4").ok());
  EXPECT_EQ(*ParseIndexerFormat("fp8_e4m3"), IndexerFormat::kFp8);
  for (const Pool pool : {Pool::kOverlay, Pool::kBuckets})
    EXPECT_EQ(*ParsePool(PoolName(pool)), pool);
}

// ROCm/ATOM #1260: layers 0, 1, 2, then every fourth: 21 of 78.
TEST(Models, LayersOfGlm52) {
  const Model model = *FindModel("glm-5.2");
  const std::vector<int>& layers = model.caches[1].layers;
  ASSERT_EQ(layers.size(), 21u);
  EXPECT_EQ(std::vector<int>(layers.begin(), layers.begin() + 5),
            (std::vector<int>{0, 1, 2, 6, 10}));
  EXPECT_EQ(layers.back(), 74);
}

TEST(Models, LayersOfV4) {
  const Model flash = *FindModel("deepseek-v4-flash");
  EXPECT_EQ(flash.caches[0].layers.size(), 21u);
  EXPECT_EQ(flash.caches[1].layers.size(), 20u);
  const Model pro = *FindModel("deepseek-v4-pro");
  EXPECT_EQ(pro.caches[0].layers.size(), 30u);
  EXPECT_EQ(pro.caches[1].layers.size(), 31u);
  // Every layer of Pro is one or the other.
  std::set<int> all(pro.caches[0].layers.begin(), pro.caches[0].layers.end());
  all.insert(pro.caches[1].layers.begin(), pro.caches[1].layers.end());
  EXPECT_EQ(all.size(), 61u);
}

TEST(Models, LayerRanges) {
  EXPECT_EQ(*ParseLayers("3"), (std::vector<int>{3}));
  EXPECT_EQ(*ParseLayers("0-2,6-14:4"), (std::vector<int>{0, 1, 2, 6, 10, 14}));
  for (const char* text : {"", ",", "1,", "a", "1-", "-1", "3-1", "1-4:0", "1:2x", "1,1", "5,2",
                           "0-4096", "99999999999", "1--2", "0-3:-1", " 1"}) {
    EXPECT_FALSE(ParseLayers(text).ok()) << text;
  }
  EXPECT_NE(ParseLayers("0,7-x").error().message.find("'7-x'"), std::string::npos);
}

TEST(Models, SharingAnIndexerShrinksItsCache) {
  Request request = RequestFor("glm-5");
  Result<Model> shared = WithIndexerLayers(request.model, *ParseLayers("0-1,2-77:4"));
  ASSERT_TRUE(shared.ok());
  request.model = *shared;
  EXPECT_EQ(PlanOf(request, IndexerFormat::kFp8).indexer_bytes,
            PlanOf(RequestFor("glm-5.2"), IndexerFormat::kFp8).indexer_bytes);
  Model without = request.model;
  without.caches.pop_back();
  EXPECT_FALSE(WithIndexerLayers(without, {0}).ok());
}

TEST(Models, SpeculativeLayersHaveTheirCaches) {
  Request request = RequestFor("deepseek-v4-flash");
  request.draft_layers = 1;
  const Plan plan = PlanOf(request, IndexerFormat::kFp8);
  EXPECT_EQ(plan.groups[1].members[0].layers.size() + plan.groups[2].members[0].layers.size(), 44u);
  Request v32 = RequestFor("deepseek-v3.2");
  const std::int64_t before = PlanOf(v32, IndexerFormat::kFp8).block_bytes;
  v32.draft_layers = 1;
  EXPECT_EQ(PlanOf(v32, IndexerFormat::kFp8).block_bytes - before, 64 * (656 + 132));
}

// 61 layers on four ranks are 15, 15, 16 and 15; a speculative layer is on the last.
TEST(Models, PipelineRanksHaveTheirLayers) {
  Request request = RequestFor("deepseek-v4-pro");
  request.pipeline_ranks = 4;
  request.draft_layers = 1;
  const Plan plan = PlanOf(request, IndexerFormat::kFp8);
  ASSERT_EQ(plan.ranks.size(), 4u);
  EXPECT_EQ(plan.ranks[2].first_layer, 30);
  EXPECT_EQ(plan.ranks[2].layers, 16);
  EXPECT_EQ(plan.ranks[3].layers, 16);
  std::int64_t bytes = 0;
  for (const Rank& rank : plan.ranks) bytes += rank.group_bytes[0];
  EXPECT_EQ(bytes, plan.groups[0].page_bytes);
  EXPECT_EQ(plan.request.concurrent_batches, 5);
}

TEST(Models, TensorRanksHoldTheSame) {
  Request request = RequestFor("deepseek-v4-flash");
  const std::int64_t one = PlanOf(request, IndexerFormat::kMxfp4).tokens;
  request.tensor_ranks = 8;
  EXPECT_EQ(PlanOf(request, IndexerFormat::kMxfp4).tokens, one);
}

TEST(Models, MemoryFromADevice) {
  Request request = RequestFor("deepseek-v4-flash");
  request.memory = {.total_bytes = 80 * kGiB,
                    .fraction_millionths = 920'000,
                    .weights_bytes = 50 * kGiB,
                    .reserved_bytes = 2 * kGiB};
  EXPECT_EQ(PlanOf(request, IndexerFormat::kFp8).ranks[0].cache_bytes,
            80 * kGiB * 92 / 100 - 52 * kGiB);
}

TEST(Models, RanksWithLessMemoryDecide) {
  Request request = RequestFor("deepseek-v3.2");
  request.pipeline_ranks = 2;
  request.memory.cache_bytes = {10 * kGiB, kGiB};
  const Plan plan = PlanOf(request, IndexerFormat::kFp8);
  EXPECT_EQ(plan.blocks, kGiB / plan.ranks[1].block_bytes);
  EXPECT_GT(plan.ranks[0].blocks, plan.blocks);
  EXPECT_EQ(plan.ranks[0].spare_bytes, 10 * kGiB - plan.blocks * plan.ranks[0].block_bytes);
}

}  // namespace
}  // namespace lijit::capacity
