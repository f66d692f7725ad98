// SPDX-License-Identifier: Apache-2.0
// Selection: exact sets, ties, signs, NaN, bounds.
#include <climits>
#include <random>

#include "compiler/support/float_text.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

using Indices = std::vector<std::int32_t>;

class TopK : public IndexerTest {
 protected:
  static TestIndexer& Any() { return TestIndexer::Of(Small("fp8_e4m3")); }
  static Indices Select(TopKOptions options) {
    TopKCase c(Any(), std::move(options));
    c.Check();
    return c.got;
  }
};

const float kNan = FloatFromBits(0x7fc00001u);

TEST_F(TopK, EveryCount) {
  const std::vector<float> logits = RandomRows(2, 5000, 1);
  for (const int k : {1, 2, 31, 32, 33, 255, 256, 257, 1000, 2048, 4095, 4096}) {
    Select({.logits = logits, .columns = 5000, .k = k});
  }
}

TEST_F(TopK, RowsWithFewerColumnsThanWanted) {
  EXPECT_EQ(Select({.logits = {1, 2, 3}, .k = 5}), (Indices{0, 1, 2, -1, -1}));
  EXPECT_EQ(Select({.logits = {1, 2, 3}, .k = 3}), (Indices{0, 1, 2}));
  EXPECT_EQ(Select({.logits = {1, 2, 3}, .k = 2, .ends = {0}}), (Indices{-1, -1}));
  EXPECT_EQ(Select({.logits = {1, 2, 3}, .k = 2, .ends = {-4}}), (Indices{-1, -1}));
  EXPECT_EQ(Select({.logits = RandomRows(1, 300, 1), .k = 4096}).back(), -1);
}

TEST_F(TopK, TiesGoToTheLowestColumns) {
  EXPECT_EQ(Select({.logits = {5, 5, 5, 5}, .k = 2}), (Indices{0, 1}));
  EXPECT_EQ(Select({.logits = {1, 7, 1, 1, 1}, .k = 3}), (Indices{0, 1, 2}));
  Select({.logits = std::vector<float>(3000, 0.5f), .columns = 1500, .k = 700});
  std::vector<float> two_values(2000);
  for (std::size_t i = 0; i < two_values.size(); ++i) two_values[i] = i % 3 == 0 ? 2.f : 1.f;
  Select({.logits = two_values, .k = 1000});
}

TEST_F(TopK, NanIsLessThanEveryNumber) {
  EXPECT_EQ(Select({.logits = {kNan, -kInfinity, kNan, 1}, .k = 2}), (Indices{1, 3}));
  EXPECT_EQ(Select({.logits = {-kNan, kNan, -3}, .k = 2}), (Indices{0, 2}));
  EXPECT_EQ(Select({.logits = {kNan, kNan, kNan}, .k = 2}), (Indices{0, 1}));
}

TEST_F(TopK, SignedZerosAndInfinities) {
  EXPECT_EQ(Select({.logits = {-0.f, 0.f, -0.f, 0.f}, .k = 2}), (Indices{1, 3}));
  EXPECT_EQ(Select({.logits = {0.f, -0.f, 0x1p-149f, -0x1p-149f}, .k = 2}), (Indices{0, 2}));
  EXPECT_EQ(Select({.logits = {-kInfinity, kInfinity, 3e38f, -kInfinity}, .k = 3}),
            (Indices{0, 1, 2}));
}

TEST_F(TopK, NumbersThatDifferInTheLowBitsOnly) {
  std::vector<float> logits(1500);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = FloatFromBits(0x3f800000u + static_cast<std::uint32_t>(i * 7919 % 1500));
  }
  Select({.logits = logits, .k = 40});
  for (float& logit : logits) logit = -logit;
  Select({.logits = logits, .k = 40});
}

// Every byte of a number decides somewhere.
TEST_F(TopK, RandomBits) {
  std::mt19937 random(1);
  std::vector<float> logits(4 * 1000);
  for (float& logit : logits) logit = FloatFromBits(static_cast<std::uint32_t>(random()));
  Select({.logits = logits, .columns = 1000, .k = 333});
}

TEST_F(TopK, IndicesAreRelativeToTheStart) {
  const TopKOptions options = {.logits = RandomRows(6, 300, 2),
                               .columns = 300,
                               .k = 20,
                               .starts = {0, 100, 299, 50, 300, 17},
                               .ends = {50, 180, 300, 50, 400, 1000}};
  const Indices local = Select(options);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_LT(local[20 + i] + 100, 180);
    EXPECT_EQ(local[40 + i], i == 0 ? 0 : -1);
  }
}

// Local index plus start is the column even where the start is before the first one.
TEST_F(TopK, StartsBelowZero) {
  EXPECT_EQ(Select({.logits = {1, 9, 2}, .k = 1, .starts = {-5}}), Indices{6});
  EXPECT_EQ(Select({.logits = {1, 9, 2}, .k = 4, .starts = {-5}}), (Indices{5, 6, 7, -1}));
  Select({.logits = {1, 9, 2}, .k = 2, .starts = {INT_MIN + 1}});
}

TEST_F(TopK, ColumnsBehindTheEndAreNeverSelected) {
  std::vector<float> logits = RandomRows(2, 300, 3);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (i % 300 < 20 || i % 300 >= 200) logits[i] = 1e30f;
  }
  for (const int k : {4, 180, 250}) {
    Select({.logits = logits, .columns = 300, .k = k, .starts = {20, 20}, .ends = {200, 200}});
  }
}

TEST_F(TopK, LengthsOfRequests) {
  TopKCase c(Any(), {.logits = RandomRows(6, 100, 4),
                     .columns = 100,
                     .k = 7,
                     // what rows 0..2 of requests with 2, 90 and 300 tokens see, one entry for 3
                     .ends = {0, 0, 29, 30, 99, 100}});
  TestMemory memory(Any().device());
  c.arguments.ends = memory.Put(Indices{2, 90, 300}, {3});
  c.arguments.next_n = 2;
  c.arguments.ratio = 3;
  c.Check();
  c.arguments.ends = memory.Put(Indices{0, 0, 29, 30, 99, 100}, {3, 2}, {4, 2});
  c.Check();
}

}  // namespace
}  // namespace lijit::tests
