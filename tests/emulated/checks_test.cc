// SPDX-License-Identifier: Apache-2.0
// The checks that the other tests rest on see what they are there to see.
#include <gtest/gtest-spi.h>

#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

class Checks : public IndexerTest {
 protected:
  static TestIndexer& Any() { return TestIndexer::Of(Small("mxfp4")); }
  static std::string KindOfFinding() {
    const std::vector<Finding> findings = TakeFindings();
    return findings.size() == 1 ? findings[0].kind : "not one finding";
  }
};

TEST_F(Checks, SeeAWrongScore) {
  TestCache cache(Any(), {});
  PagedCase paged(cache), other(cache, {.scoring = {.seed = 8}});
  paged.arguments.weights = other.arguments.weights;
  static PagedCase* c;  // EXPECT_NONFATAL_FAILURE takes no locals
  c = &paged;
  EXPECT_NONFATAL_FAILURE(c->Check(), "places differ");
}

TEST_F(Checks, SeeAWrongByteOfACache) {
  WriteCase write(Any(), {.slots = {3}});
  TestMemory memory(Any().device());
  memory.Write(ViewOf(write.arguments.pool.data, DType::kU8, {1}), std::vector<std::uint8_t>{0});
  static WriteCase* c;
  c = &write;
  EXPECT_NONFATAL_FAILURE(c->Check(), "[0] is 0, not 205");
}

TEST_F(Checks, SeeAWriteBetweenRows) {
  TestMemory memory(Any().device());
  const Tensor tensor = memory.Poisoned(DType::kF32, {2, 3}, 5);
  EXPECT_TRUE(memory.GapsArePoisoned(tensor));
  memory.Write(ViewOf(tensor.data, DType::kF32, {4}), std::vector<float>(4, 0));
  EXPECT_FALSE(memory.GapsArePoisoned(tensor));
}

TEST_F(Checks, SeeAReadOfBytesThatNobodyWrote) {
  TestCache cache(Any(), {.lengths = {65}});
  PagedCase paged(cache);
  TestMemory memory(Any().device());
  paged.arguments.weights = memory.Raw(DType::kF32, {1, 8});
  const Status status = Any()->LogitsPaged(paged.arguments);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(KindOfFinding(), "uninitialized") << status.error().message;
}

TEST_F(Checks, SeeAReadBehindATensor) {
  TestCache cache(Any(), {.lengths = {65}});
  PagedCase paged(cache);
  TestMemory memory(Any().device());
  paged.arguments.weights =
      ViewOf(memory.Put(std::vector<float>(7), {7}).data, DType::kF32, {1, 8});
  const Status status = Any()->LogitsPaged(paged.arguments);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(KindOfFinding(), "out-of-bounds") << status.error().message;
}

}  // namespace
}  // namespace lijit::tests
