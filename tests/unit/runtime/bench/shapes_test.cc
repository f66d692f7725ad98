// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "lijit/bench.h"

namespace lijit {
namespace {

BenchShape Prefill(std::int64_t queries, std::int64_t keys, bool causal) {
  return {.op = "ragged", .queries = queries, .keys = keys, .causal = causal};
}

TEST(BenchShapes, PairsAreWhatRowsSee) {
  EXPECT_EQ(Prefill(3, 5, false).pairs(), 15);
  EXPECT_EQ(Prefill(3, 5, true).pairs(), 3 + 4 + 5);
  EXPECT_EQ(Prefill(5, 3, true).pairs(), 0 + 0 + 1 + 2 + 3);
  EXPECT_EQ((BenchShape{.batch = 4, .context = 10}).pairs(), 40);
  EXPECT_EQ((BenchShape{.batch = 4, .context = 10, .next_n = 3}).pairs(), 4 * (8 + 9 + 10));
  EXPECT_EQ((BenchShape{.batch = 1, .context = 1, .next_n = 3}).pairs(), 1);
}

TEST(BenchShapes, DeepGemmHasSixtyFour) {
  const auto shapes = NamedShapes("deepgemm").value();
  EXPECT_EQ(shapes.size(), 64u);
  EXPECT_EQ(std::count_if(shapes.begin(), shapes.end(),
                          [](const BenchShape& shape) { return shape.is_paged(); }),
            48);
  EXPECT_EQ(shapes[0], Prefill(2048, 4096, true));
  // No row twice.
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(std::count(shapes.begin(), shapes.end(), shapes[i]), 1) << i;
  }
  EXPECT_EQ(NamedShapes("shallowgemm").error().message,
            "no shapes are called 'shallowgemm'; accepted is deepgemm");
}

}  // namespace
}  // namespace lijit
