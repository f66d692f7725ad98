// SPDX-License-Identifier: Apache-2.0
// Block scales that no quantizer here would write, in queries and keys.
#include <cmath>

#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

class Scales : public IndexerTest {};

constexpr std::uint8_t kCodes[] = {0, 1, 103, 112, 113, 127, 142, 254, 255};
constexpr int kCount = std::size(kCodes);

// Row r has code r in all its blocks, as query and as key.
std::vector<std::uint8_t> CodesOfRows(int rows_a_code) {
  std::vector<std::uint8_t> codes;
  for (const std::uint8_t code : kCodes) codes.insert(codes.end(), Size(rows_a_code) * 4, code);
  return codes;
}

TEST_F(Scales, B68_EveryPairOfBytes) {
  for (const char* target : {"sm_86", "sm_120f"}) {
    TestIndexer& indexer = TestIndexer::Of(Small("mxfp4"), target);
    TestCache cache(indexer, {.lengths = std::vector<int>(kCount, kCount)});
    for (int b = 0; b < kCount; ++b) {
      for (int n = 0; n < kCount; ++n) {
        for (int block = 0; block < 4; ++block) cache.SetScale(b, n, block, kCodes[n]);
      }
    }
    PagedCase paged(cache, {.scoring = {.q_scales = CodesOfRows(8)}});
    paged.Check();
    for (int row = 0; row < kCount; ++row) {
      for (int n = 0; n < kCount; ++n) {
        if (kCodes[row] != 255 && kCodes[n] != 255) continue;
        EXPECT_TRUE(std::isnan(paged.got()[Size(row * kCount + n)])) << row << " " << n;
      }
    }
  }
}

// One block of one head is enough to make a logit NaN, and no other one.
TEST_F(Scales, NanOfOneBlock) {
  TestIndexer& indexer = TestIndexer::Of(Small("mxfp4"));
  TestCache cache(indexer, {.lengths = {65}});
  cache.SetScale(0, 7, 2, 255);
  PagedCase paged(cache);
  paged.Check();
  for (std::size_t n = 0; n < 65; ++n) EXPECT_EQ(std::isnan(paged.got()[n]), n == 7) << n;
}

// Blocks whose scales differ as much as they can: small terms are rounded away in order.
TEST_F(Scales, MixedWithinARow) {
  TestIndexer& indexer = TestIndexer::Of(Small("mxfp4"));
  TestCache cache(indexer, {.lengths = {70}});
  for (int n = 0; n < 70; ++n) {
    for (int block = 0; block < 4; ++block) {
      cache.SetScale(0, n, block, static_cast<std::uint8_t>(100 + (n * 37 + block * 11) % 60));
    }
  }
  PagedCase(cache, {.next_n = 3}).Check();
}

}  // namespace
}  // namespace lijit::tests
