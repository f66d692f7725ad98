// SPDX-License-Identifier: Apache-2.0
// A deployment of DeepSeek-V4 with a 4-bit main cache on four 24-GiB cards reported 178,050 tokens
// with an fp8 indexer and 202,260 with mxfp4 at a 175K profile, and 199,409 at 200K; nothing else
// is known of it. Which configurations does the arithmetic admit? (docs/capacity.md tells.)
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

constexpr std::int64_t kFp8Tokens = 178'050, kMxfp4Tokens = 202'260, kLongTokens = 199'409;

// Block counts n with floor(n * length / request_blocks) == tokens.
struct BlockRange {
  std::int64_t low = 0, high = -1;
  bool empty() const { return low > high; }
  bool is(std::int64_t blocks) const { return low == blocks && high == blocks; }
};

BlockRange BlocksFor(std::int64_t tokens, const Plan& plan) {
  const std::int64_t length = plan.request.max_model_len, requests = plan.request_blocks;
  return {(tokens * requests + length - 1) / length, ((tokens + 1) * requests - 1) / length};
}

// What the token counts alone leave open.
using Charge = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // in flight, both lengths

// All that the search varies besides lengths and tokens in flight, which decide the block counts.
struct Config {
  Request request;
  std::string name;
  bool half_states = false;
};

std::vector<Config> Configs(Request base, bool half_states) {
  std::vector<Config> configs;
  if (half_states) {
    for (Cache& cache : base.model.caches) {
      if (cache.role == Role::kState) cache.row_bytes /= 2;
    }
  }
  for (const Layout& layout : Layouts()) {
    for (const LatentFormat& latent : LatentFormats()) {
      for (const int draft_layers : {0, 1, 2, 3}) {
        for (const int pipeline_ranks : {1, 2, 4}) {
          for (const Pool pool : {Pool::kOverlay, Pool::kBuckets}) {
            Request request = base;
            request.layout = layout;
            request.latent_format = latent.name;
            request.draft_layers = draft_layers;
            request.pipeline_ranks = pipeline_ranks;
            request.pool = pool;
            configs.push_back({request,
                               base.model.name + " " + layout.name + " " +
                                   std::string(latent.name) + " " + std::string(PoolName(pool)),
                               half_states});
          }
        }
      }
    }
  }
  return configs;
}

std::vector<Config> AllConfigs() {
  std::vector<Config> configs;
  for (const std::string_view model : {"deepseek-v4-flash", "deepseek-v4-pro"}) {
    for (const bool half_states : {false, true}) {
      for (Config& config : Configs(RequestFor(model), half_states)) {
        configs.push_back(std::move(config));
      }
    }
  }
  return configs;
}

Plan At(Request request, std::int64_t length, std::int64_t in_flight, IndexerFormat format) {
  request.max_model_len = length;
  request.batched_tokens = in_flight;
  request.concurrent_batches = 1;
  return PlanOf(request, format);
}

// The charges that make all three token counts possible. The groups' shapes, and so the blocks of a
// request, are the same for all configurations of a model that differ in page sizes only.
std::set<Charge> AdmittedCharges(const Request& request) {
  std::set<Charge> charges;
  for (std::int64_t in_flight = 0; in_flight <= 65'536; in_flight += 256) {
    for (const std::int64_t length : {175'000, 179'200}) {
      const Plan plan = At(request, length, in_flight, IndexerFormat::kFp8);
      if (BlocksFor(kFp8Tokens, plan).empty() || BlocksFor(kMxfp4Tokens, plan).empty()) continue;
      for (const std::int64_t longer : {200'000, 204'800}) {
        const Plan at_longer = At(request, longer, in_flight, IndexerFormat::kMxfp4);
        if (!BlocksFor(kLongTokens, at_longer).empty()) charges.insert({in_flight, length, longer});
      }
    }
  }
  return charges;
}

