// SPDX-License-Identifier: Apache-2.0
// Kernels on arrays: where rows lie, what is masked, and that the parts agree with one another.
#include "compiler/ir/evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "compiler/ir/evaluate_codes.h"
#include "compiler/support/float_text.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::ir {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint8_t kUntouched = 0xcc;

std::vector<float> RandomNumbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& x : numbers) x = normal(random);
  return numbers;
}

// A cache of `count` pages with some bytes between them.
struct Cache {
  Cache(const Module& module, std::int64_t count) : count_(count) {
    const Kernel& writer = *module.FindKernel("write_cache");
    const Type& row = writer.results[0];
    stride_ = module.layouts[0].PageBytes(module.FormatOf(row.format), row.dim) + 192;
    bytes_.assign(static_cast<std::size_t>(stride_ * count), kUntouched);
  }
  Pages pages() { return {bytes_, stride_, count_}; }
  ConstPages pages() const { return {bytes_, stride_, count_}; }

  std::int64_t count_;
  std::int64_t stride_;
  std::vector<std::uint8_t> bytes_;
};

TEST(Evaluator, WriteCachePutsRowsWhereThePageContractSays) {
  const Module module = IndexerOf("mxfp4");
  Cache cache(module, 3);
  ASSERT_EQ(cache.stride_, 4352 + 192);
  const auto x = RandomNumbers(3 * 128, 1);
  // Page 1 token 5; skipped; page 2 token 63.
  const std::vector<std::int64_t> slots = {64 + 5, -1, 191};
  EvaluateWriteCache(module, *module.FindKernel("write_cache"), x, slots, cache.pages());
  std::vector<std::uint8_t> expected(cache.bytes_.size(), kUntouched);
  const FormatCodes codes(FormatNamed("mxfp4"));
  const auto put = [&](std::size_t token, std::size_t page, std::size_t at) {
    const StoredRow row = codes.Encode(std::span(x).subspan(token * 128, 128));
    const std::size_t base = page * (4352 + 192);
    std::copy(row.values.begin(), row.values.end(),
              expected.begin() + static_cast<std::ptrdiff_t>(base + at * 64));
    std::copy(row.scales.begin(), row.scales.end(),
              expected.begin() + static_cast<std::ptrdiff_t>(base + 64 * 64 + at * 4));
  };
  put(0, 1, 5);
  put(2, 2, 63);
  EXPECT_EQ(cache.bytes_, expected);
}

TEST(Evaluator, WriteCacheSkipsSlotsOutsideOfThePool) {
  const Module module = IndexerOf("fp8_e4m3");
  Cache cache(module, 2);
  const std::vector<std::int64_t> slots = {-1, -64, 128, std::int64_t{1} << 40,
                                           std::numeric_limits<std::int64_t>::min()};
  EvaluateWriteCache(module, *module.FindKernel("write_cache"), RandomNumbers(5 * 128, 2), slots,
                     cache.pages());
  EXPECT_EQ(cache.bytes_, std::vector<std::uint8_t>(cache.bytes_.size(), kUntouched));
}

TEST(Evaluator, InterleavedPagesKeepARowsScalesBehindItsValues) {
  const Module module = ModuleOf(
      AllFormatsText() +
      "layout @pages { tokens = 16, order = interleaved } "
      "kernel @write_cache : write_cache layout @pages (%x: vec<32 x f32>) -> (row<32 x @mxfp4>) { "
      "%r, %s = encode %x : row<32 x @mxfp4>, f32 yield %r }");
  Cache cache(module, 1);
  std::vector<float> x(32);
  x[1] = 6;
  EvaluateWriteCache(module, module.kernels[0], x, std::vector<std::int64_t>{3}, cache.pages());
  EXPECT_EQ(cache.bytes_[3 * 20], 0x70);
  EXPECT_EQ(cache.bytes_[3 * 20 + 16], 127);
  EXPECT_EQ(cache.bytes_[3 * 20 + 20], kUntouched);
}

