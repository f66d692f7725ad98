// SPDX-License-Identifier: Apache-2.0
// Overflow and nonsense are refused, and the message names what is wrong.
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

struct Nonsense {
  const char* named;  // what the message must have
  std::function<void(Request&)> make;
};

const Nonsense kNonsense[] = {
    {"max model length", [](Request& r) { r.max_model_len = -1; }},
    {"max model length", [](Request& r) { r.max_model_len = (std::int64_t{1} << 40) + 1; }},
    {"batched tokens", [](Request& r) { r.batched_tokens = -1; }},
    {"concurrent batches", [](Request& r) { r.concurrent_batches = -2; }},
    {"concurrency", [](Request& r) { r.concurrency = 0; }},
    {"next_n", [](Request& r) { r.next_n = 0; }},
    {"speculative layers", [](Request& r) { r.draft_layers = -1; }},
    {"tensor ranks", [](Request& r) { r.tensor_ranks = 0; }},
    {"pipeline ranks", [](Request& r) { r.pipeline_ranks = 44; }},
    {"pipeline ranks", [](Request& r) { r.pipeline_ranks = 0; }},
    {"gathered contexts", [](Request& r) { r.gather_contexts = -1; }},
    {"transient budget", [](Request& r) { r.transient_budget = -1; }},
    {"latent format 'int3'", [](Request& r) { r.latent_format = "int3"; }},
    {"latent row bytes", [](Request& r) { r.latent_row_bytes = -4; }},
    {"page alignment", [](Request& r) { r.layout = Layout{.name = "mine", .latent = 0}; }},
    {"page alignment", [](Request& r) { r.layout = Layout{.name = "mine", .state = -1}; }},
    {"no memory", [](Request& r) { r.memory = {}; }},
    {"both a device's memory", [](Request& r) { r.memory.total_bytes = 1; }},
    {"memory for the cache", [](Request& r) { r.memory.cache_bytes = {-1}; }},
    {"2 numbers for 1 pipeline",
     [](Request& r) {
       r.memory.cache_bytes = {1, 2};
     }},
    {"fraction",
     [](Request& r) { r.memory = {.total_bytes = 1, .fraction_millionths = 1'000'001}; }},
    {"bytes of weights", [](Request& r) { r.memory = {.total_bytes = 1, .weights_bytes = -1}; }},
    {"weights of 2 and a reserve of 0 bytes exceed",
     [](Request& r) { r.memory = {.total_bytes = 1, .weights_bytes = 2}; }},
    {"weights and reserve exceeds 2^63 - 1",
     [](Request& r) {
       r.memory = {.total_bytes = 1, .weights_bytes = INT64_MAX, .reserved_bytes = INT64_MAX};
     }},
    {"layers of model", [](Request& r) { r.model.layers = 0; }},
    {"caches of model", [](Request& r) { r.model.caches.clear(); }},
    {"layers of cache 'indexer'", [](Request& r) { r.model.caches[2].layers.clear(); }},
    {"layers of cache 'indexer'",
     [](Request& r) {
       r.model.caches[2].layers = {1, 1};
     }},
    {"layers of cache 'indexer'", [](Request& r) { r.model.caches[2].layers = {43}; }},
    {"layers of cache 'indexer'", [](Request& r) { r.model.caches[2].layers = {-1}; }},
    {"block_tokens of cache 'c4 state'", [](Request& r) { r.model.caches[4].block_tokens = 0; }},
    {"ratio of cache", [](Request& r) { r.model.caches[0].ratio = 257; }},
    {"no multiple of its ratio 3", [](Request& r) { r.model.caches[0].ratio = 3; }},
    {"row_bytes of cache 'c4 state'", [](Request& r) { r.model.caches[4].row_bytes = 0; }},
    {"window of cache", [](Request& r) { r.model.caches[3].window = -128; }},
    {"indexer_head_dim", [](Request& r) { r.model.indexer_head_dim = 100; }},
    {"indexer_heads", [](Request& r) { r.model.indexer_heads = -1; }},
    {"top_k", [](Request& r) { r.model.top_k = -1; }},
    {"layout 'x'",
     [](Request& r) {
       r.model.layout = "x";
       r.layout.reset();
     }},
    {"have no common multiple",
     [](Request& r) {
       r.model.caches[0].block_tokens = (1 << 20) - 4;
       r.model.caches[1].block_tokens = 128 * 8191;
       r.model.caches[2].block_tokens = (1 << 20) - 8;
     }},
};

TEST(Limits, NonsenseIsRefusedByName) {
  for (const Nonsense& nonsense : kNonsense) {
    Request request = RequestFor("deepseek-v4-flash");
    nonsense.make(request);
    for (const IndexerFormat format : kIndexerFormats) {
      const Result<Plan> plan = MakePlan(request, format);
      ASSERT_FALSE(plan.ok()) << nonsense.named;
      EXPECT_EQ(plan.error().code, ErrorCode::kInvalidArgument) << nonsense.named;
      EXPECT_NE(plan.error().message.find(nonsense.named), std::string::npos)
          << nonsense.named << ": " << plan.error().message;
    }
  }
}

// The largest of everything that is accepted: an answer or a refusal, no overflow (with UBSan).
TEST(Limits, TheLargestRequestOverflowsNothing) {
  Request request = RequestFor("deepseek-v4-flash", INT64_MAX);
  request.max_model_len = std::int64_t{1} << 40;
  request.batched_tokens = std::int64_t{1} << 40;
  request.concurrent_batches = 4096;
  request.concurrency = std::int64_t{1} << 40;
  request.next_n = 65536;
  request.gather_contexts = std::int64_t{1} << 40;
  request.draft_layers = 4096;
  const Result<Plan> plan = MakePlan(request, IndexerFormat::kFp8);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const Result<Transients> transients = MakeTransients(*plan);
  ASSERT_FALSE(transients.ok());
  EXPECT_NE(transients.error().message.find("gathered keys exceeds"), std::string::npos)
      << transients.error().message;
}

TEST(Limits, TokensBeyond64BitsAreRefused) {
  Request request = RequestFor("deepseek-v4-flash", INT64_MAX);
  for (Cache& cache : request.model.caches) cache.row_bytes = 1;
  std::erase_if(request.model.caches, [](const Cache& cache) { return cache.window != 0; });
  request.model.caches.resize(1);
  request.model.caches[0].layers = {2};
  request.model.caches[0].ratio = 256;
  request.layout = LayoutOf("none");
  const Result<Plan> plan = MakePlan(request, IndexerFormat::kFp8);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("tokens exceeds 2^63 - 1"), std::string::npos)
      << plan.error().message;
}

TEST(Limits, NoMemoryHoldsNothing) {
  const Plan plan = PlanOf(RequestFor("deepseek-v4-flash", 0), IndexerFormat::kFp8);
  EXPECT_EQ(plan.tokens, 0);
  EXPECT_EQ(plan.longest_context, 0);
  EXPECT_FALSE(plan.starts);
}

TEST(Limits, ARankWithoutCachesIsRefused) {
  Request request = RequestFor("deepseek-v3.2");
  for (Cache& cache : request.model.caches) cache.layers = {0};
  request.pipeline_ranks = 2;
  const Result<Plan> plan = MakePlan(request, IndexerFormat::kFp8);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("pipeline rank 1"), std::string::npos);
}

}  // namespace
}  // namespace lijit::capacity