// Of 257 charges by four pairs of lengths one is left, for either model and any number of
// speculative layers.
TEST(Reported3090, TokensLeaveOneCharge) {
  const std::set<Charge> expected = {{512, 175'000, 200'000}};
  for (const std::string_view model : {"deepseek-v4-flash", "deepseek-v4-pro"}) {
    for (const int draft_layers : {0, 1, 2, 3}) {
      Request request = RequestFor(model);
      request.draft_layers = draft_layers;
      EXPECT_EQ(AdmittedCharges(request), expected) << model << " " << draft_layers;
    }
  }
}

TEST(Reported3090, BlocksAreThen934And1061And1013) {
  const Request request = RequestFor("deepseek-v4-flash");
  const Plan plan = At(request, 175'000, 512, IndexerFormat::kFp8);
  EXPECT_EQ(plan.request_blocks, 918);
  EXPECT_TRUE(BlocksFor(kFp8Tokens, plan).is(934));
  EXPECT_TRUE(BlocksFor(kMxfp4Tokens, plan).is(1'061));
  const Plan at_longer = At(request, 200'000, 512, IndexerFormat::kMxfp4);
  EXPECT_EQ(at_longer.request_blocks, 1'016);
  EXPECT_TRUE(BlocksFor(kLongTokens, at_longer).is(1'013));
}

// Whether one number of bytes holds 934 blocks of the one and 1,061 of the other size.
bool SameMemoryHolds(std::int64_t fp8_bytes, std::int64_t mxfp4_bytes) {
  return std::max(934 * fp8_bytes, 1'061 * mxfp4_bytes) <
         std::min(935 * fp8_bytes, 1'062 * mxfp4_bytes);
}

// With the same memory for both, only halved compressor states admit the pair: with states of f32
// they, not the indexer, decide the size of a block of a 4-bit cache.
TEST(Reported3090, SameMemoryNeedsHalvedStates) {
  std::set<std::string> admitted;
  int tried = 0;
  for (const Config& config : AllConfigs()) {
    Result<Plan> fp8 = MakePlan(config.request, IndexerFormat::kFp8);
    Result<Plan> mxfp4 = MakePlan(config.request, IndexerFormat::kMxfp4);
    ASSERT_TRUE(fp8.ok() && mxfp4.ok());
    ++tried;
    if (!SameMemoryHolds(fp8->block_bytes, mxfp4->block_bytes)) continue;
    EXPECT_TRUE(config.half_states) << config.name;
    admitted.insert(config.name + (config.half_states ? ", halved states" : ""));
  }
  EXPECT_EQ(tried, 2 * 2 * 3 * 7 * 4 * 3 * 2);
  const std::set<std::string> expected = {
      "deepseek-v4-flash flashinfer nvfp4 overlay, halved states",
      "deepseek-v4-pro flashinfer nvfp4 overlay, halved states",
      "deepseek-v4-pro flashmla mxfp4 overlay, halved states"};
  EXPECT_EQ(admitted, expected);
}

// Blocks of the same size in both need that mxfp4 left 126 to 128 blocks more to the cache. The
// smaller gather workspace and queries would leave more than that: near, but not it.
TEST(Reported3090, WorkspaceAloneIsNear) {
  Request request = RequestFor("deepseek-v4-flash");
  request.latent_format = "nvfp4";
  const Plan fp8 = At(request, 175'000, 512, IndexerFormat::kFp8);
  const Plan mxfp4 = At(request, 175'000, 512, IndexerFormat::kMxfp4);
  EXPECT_EQ(fp8.block_bytes, 870'912);
  EXPECT_EQ(mxfp4.block_bytes, 870'912);
  const Result<Transients> fp8_transients = MakeTransients(fp8);
  const Result<Transients> mxfp4_transients = MakeTransients(mxfp4);
  ASSERT_TRUE(fp8_transients.ok() && mxfp4_transients.ok());
  const std::int64_t saved = fp8_transients->peak_bytes - mxfp4_transients->peak_bytes;
  EXPECT_EQ(saved, 113'966'080);
  EXPECT_GT(saved, 128 * 870'912);
  EXPECT_LT(saved, 131 * 870'912);
}

}  // namespace
}  // namespace lijit::capacity