TEST(Evaluator, GatherReadsWhatWasWritten) {
  for (const char* format : {"fp8_e4m3", "mxfp4", "nvfp4", "mxfp8", "bf16"}) {
    const Module module = IndexerOf(format);
    Cache cache(module, 4);
    const auto x = RandomNumbers(3 * 64 * 128, 3);
    std::vector<std::int64_t> slots(192);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      slots[i] = std::vector{3, 0, 2}[i / 64] * 64 + static_cast<std::int64_t>(i % 64);
    }
    EvaluateWriteCache(module, *module.FindKernel("write_cache"), x, slots, cache.pages());
    // Sequence 0 is 70 long on pages 3 and 0, sequence 1 is 2 long on page 2.
    const std::vector<std::int32_t> table = {3, 0, -7, 2, 99, -7};
    const auto rows = EvaluateGatherCache(module, *module.FindKernel("gather_cache"),
                                          std::as_const(cache).pages(), {table, 3, 2},
                                          std::vector<std::int32_t>{0, 70, 72});
    const FormatCodes codes(FormatNamed(format));
    std::vector<std::uint8_t> values;
    std::vector<std::uint8_t> scales;
    for (std::size_t n = 0; n < 72; ++n) {
      const std::size_t token = n < 70 ? n : 128 + n - 70;
      const StoredRow row = codes.Encode(std::span(x).subspan(token * 128, 128));
      values.insert(values.end(), row.values.begin(), row.values.end());
      scales.insert(scales.end(), row.scales.begin(), row.scales.end());
    }
    EXPECT_EQ(rows.values, values) << format;
    EXPECT_EQ(rows.scales, scales) << format;
  }
}

TEST(Evaluator, GatherOfMissingPagesIsZero) {
  const Module module = IndexerOf("fp8_e4m3");
  Cache cache(module, 1);
  const std::vector<std::int32_t> table = {0, 1, -1, 0};
  // Page 1 and -1 are not in the pool; column 4 is not in the table.
  const auto rows =
      EvaluateGatherCache(module, *module.FindKernel("gather_cache"), std::as_const(cache).pages(),
                          {table, 4, 4}, std::vector<std::int32_t>{0, 300});
  for (std::size_t n = 0; n < 300; ++n) {
    const bool missing = (n >= 64 && n < 192) || n >= 256;
    EXPECT_EQ(rows.values[n * 128 + 127], missing ? 0 : kUntouched) << n;
    EXPECT_EQ(rows.scales[n * 4], missing ? 0 : kUntouched) << n;
  }
}

TEST(Evaluator, QueryScaleIsFoldedIntoTheWeightIfItIsNotStored) {
  const std::vector<float> w = {3, -5};
  std::vector<float> x(2 * 128);
  x[0] = 896;
  x[128] = 448;
  const float folds = 1.0f * static_cast<float>(1 / std::sqrt(128.0)) * 0.125f;
  const std::vector<ParameterOverride> parameters = {{"weight", "f32"}};
  const Module fp8 = IndexerOf("fp8_e4m3", parameters);
  const auto folded = EvaluateQuantizeQuery(fp8, *fp8.FindKernel("quantize_query"), 2, x, w);
  EXPECT_EQ(folded.weights, (std::vector<float>{3 * 2.0f * folds, -5 * folds}));
  EXPECT_TRUE(folded.rows.scales.empty());
  const Module fp4 = IndexerOf("mxfp4", parameters);
  const auto stored = EvaluateQuantizeQuery(fp4, *fp4.FindKernel("quantize_query"), 2, x, w);
  EXPECT_EQ(stored.weights, (std::vector<float>{3 * folds, -5 * folds}));
  EXPECT_EQ(stored.rows.scales.size(), 8u);
}

