// SPDX-License-Identifier: Apache-2.0
// For each cause: an engine that differs by it alone, and whether the report names it.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "runtime/capacity/causes.h"
#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

Request OurRequest() {
  Request request = RequestFor("deepseek-v4-flash", 8 * kGiB);
  request.max_model_len = 131'072;
  return request;
}

Observed ObservedOf(const Plan& engine) {
  Observed observed;
  observed.tokens = engine.tokens;
  observed.blocks = engine.blocks;
  observed.block_bytes = engine.block_bytes;
  observed.max_model_len = engine.request.max_model_len;
  return observed;
}

Reconciliation ReconcileWith(const Request& ours, const Observed& observed,
                             IndexerFormat format = IndexerFormat::kFp8) {
  Result<Reconciliation> result = Reconcile(PlanOf(ours, format), observed);
  if (!result) ADD_FAILURE() << result.error().message;
  return result ? *result : Reconciliation{};
}

bool Names(const Reconciliation& result, std::string_view cause) {
  for (const Explanation& each : result.explanations) {
    if (each.cause == cause) return true;
  }
  return false;
}

std::string CausesIn(const Reconciliation& result) {
  std::string names;
  for (const Explanation& each : result.explanations)
    names += each.cause + ": " + each.detail + "; ";
  return names;
}

TEST(Reconcile, TheSameAgrees) {
  const Plan plan = PlanOf(OurRequest(), IndexerFormat::kFp8);
  const Reconciliation result = ReconcileWith(OurRequest(), ObservedOf(plan));
  EXPECT_TRUE(result.agrees);
  EXPECT_TRUE(result.explanations.empty());
  EXPECT_EQ(result.comparisons.size(), 4u);
  EXPECT_EQ(result.unexplained_bytes, 0);
}

struct Difference {
  const char* cause;
  std::function<void(Request&, IndexerFormat&)> make;  // of the engine
};

