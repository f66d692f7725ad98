// SPDX-License-Identifier: Apache-2.0
// Totals that engines' authors and users have published, to the byte.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

struct BlockCase {
  std::string_view model;
  std::string_view layout;
  Pool pool;
  IndexerFormat indexer;
  std::int64_t block_bytes;
  std::string_view source;
};

constexpr auto kFp8 = IndexerFormat::kFp8;
constexpr auto kMxfp4 = IndexerFormat::kMxfp4;
constexpr BlockCase kBlocks[] = {
    {"deepseek-v4-flash", "flashmla", Pool::kOverlay, kFp8, 1'002'240, "Lvllm #111, stride"},
    {"deepseek-v4-flash", "flashmla", Pool::kOverlay, kMxfp4, 917'568, "vLLM #48993's rule"},
    {"deepseek-v4-flash", "flashinfer", Pool::kOverlay, kFp8, 891'392, "vLLM #48993's rule"},
    {"deepseek-v4-flash", "flashinfer", Pool::kOverlay, kMxfp4, 860'160, "C4 states decide"},
    {"deepseek-v4-pro", "flashmla", Pool::kOverlay, kFp8, 1'435'968, "aiter #4427, stride"},
    {"deepseek-v4-pro", "flashmla", Pool::kOverlay, kMxfp4, 1'315'008, "vLLM #48993"},
    {"deepseek-v4-pro", "flashinfer", Pool::kOverlay, kFp8, 1'275'904, "vLLM #48993's rule"},
    {"deepseek-v4-pro", "flashinfer", Pool::kOverlay, kMxfp4, 1'228'800, "vLLM #48993"},
    {"deepseek-v4-pro", "flashmla", Pool::kBuckets, kFp8, 1'473'408, "vLLM #48993, before"},
    {"deepseek-v4-pro", "flashmla", Pool::kBuckets, kMxfp4, 1'473'408, "vLLM #48993, before"},
    {"deepseek-v4-pro", "flashinfer", Pool::kBuckets, kMxfp4, 1'308'672, "vLLM #48993, before"},
    {"deepseek-v4-flash", "flashmla", Pool::kBuckets, kFp8, 1'039'680,
     "vllm-xpu-kernels #445, stride"},
};

Request RequestOf(const BlockCase& each) {
  Request request =
      each.layout == "flashinfer" ? FlashInferRequest(each.model) : RequestFor(each.model);
  request.pool = each.pool;
  return request;
}

TEST(Published, BytesOfABlock) {
  for (const BlockCase& each : kBlocks) {
    EXPECT_EQ(PlanOf(RequestOf(each), each.indexer).block_bytes, each.block_bytes)
        << each.model << ", " << each.layout << ", " << PoolName(each.pool) << ", "
        << IndexerFormatName(each.indexer) << ": " << each.source;
  }
}

// vLLM #48993 gives the memory in hundredths of a GiB: the blocks must lie between its bounds.
TEST(Published, BlocksOnGb200) {
  struct {
    std::string_view layout;
    Pool pool;
    std::int64_t hundredths, blocks;
  } constexpr kCases[] = {{"flashmla", Pool::kBuckets, 2609, 19'015},
                          {"flashmla", Pool::kOverlay, 2609, 21'306},
                          {"flashinfer", Pool::kBuckets, 2646, 21'709},
                          {"flashinfer", Pool::kOverlay, 2646, 23'120}};
  for (const auto& each : kCases) {
    Request request = RequestOf({"deepseek-v4-pro", each.layout, each.pool, kMxfp4, 0, ""});
    request.memory.cache_bytes = {(2 * each.hundredths - 1) * kGiB / 200};
    const std::int64_t low = PlanOf(request, kMxfp4).blocks;
    request.memory.cache_bytes = {(2 * each.hundredths + 1) * kGiB / 200};
    const std::int64_t high = PlanOf(request, kMxfp4).blocks;
    EXPECT_LE(low, each.blocks) << each.layout << " " << PoolName(each.pool);
    EXPECT_GE(high, each.blocks) << each.layout << " " << PoolName(each.pool);
    EXPECT_LE(high - low, 9) << "the bounds are tight";
  }
}

// vLLM #52495: bytes that a token of one full request costs, rounded to the nearest, with tokens in
// flight charged to every pool and without.
TEST(Published, BytesOfATokenByContextLength) {
  struct {
    std::int64_t length, blocks, steady_blocks, bytes, steady_bytes;
  } constexpr kCases[] = {{33'792, 3'486, 158, 99'826, 4'525},
                          {1'048'576, 7'450, 4'122, 6'875, 3'804}};
  for (const auto& each : kCases) {
    Request request = SyntheticFlashRequest();
    request.max_model_len = each.length;
    const Plan plan = PlanOf(request, kFp8);
    EXPECT_EQ(plan.block_bytes, 967'680);
    EXPECT_EQ(plan.request_blocks, each.blocks);
    EXPECT_EQ(plan.steady_blocks, each.steady_blocks);
    const auto rounded = [&](std::int64_t blocks) {
      return (2 * blocks * plan.block_bytes + each.length) / (2 * each.length);
    };
    EXPECT_EQ(rounded(plan.request_blocks), each.bytes);
    EXPECT_EQ(rounded(plan.steady_blocks), each.steady_bytes);
  }
}

TEST(Published, PagesOfV4) {
  struct {
    std::string_view cache;
    std::int64_t flashmla, flashinfer;
  } constexpr kPages[] = {{"c4a latent", 37'440, 32'768}, {"c128a latent", 1'728, 1'024},
                          {"indexer", 8'640, 8'704},      {"window latent", 37'440, 32'768},
                          {"c4 state", 32'832, 32'768},   {"c4 indexer state", 8'640, 8'192},
                          {"c128 state", 32'832, 32'768}};
  const Plan flashmla = PlanOf(RequestFor("deepseek-v4-flash"), kFp8);
  const Plan flashinfer = PlanOf(FlashInferRequest("deepseek-v4-flash"), kFp8);
  ASSERT_EQ(flashmla.pages.size(), std::size(kPages));
  for (std::size_t i = 0; i < std::size(kPages); ++i) {
    EXPECT_EQ(flashmla.request.model.caches[i].name, kPages[i].cache);
    EXPECT_EQ(flashmla.pages[i].bytes, kPages[i].flashmla) << kPages[i].cache;
    EXPECT_EQ(flashinfer.pages[i].bytes, kPages[i].flashinfer) << kPages[i].cache;
  }
  EXPECT_EQ(PlanOf(RequestFor("deepseek-v4-flash"), kMxfp4).pages[2].bytes, 4'608);
  EXPECT_EQ(PlanOf(FlashInferRequest("deepseek-v4-flash"), kMxfp4).pages[2].bytes, 4'608);
}

// Of a token of text, in bytes: 3,915 -> 3,584.25 and 5,609.25 -> 5,136.75 in all caches of the
// whole context, 708.75 -> 378 and 1,012.5 -> 540 of them for the indexer.
TEST(Published, CostOfATokenOfV4) {
  struct {
    std::string_view model;
    IndexerFormat indexer;
    std::int64_t full, indexer_bytes, unpadded;  // hundredths
  } constexpr kCases[] = {{"deepseek-v4-flash", kFp8, 391'500, 70'875, 69'300},
                          {"deepseek-v4-flash", kMxfp4, 358'425, 37'800, 35'700},
                          {"deepseek-v4-pro", kFp8, 560'925, 101'250, 99'000},
                          {"deepseek-v4-pro", kMxfp4, 513'675, 54'000, 51'000}};
  for (const auto& each : kCases) {
    const Plan plan = PlanOf(RequestFor(each.model), each.indexer);
    EXPECT_EQ(plan.span_tokens, 256);
    EXPECT_EQ(plan.full_group_bytes * 100, each.full * 256);
    EXPECT_EQ(plan.indexer_bytes * 100, each.indexer_bytes * 256);
    EXPECT_EQ(plan.indexer_unpadded_bytes * 100, each.unpadded * 256);
  }
}

// TRT-LLM #15088 counted 78 * (1152 + 264) for GLM-5; there are keys only: 78 * (1152 + 132).
TEST(Published, CostOfATokenOfGlm5) {
  Request request = RequestFor("glm-5");
  request.latent_format = "bf16";
  const Plan plan = PlanOf(request, kFp8);
  EXPECT_EQ(plan.full_group_bytes, 100'152 * plan.span_tokens);
  EXPECT_EQ(plan.block_bytes, 100'152 * 64);
}

TEST(Published, SharedLayersHaveNoIndexerCache) {
  const Plan fp8 = PlanOf(RequestFor("glm-5.2"), kFp8);
  const Plan mxfp4 = PlanOf(RequestFor("glm-5.2"), kMxfp4);
  EXPECT_EQ(fp8.indexer_bytes, 21 * 132 * 64);
  EXPECT_EQ(mxfp4.indexer_bytes, 21 * 68 * 64);
  EXPECT_EQ(fp8.full_group_bytes, (78 * 656 + 21 * 132) * 64);
}

TEST(Published, V32HasOneGroupWithoutPadding) {
  const Plan plan = PlanOf(RequestFor("deepseek-v3.2"), kFp8);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.block_bytes, 61 * 64 * (656 + 132));
  EXPECT_EQ(plan.request_blocks, 163'840 / 64);
}

// vLLM #44376, before the overlay: V4-Flash, 30,000 tokens, 2 batches of 8,192. The check asked for
// "6.66 GiB", at 22 sets of the whole context's three page sizes a block, and found that "5.44 GiB"
// hold 13,528 tokens.
TEST(Published, BlocksThatTheStartChecks) {
  constexpr std::int64_t kCheckedBlock = 22 * (37'440 + 8'640 + 1'728);
  Request request = RequestFor("deepseek-v4-flash");
  request.max_model_len = 30'000;
  const Plan plan = PlanOf(request, kFp8);
  EXPECT_EQ(plan.request_blocks, 6'800);
  EXPECT_EQ((plan.request_blocks * kCheckedBlock * 100 + kGiB / 2) / kGiB, 666);
  request.max_model_len = 13'528;
  const std::int64_t held = PlanOf(request, kFp8).request_blocks;
  request.max_model_len = 13'529;
  EXPECT_GT(PlanOf(request, kFp8).request_blocks, held);
  EXPECT_EQ((held * kCheckedBlock * 100 + kGiB / 2) / kGiB, 544);
}

// Five groups: windows are cut in two, 22 and 21 layers.
TEST(Published, GroupsOfV4Flash) {
  const Plan plan = PlanOf(RequestFor("deepseek-v4-flash"), kFp8);
  EXPECT_EQ(plan.repeats, 22);
  ASSERT_EQ(plan.groups.size(), 5u);
  EXPECT_EQ(plan.groups[1].members[0].layers.size(), 22u);
  EXPECT_EQ(plan.groups[2].members[0].layers.size(), 21u);
  EXPECT_EQ(plan.groups[1].members[0].layers[1], 2) << "every second layer";
  const Plan pro = PlanOf(RequestFor("deepseek-v4-pro"), kFp8);
  EXPECT_EQ(pro.repeats, 31);
  EXPECT_EQ(pro.groups.size(), 5u);
}

}  // namespace
}  // namespace lijit::capacity