TEST(Evaluator, RopeRowFollowsTheTokensPosition) {
  const Module module = ModuleOf(AllFormatsText() + std::string(ShippedText("rotated.lir")),
                                 {{"format", "@bf16"}, {"input", "f32"}});
  const Kernel& kernel = *module.FindKernel("write_cache");
  Cache cache(module, 1);
  // Position 0 does not turn, position 1 turns every pair by half.
  std::vector<float> cos_sin(128);
  std::fill(cos_sin.begin(), cos_sin.begin() + 32, 1.0f);
  std::fill(cos_sin.begin() + 64, cos_sin.begin() + 96, -1.0f);
  std::vector<float> x(2 * 128);
  x[0] = x[128] = 8;
  const std::vector<std::int64_t> slots = {0, 1};
  const std::vector<std::int64_t> positions = {1, 0};
  EvaluateWriteCache(module, kernel, x, slots, cache.pages(), {cos_sin, positions});
  const FormatCodes codes(FormatNamed("bf16"));
  const auto first = codes.Decode(std::span(cache.bytes_).first(256), {}, 128);
  const auto second = codes.Decode(std::span(cache.bytes_).subspan(256, 256), {}, 128);
  EXPECT_LT(first.elements[0], 0);
  EXPECT_EQ(first.elements[0], -second.elements[0]);
}

// Random queries and keys in the form that the logits kernels take.
struct Problem {
  Problem(const Module& module, int tokens, int heads, int keys)
      : query(
            EvaluateQuantizeQuery(module, *module.FindKernel("quantize_query"), heads,
                                  RandomNumbers(static_cast<std::size_t>(tokens * heads * 128), 4),
                                  RandomNumbers(static_cast<std::size_t>(tokens * heads), 5))),
        cache(module, (keys + 63) / 64) {
    std::vector<std::int64_t> slots(static_cast<std::size_t>(keys));
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = static_cast<std::int64_t>(i);
    EvaluateWriteCache(module, *module.FindKernel("write_cache"),
                       RandomNumbers(slots.size() * 128, 6), slots, cache.pages());
    table.resize(static_cast<std::size_t>(cache.count_));
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] = static_cast<std::int32_t>(table.size() - 1 - i);
    }
    gathered = EvaluateGatherCache(
        module, *module.FindKernel("gather_cache"), std::as_const(cache).pages(),
        {table, cache.count_, cache.count_}, std::vector<std::int32_t>{0, keys});
  }
  RowsView q() const { return {query.rows.values, query.rows.scales}; }
  RowsView k() const { return {gathered.values, gathered.scales}; }

  EvaluatedQuery query;
  Cache cache;
  std::vector<std::int32_t> table;
  EvaluatedRows gathered;
};

// sum_h w_h * relu(q_h . k) * scale in double, of decoded rows.
double DoubleLogit(const Format& format, const Problem& p, int heads, std::size_t t,
                   std::size_t n) {
  const FormatCodes codes(format);
  const auto row = [&](RowsView view, std::size_t index, std::size_t scale_bytes) {
    const auto bytes = static_cast<std::size_t>(format.ValueBytes(128));
    return codes.Decode(view.values.subspan(index * bytes, bytes),
                        view.scales.subspan(index * scale_bytes, scale_bytes), 128);
  };
  const StoredRow key = row(p.k(), n, static_cast<std::size_t>(format.ScaleBytes(128)));
  const auto size = static_cast<std::size_t>(format.BlockSize(128));
  const auto scale_of = [&](const StoredRow& r, std::size_t i) {
    return format.block_scale ? double{r.block_scales[i / size]} : 1.0;
  };
  double logit = 0;
  for (std::size_t h = 0; h < static_cast<std::size_t>(heads); ++h) {
    const std::size_t at = t * static_cast<std::size_t>(heads) + h;
    const StoredRow q = row(p.q(), at, static_cast<std::size_t>(format.BlockScaleBytes(128)));
    double dot = 0;
    for (std::size_t i = 0; i < 128; ++i) {
      dot += double{q.elements[i]} * key.elements[i] * scale_of(q, i) * scale_of(key, i);
    }
    logit += std::max(dot, 0.0) * p.query.weights[at];
  }
  return logit * key.row_scale;
}