const Difference kDifferences[] = {
    {"max model length", [](Request& r, IndexerFormat&) { r.max_model_len = 100'000; }},
    {"indexer format", [](Request&, IndexerFormat& f) { f = IndexerFormat::kMxfp4; }},
    {"page padding", [](Request& r, IndexerFormat&) { r.layout = LayoutOf("flashinfer"); }},
    {"pool layout", [](Request& r, IndexerFormat&) { r.pool = Pool::kBuckets; }},
    {"latent format", [](Request& r, IndexerFormat&) { r.latent_format = "bf16"; }},
    {"per-request charge", [](Request& r, IndexerFormat&) { r.concurrent_batches = 1; }},
    {"per-request charge", [](Request& r, IndexerFormat&) { r.batched_tokens = 0; }},
    {"batched tokens", [](Request& r, IndexerFormat&) { r.batched_tokens = 2048; }},
    {"indexer scales", [](Request& r, IndexerFormat&) { r.model.caches[2].row_bytes = 2 * 132; }},
    {"pipeline ranks", [](Request& r, IndexerFormat&) { r.pipeline_ranks = 2; }},
};

TEST(Reconcile, ASingleCauseIsNamed) {
  for (const Difference& difference : kDifferences) {
    Request engine = OurRequest();
    IndexerFormat format = IndexerFormat::kFp8;
    difference.make(engine, format);
    const Observed observed = ObservedOf(PlanOf(engine, format));
    const Reconciliation result = ReconcileWith(OurRequest(), observed);
    EXPECT_FALSE(result.agrees) << difference.cause;
    EXPECT_TRUE(Names(result, difference.cause)) << difference.cause << ": " << CausesIn(result);
    EXPECT_EQ(result.unexplained_bytes, 0);
  }
}

TEST(Reconcile, NullBlock) {
  Observed observed = ObservedOf(PlanOf(OurRequest(), IndexerFormat::kFp8));
  --*observed.blocks;
  observed.tokens.reset();
  const Reconciliation result = ReconcileWith(OurRequest(), observed);
  EXPECT_TRUE(Names(result, "null block"));
}

TEST(Reconcile, SpeculativeLayers) {
  Request engine = RequestFor("deepseek-v3.2");
  engine.draft_layers = 1;
  const Reconciliation result =
      ReconcileWith(RequestFor("deepseek-v3.2"), ObservedOf(PlanOf(engine, IndexerFormat::kFp8)));
  EXPECT_TRUE(Names(result, "speculative layers")) << CausesIn(result);
}

TEST(Reconcile, SharedIndexerLayers) {
  const Request ours = RequestFor("glm-5.2");
  Request engine = ours;
  engine.model.caches[1].layers = engine.model.caches[0].layers;
  const Reconciliation result =
      ReconcileWith(ours, ObservedOf(PlanOf(engine, IndexerFormat::kFp8)));
  EXPECT_TRUE(Names(result, "shared indexer layers")) << CausesIn(result);
}

TEST(Reconcile, MemoryThatALogRounds) {
  Request engine = OurRequest();
  engine.memory.cache_bytes = {*ParseBytes("7.71GiB") - 3'000'000};
  Observed observed = ObservedOf(PlanOf(engine, IndexerFormat::kFp8));
  observed.cache_bytes = ObservedRange{*ParseBytes("7.705GiB"), *ParseBytes("7.715GiB")};
  // With the engine's own memory everything agrees; with ours, memory is the cause.
  EXPECT_TRUE(ReconcileWith(engine, observed).agrees);
  const Reconciliation result = ReconcileWith(OurRequest(), observed);
  EXPECT_FALSE(result.agrees);
  EXPECT_TRUE(Names(result, "memory")) << CausesIn(result);
}

// vLLM computes int(blocks / request_blocks * length) in doubles: where the quotient is whole, it
// may come out one less.
TEST(Reconcile, FloatingPoint) {
  Request request = RequestFor("deepseek-v3.2");
  int found = 0;
  for (std::int64_t length = 64; length < 64 * 2000 && found < 3; length += 64) {
    request.max_model_len = length;
    const Plan plan = PlanOf(request, IndexerFormat::kFp8);
    const double times =
        static_cast<double>(plan.blocks) / static_cast<double>(plan.request_blocks);
    const auto theirs = static_cast<std::int64_t>(times * static_cast<double>(length));
    if (theirs == plan.tokens) continue;
    ++found;
    Observed observed = ObservedOf(plan);
    observed.tokens = theirs;
    EXPECT_TRUE(Names(ReconcileWith(request, observed), "floating point")) << length;
  }
  EXPECT_EQ(found, 3) << "no length shows the effect";
}

TEST(Reconcile, GroupsAreComparedInAnyOrder) {
  const Plan plan = PlanOf(OurRequest(), IndexerFormat::kFp8);
  Observed observed;
  observed.group_bytes = plan.ranks[0].group_bytes;
  std::reverse(observed.group_bytes.begin(), observed.group_bytes.end());
  EXPECT_TRUE(ReconcileWith(OurRequest(), observed).agrees);
  observed.group_bytes[0] += 576;
  const Reconciliation result = ReconcileWith(OurRequest(), observed);
  EXPECT_FALSE(result.agrees);
  EXPECT_TRUE(result.explanations.empty()) << CausesIn(result);
}

TEST(Reconcile, WhatNothingExplainsIsLeftInBytes) {
  const Plan plan = PlanOf(OurRequest(), IndexerFormat::kFp8);
  Observed observed;
  observed.blocks = plan.blocks - 37;
  observed.block_bytes = plan.block_bytes;
  Reconciliation result = ReconcileWith(OurRequest(), observed);
  EXPECT_TRUE(result.explanations.empty()) << CausesIn(result);
  EXPECT_EQ(result.unexplained_bytes, 37 * plan.block_bytes);
  // From tokens alone: as many blocks as those tokens need.
  observed = {};
  observed.tokens = (plan.blocks - 37) * plan.request.max_model_len / plan.request_blocks;
  result = ReconcileWith(OurRequest(), observed);
  EXPECT_TRUE(result.explanations.empty()) << CausesIn(result);
  EXPECT_EQ(result.unexplained_bytes, 37 * plan.block_bytes);
}

TEST(Reconcile, TokensBetweenBlocksAgreeWithNothing) {
  const Plan plan = PlanOf(OurRequest(), IndexerFormat::kFp8);
  Observed observed;
  observed.tokens = plan.tokens + 1;
  EXPECT_FALSE(ReconcileWith(OurRequest(), observed).agrees);
}

TEST(Reconcile, Concurrency) {
  const Plan plan = PlanOf(OurRequest(), IndexerFormat::kFp8);
  Observed observed;
  observed.max_model_len = 131'072;
  observed.concurrency_hundredths = (200 * plan.blocks / plan.request_blocks + 1) / 2;
  EXPECT_TRUE(ReconcileWith(OurRequest(), observed).agrees);
  *observed.concurrency_hundredths += 2;
  EXPECT_FALSE(ReconcileWith(OurRequest(), observed).agrees);
}

TEST(Reconcile, NonsenseIsRefused) {
  const Plan plan = PlanOf(OurRequest(), IndexerFormat::kFp8);
  EXPECT_FALSE(Reconcile(plan, {}).ok());
  Observed negative;
  negative.tokens = -1;
  EXPECT_FALSE(Reconcile(plan, negative).ok());
  Observed backwards;
  backwards.cache_bytes = ObservedRange{2, 1};
  EXPECT_FALSE(Reconcile(plan, backwards).ok());
  Observed huge;
  huge.blocks = INT64_MAX;
  EXPECT_FALSE(Reconcile(plan, huge).ok());
}

TEST(Reconcile, EveryCauseHasAName) {
  EXPECT_EQ(Causes().size(), 14u);
  for (const Cause& cause : Causes()) EXPECT_FALSE(cause.name.empty());
}

}  // namespace
}  // namespace lijit::capacity
