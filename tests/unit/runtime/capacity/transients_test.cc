// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

Transients TransientsOf(const Request& request, IndexerFormat format) {
  Result<Transients> transients = MakeTransients(PlanOf(request, format));
  if (!transients) ADD_FAILURE() << transients.error().message;
  return transients ? *transients : Transients{};
}

const Buffer& BufferOf(const Phase& phase, std::string_view name) {
  for (const Buffer& buffer : phase.buffers) {
    if (buffer.name == name) return buffer;
  }
  ADD_FAILURE() << phase.name << " has no " << name;
  static const Buffer none;
  return none;
}

// SGLang #35201 ran out of memory in logits that nobody had counted: 8192 queries by 655,360 keys
// of f32 are 20 GiB.
TEST(Transients, LogitsOfALongPrefill) {
  Request request = RequestFor("deepseek-v3.2");
  request.max_model_len = 655'360;
  request.batched_tokens = 8192;
  const Phase prefill = TransientsOf(request, IndexerFormat::kFp8).phases[0];
  EXPECT_EQ(BufferOf(prefill, "logits").bytes, 20 * kGiB);
  EXPECT_EQ(BufferOf(prefill, "logits").fused_bytes, 0);
  EXPECT_EQ(BufferOf(prefill, "top-k scratch").fused_bytes, 8192 * 2048 * 8);
  EXPECT_EQ(prefill.bytes - prefill.fused_bytes, 20 * kGiB - 8192 * 2048 * 8);
}

TEST(Transients, TileKeepsToItsBudget) {
  Request request = RequestFor("deepseek-v3.2");
  request.max_model_len = 655'360;
  request.transient_budget = 8 * kGiB;
  const Transients transients = TransientsOf(request, IndexerFormat::kFp8);
  ASSERT_TRUE(transients.tile);
  const Tile& tile = *transients.tile;
  EXPECT_EQ(tile.row_bytes, 655'360 * 4);
  EXPECT_GT(tile.rows, 0);
  EXPECT_LE(tile.fixed_bytes + tile.rows * tile.row_bytes, tile.budget);
  EXPECT_GT(tile.fixed_bytes + (tile.rows + 1) * tile.row_bytes, tile.budget);
  EXPECT_EQ(tile.tiles, (8192 + tile.rows - 1) / tile.rows);
}

TEST(Transients, TileOfNoRowsSaysThatNoneFits) {
  Request request = RequestFor("deepseek-v3.2");
  request.transient_budget = 1;
  const Transients transients = TransientsOf(request, IndexerFormat::kFp8);
  ASSERT_TRUE(transients.tile);
  EXPECT_EQ(transients.tile->rows, 0);
  EXPECT_EQ(transients.tile->tiles, 0);
}

TEST(Transients, TileIsNoLargerThanTheBatch) {
  Request request = RequestFor("deepseek-v4-flash");
  request.transient_budget = std::int64_t{1} << 60;
  const Transients transients = TransientsOf(request, IndexerFormat::kFp8);
  EXPECT_EQ(transients.tile->rows, 8192);
  EXPECT_EQ(transients.tile->tiles, 1);
}

// Compressed keys: a quarter of the context. 132 and 68 bytes each; 40 contexts are gathered.
TEST(Transients, GatheredKeysOfV4) {
  const Request request = RequestFor("deepseek-v4-flash");
  const std::int64_t keys = std::int64_t{40} * 1'048'576 / 4;
  const Phase fp8 = TransientsOf(request, IndexerFormat::kFp8).phases[0];
  const Phase mxfp4 = TransientsOf(request, IndexerFormat::kMxfp4).phases[0];
  EXPECT_EQ(BufferOf(fp8, "gathered keys").bytes, keys * 132);
  EXPECT_EQ(BufferOf(mxfp4, "gathered keys").bytes, keys * 68);
  EXPECT_EQ(BufferOf(fp8, "queries").bytes, 8192 * 64 * (128 + 4));
  EXPECT_EQ(BufferOf(mxfp4, "queries").bytes, 8192 * 64 * (64 + 4 + 4));
}

TEST(Transients, DecodeHasARowForEachToken) {
  Request request = RequestFor("deepseek-v4-pro");
  request.concurrency = 32;
  request.next_n = 4;
  const Phase decode = TransientsOf(request, IndexerFormat::kMxfp4).phases[1];
  EXPECT_EQ(decode.name, "decode");
  EXPECT_EQ(BufferOf(decode, "logits").bytes, 128 * (1'048'576 / 4) * 4);
  EXPECT_EQ(BufferOf(decode, "top-k indices").bytes, 128 * 1024 * 4);
}

TEST(Transients, PeakIsTheLargerPhase) {
  Request request = RequestFor("deepseek-v4-flash");
  EXPECT_EQ(TransientsOf(request, IndexerFormat::kFp8).peak_phase, "prefill");
  request.concurrency = 100'000;
  const Transients transients = TransientsOf(request, IndexerFormat::kFp8);
  EXPECT_EQ(transients.peak_phase, "decode");
  EXPECT_EQ(transients.peak_bytes, transients.phases[1].bytes);
}

TEST(Transients, SumsAreTheirBuffers) {
  for (const Model& model : Models()) {
    for (const Phase& phase : TransientsOf(RequestFor(model.name), IndexerFormat::kFp8).phases) {
      std::int64_t bytes = 0, fused_bytes = 0;
      for (const Buffer& buffer : phase.buffers) {
        bytes += buffer.bytes;
        fused_bytes += buffer.fused_bytes;
      }
      EXPECT_EQ(phase.bytes, bytes);
      EXPECT_EQ(phase.fused_bytes, fused_bytes);
    }
  }
}

TEST(Transients, AModelWithoutIndexerHasNone) {
  Request request = RequestFor("deepseek-v3.2");
  request.model.caches.pop_back();
  EXPECT_TRUE(TransientsOf(request, IndexerFormat::kFp8).phases.empty());
}

}  // namespace
}  // namespace lijit::capacity