TEST(Evaluator, LogitsAreTheScore) {
  for (const Format& format : AllFormats().formats) {
    const Module module = IndexerOf(format.name, {{"heads", "16"}, {"weight", "f32"}});
    const Problem p(module, 2, 16, 70);
    const auto logits = EvaluateLogitsRagged(
        module, *module.FindKernel("logits_ragged"), p.q(), p.k(), p.query.weights,
        std::vector<std::int32_t>{0, 0}, std::vector<std::int32_t>{70, 70}, 70);
    for (std::size_t t = 0; t < 2; ++t) {
      for (std::size_t n = 0; n < 70; ++n) {
        const double expected = DoubleLogit(format, p, 16, t, n);
        ASSERT_NEAR(logits[t * 70 + n], expected, 2e-5 * std::max(1.0, std::fabs(expected)))
            << format.name;
      }
    }
  }
}

TEST(Evaluator, PagedAgreesWithRaggedOnGatheredKeys) {
  for (const char* format : {"fp8_e4m3", "mxfp4", "nvfp4"}) {
    const Module module = IndexerOf(format, {{"heads", "8"}});
    const Problem p(module, 3, 8, 150);
    const std::vector<std::int32_t> starts = {0, 0, 0};
    const std::vector<std::int32_t> ends = {148, 149, 150};
    const auto ragged = EvaluateLogitsRagged(module, *module.FindKernel("logits_ragged"), p.q(),
                                             p.k(), p.query.weights, starts, ends, 160);
    std::vector<std::int64_t> visible;
    for (int j = 0; j < 3; ++j) visible.push_back(VisibleKeys(150, 3, j, 1));
    const auto paged =
        EvaluateLogitsPaged(module, *module.FindKernel("logits_paged"), p.q(), 3, p.cache.pages(),
                            {p.table, 3, 3}, p.query.weights, visible, 160);
    EXPECT_EQ(paged, ragged);
    EXPECT_TRUE(std::isfinite(paged[147]));
    EXPECT_EQ(paged[148], -kInf);
  }
}

TEST(Evaluator, LogitsAreMaskedOutsideOfTheBounds) {
  const Module module = IndexerOf("mxfp4", {{"heads", "8"}});
  const Problem p(module, 4, 8, 64);
  const std::vector<std::int32_t> starts = {-5, 10, 30, 60};
  const std::vector<std::int32_t> ends = {3, 12, 30, 1000};
  const auto logits = EvaluateLogitsRagged(module, *module.FindKernel("logits_ragged"), p.q(),
                                           p.k(), p.query.weights, starts, ends, 70);
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::int32_t n = 0; n < 70; ++n) {
      const bool valid = n >= starts[t] && n < ends[t] && n < 64;
      EXPECT_EQ(std::isfinite(logits[t * 70 + static_cast<std::size_t>(n)]), valid)
          << t << " " << n;
    }
  }
}

TEST(Evaluator, PagedLogitsOfMissingPagesAreMasked) {
  const Module module = IndexerOf("fp8_e4m3", {{"heads", "8"}});
  const Problem p(module, 1, 8, 64);
  const std::vector<std::int32_t> table = {0, 7, -1, 0};
  const auto logits =
      EvaluateLogitsPaged(module, *module.FindKernel("logits_paged"), p.q(), 1, p.cache.pages(),
                          {table, 4, 4}, p.query.weights, std::vector<std::int64_t>{300}, 320);
  for (std::size_t n = 0; n < 320; ++n) {
    EXPECT_EQ(std::isfinite(logits[n]), n < 64 || (n >= 192 && n < 256)) << n;
  }
}

