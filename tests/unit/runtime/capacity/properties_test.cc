// SPDX-License-Identifier: Apache-2.0
// What holds for every request, tried on many that are drawn from a seed.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

constexpr int kRequests = 3000;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  template <typename Table>
  const auto& Of(const Table& table) {
    return table[static_cast<std::size_t>(Between(0, static_cast<std::int64_t>(table.size()) - 1))];
  }
  // Small and large alike.
  std::int64_t Magnitude(int bits) { return Between(1, std::int64_t{1} << Between(0, bits)); }

 private:
  std::mt19937 random_;
};

Request DrawRequest(Draw& draw) {
  Request request = RequestFor(draw.Of(Models()).name, draw.Magnitude(45));
  request.layout = draw.Of(Layouts());
  if (draw.Between(0, 2) == 0) {
    const std::int64_t alignment = draw.Between(1, 4096);
    request.layout = Layout{"custom", alignment, alignment, alignment, alignment, "", ""};
  }
  request.pool = draw.Between(0, 1) == 0 ? Pool::kOverlay : Pool::kBuckets;
  request.latent_row_bytes = draw.Between(0, 1) == 0 ? 0 : draw.Between(1, 2048);
  request.draft_layers = static_cast<int>(draw.Between(0, 3));
  request.pipeline_ranks = static_cast<int>(draw.Between(1, 8));
  request.max_model_len = draw.Magnitude(22);
  request.batched_tokens = draw.Between(0, 1) * draw.Magnitude(16);
  request.concurrency = draw.Magnitude(10);
  return request;
}

TEST(Properties, NeverAboveWhatFits) {
  Draw draw(1);
  for (int i = 0; i < kRequests; ++i) {
    const Request request = DrawRequest(draw);
    for (const IndexerFormat format : kIndexerFormats) {
      const Plan plan = PlanOf(request, format);
      bool is_full = false;
      for (const Rank& rank : plan.ranks) {
        EXPECT_GE(rank.spare_bytes, 0);
        EXPECT_EQ(plan.blocks * rank.block_bytes + rank.spare_bytes, rank.cache_bytes);
        is_full = is_full || rank.spare_bytes < rank.block_bytes;
        for (const std::int64_t bytes : rank.group_bytes) EXPECT_LE(bytes, rank.block_bytes);
      }
      EXPECT_TRUE(is_full) << "one block more would fit every rank";
      EXPECT_LE(plan.full_requests * plan.request_blocks,
                std::max<std::int64_t>(plan.blocks - 1, 0));
      EXPECT_LE(plan.steady_blocks, plan.request_blocks);
      // Tokens are no more than blocks of the whole context could cover.
      EXPECT_LE(plan.tokens, plan.blocks * plan.groups[0].block_tokens);
      EXPECT_EQ(plan.starts, plan.longest_context >= plan.request.max_model_len);
    }
  }
}

TEST(Properties, MonotoneInMemory) {
  Draw draw(2);
  for (int i = 0; i < kRequests; ++i) {
    Request request = DrawRequest(draw);
    const Plan less = PlanOf(request, IndexerFormat::kMxfp4);
    request.memory.cache_bytes[0] += draw.Magnitude(40);
    const Plan more = PlanOf(request, IndexerFormat::kMxfp4);
    EXPECT_GE(more.blocks, less.blocks);
    EXPECT_GE(more.tokens, less.tokens);
    EXPECT_GE(more.full_requests, less.full_requests);
    EXPECT_GE(more.longest_context, less.longest_context);
  }
}

// A page of mxfp4 rows is never longer than one of fp8 rows, so its block is not, either; padding
// may make them equal. (Where two caches' pages happen to be equal in one format only, the groups
// differ, and the comparison is of two different pools.)
TEST(Properties, Fp8IsNeverAhead) {
  Draw draw(3);
  int compared = 0;
  for (int i = 0; i < kRequests; ++i) {
    const Request request = DrawRequest(draw);
    const Plan fp8 = PlanOf(request, IndexerFormat::kFp8);
    const Plan mxfp4 = PlanOf(request, IndexerFormat::kMxfp4);
    for (std::size_t page = 0; page < fp8.pages.size(); ++page) {
      EXPECT_LE(mxfp4.pages[page].bytes, fp8.pages[page].bytes);
    }
    if (fp8.groups.size() != mxfp4.groups.size() || fp8.repeats != mxfp4.repeats) continue;
    ++compared;
    EXPECT_LE(mxfp4.block_bytes, fp8.block_bytes);
    EXPECT_GE(mxfp4.tokens, fp8.tokens);
    EXPECT_GE(mxfp4.longest_context, fp8.longest_context);
  }
  EXPECT_GT(compared, kRequests * 95 / 100);
}

TEST(Properties, LongestContextIsTheLongest) {
  Draw draw(4);
  for (int i = 0; i < kRequests / 10; ++i) {
    Request request = DrawRequest(draw);
    const Plan plan = PlanOf(request, IndexerFormat::kFp8);
    if (plan.longest_context == 0) continue;
    request.max_model_len = plan.longest_context;
    EXPECT_TRUE(PlanOf(request, IndexerFormat::kFp8).starts);
    request.max_model_len = plan.longest_context + 1;
    EXPECT_FALSE(PlanOf(request, IndexerFormat::kFp8).starts);
  }
}

TEST(Properties, EveryLayerOfACacheIsInOneGroup) {
  Draw draw(5);
  for (int i = 0; i < kRequests / 10; ++i) {
    const Plan plan = PlanOf(DrawRequest(draw), IndexerFormat::kFp8);
    std::vector<std::size_t> layers(plan.pages.size());
    for (const Group& group : plan.groups) {
      for (const Group::Member& member : group.members)
        layers[member.cache] += member.layers.size();
    }
    for (std::size_t cache = 0; cache < layers.size(); ++cache) {
      const Cache& each = plan.request.model.caches[cache];
      const int draft = each.in_draft_layers ? plan.request.draft_layers : 0;
      EXPECT_EQ(layers[cache], each.layers.size() + static_cast<std::size_t>(draft));
    }
  }
}

TEST(Properties, SameRequestSameText) {
  Draw draw(6);
  for (int i = 0; i < 20; ++i) {
    const Request request = DrawRequest(draw);
    const Plan plan = PlanOf(request, IndexerFormat::kFp8);
    const Result<Transients> transients = MakeTransients(plan);
    ASSERT_TRUE(transients.ok());
    EXPECT_EQ(Explain(plan, *transients),
              Explain(PlanOf(request, IndexerFormat::kFp8), *transients));
  }
}

}  // namespace
}  // namespace lijit::capacity