TEST(Evaluator, EmptyBatchesAreOrdinary) {
  const Module module = IndexerOf("mxfp4");
  Cache cache(module, 0);
  EXPECT_TRUE(EvaluateQuantizeQuery(module, *module.FindKernel("quantize_query"), 64, {}, {})
                  .weights.empty());
  EvaluateWriteCache(module, *module.FindKernel("write_cache"), {}, {}, cache.pages());
  const auto rows =
      EvaluateGatherCache(module, *module.FindKernel("gather_cache"), std::as_const(cache).pages(),
                          {}, std::vector<std::int32_t>{0});
  EXPECT_TRUE(rows.values.empty());
  EXPECT_TRUE(
      EvaluateLogitsRagged(module, *module.FindKernel("logits_ragged"), {}, {}, {}, {}, {}, 10)
          .empty());
  EXPECT_TRUE(EvaluateTopK(module, *module.FindKernel("top_k"), {}, {}, {}, 4).empty());
}

TEST(Evaluator, VisibleKeysCountsFromTheEnd) {
  EXPECT_EQ(VisibleKeys(10, 1, 0, 1), 10);
  EXPECT_EQ(VisibleKeys(10, 4, 0, 1), 7);
  EXPECT_EQ(VisibleKeys(10, 4, 3, 1), 10);
  EXPECT_EQ(VisibleKeys(2, 4, 0, 1), 0);
  EXPECT_EQ(VisibleKeys(0, 1, 0, 1), 0);
  EXPECT_EQ(VisibleKeys(10, 1, 0, 4), 2);
  EXPECT_EQ(VisibleKeys(12, 1, 0, 4), 3);
}

std::vector<std::int32_t> TopK(const std::vector<float>& logits, std::int32_t start,
                               std::int32_t end, int k) {
  const Module module = IndexerOf("mxfp4");
  const auto columns = static_cast<std::int64_t>(logits.size());
  return EvaluateTopK(module, *module.FindKernel("top_k"), {logits, columns, columns},
                      std::vector<std::int32_t>{start}, std::vector<std::int32_t>{end}, k);
}

using Indices = std::vector<std::int32_t>;

TEST(Evaluator, TopKIsExact) {
  EXPECT_EQ(TopK({1, 5, 3, 4, 2}, 0, 5, 3), (Indices{1, 2, 3}));
  EXPECT_EQ(TopK({1, 5, 3, 4, 2}, 2, 5, 2), (Indices{0, 1}));  // relative to the start
  EXPECT_EQ(TopK({1, 5, 3, 4, 2}, 0, 2, 4), (Indices{0, 1, -1, -1}));
  EXPECT_EQ(TopK({1, 5, 3}, 2, 2, 2), (Indices{-1, -1}));
  EXPECT_EQ(TopK({1, 5, 3}, 0, 100, 2), (Indices{1, 2}));
  EXPECT_EQ(TopK({1, 5, 3}, -2, 2, 2), (Indices{2, 3}));
}

TEST(Evaluator, TopKTiesGoToTheLowestColumns) {
  EXPECT_EQ(TopK({7, 7, 7, 7}, 0, 4, 2), (Indices{0, 1}));
  EXPECT_EQ(TopK({1, 7, 9, 7, 7}, 0, 5, 3), (Indices{1, 2, 3}));
  EXPECT_EQ(TopK({-0.0f, 0, -0.0f, 0}, 0, 4, 2), (Indices{1, 3}));
}

TEST(Evaluator, TopKPutsNanLast) {
  EXPECT_EQ(TopK({kNan, -kInf, 1, -kNan}, 0, 4, 2), (Indices{1, 2}));
  EXPECT_EQ(TopK({-kNan, kNan, -kInf, kNan}, 0, 4, 3), (Indices{0, 1, 2}));
}

TEST(Evaluator, NanIsCanonicalInLogits) {
  const Module module = IndexerOf("mxfp4", {{"heads", "8"}});
  Problem p(module, 1, 8, 2);
  p.gathered.scales[0] = 255;
  const auto logits = EvaluateLogitsRagged(module, *module.FindKernel("logits_ragged"), p.q(),
                                           p.k(), p.query.weights, std::vector<std::int32_t>{0},
                                           std::vector<std::int32_t>{2}, 2);
  EXPECT_EQ(BitsOfFloat(logits[0]), 0x7fffffffu);
  EXPECT_TRUE(std::isfinite(logits[1]));
}

}  // namespace
}  // namespace lijit::ir
