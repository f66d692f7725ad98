// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/race_check.h"

#include <gtest/gtest.h>

namespace lijit::emulator {
namespace {

constexpr AccessKind kRead = AccessKind::kRead;
constexpr AccessKind kWrite = AccessKind::kWrite;
constexpr AccessKind kStrongWrite = AccessKind::kStrongWrite;
constexpr AccessKind kStrongRead = AccessKind::kStrongRead;

class RaceCheckTest : public testing::Test {
 protected:
  RaceCheckTest() { checker_.StartBlock(256, 4); }

  bool Races(std::uint64_t offset, std::uint64_t bytes, AccessKind kind, unsigned thread) {
    return checker_.Access(offset, bytes, kind, thread, 0).has_value();
  }
  void Barrier(std::initializer_list<unsigned> warps) {
    VectorClock met{};
    for (const unsigned warp : warps) checker_.Arrive(warp, met);
    for (const unsigned warp : warps) checker_.Leave(warp, met);
  }

  RaceChecker checker_;
};

TEST_F(RaceCheckTest, AThreadDoesNotRaceWithItself) {
  EXPECT_FALSE(Races(0, 4, kWrite, 5));
  EXPECT_FALSE(Races(0, 4, kRead, 5));
  EXPECT_FALSE(Races(0, 4, kWrite, 5));
}

TEST_F(RaceCheckTest, WritesRaceWithReadsAndWrites) {
  EXPECT_FALSE(Races(0, 4, kWrite, 0));
  EXPECT_TRUE(Races(0, 4, kWrite, 1));
  EXPECT_TRUE(Races(0, 4, kRead, 40));
  EXPECT_FALSE(Races(4, 4, kRead, 0));
  EXPECT_FALSE(Races(4, 4, kRead, 1));
  EXPECT_TRUE(Races(4, 4, kWrite, 1));
  EXPECT_TRUE(Races(4, 4, kWrite, 0));
}

TEST_F(RaceCheckTest, BytesOfOneWordAreApart) {
  EXPECT_FALSE(Races(0, 1, kWrite, 0));
  EXPECT_FALSE(Races(1, 1, kWrite, 1));
  EXPECT_FALSE(Races(2, 2, kWrite, 2));
  EXPECT_TRUE(Races(2, 1, kRead, 1));
  EXPECT_TRUE(Races(0, 4, kRead, 0));
  Barrier({0, 1, 2, 3});
  EXPECT_FALSE(Races(0, 4, kRead, 0));
  EXPECT_FALSE(Races(0, 4, kRead, 33));
  Barrier({0, 1, 2, 3});
  EXPECT_FALSE(Races(0, 4, kWrite, 33));
  EXPECT_TRUE(Races(3, 1, kRead, 0));
}

TEST_F(RaceCheckTest, TheRecordNamesTheByte) {
  EXPECT_FALSE(checker_.Access(8, 1, kWrite, 0, 1));
  EXPECT_FALSE(checker_.Access(10, 1, kWrite, 7, 2));
  const auto race = checker_.Access(0, 16, kRead, 0, 3);
  ASSERT_TRUE(race);
  EXPECT_EQ(race->offset, 10u);
  EXPECT_EQ(race->earlier.thread, 7u);
  EXPECT_EQ(race->earlier.instruction, 2u);
}

TEST_F(RaceCheckTest, WarpSynchronizationOrdersItsWarp) {
  EXPECT_FALSE(Races(0, 4, kWrite, 0));
  checker_.SynchronizeWarp(0);
  EXPECT_FALSE(Races(0, 4, kRead, 31));
  EXPECT_TRUE(Races(0, 4, kRead, 32));
}

TEST_F(RaceCheckTest, BarriersOrderTheirWarpsTransitively) {
  EXPECT_FALSE(Races(0, 4, kWrite, 0));
  Barrier({0, 1});
  EXPECT_TRUE(Races(0, 4, kRead, 64));
  Barrier({1, 2});
  EXPECT_FALSE(Races(0, 4, kRead, 64));
  EXPECT_TRUE(Races(0, 4, kRead, 96));
}

TEST_F(RaceCheckTest, StrongAccessesMeetEachOtherOnly) {
  EXPECT_FALSE(Races(0, 4, kStrongWrite, 0));
  EXPECT_FALSE(Races(0, 4, kStrongWrite, 1));
  EXPECT_FALSE(Races(0, 4, kStrongRead, 40));
  EXPECT_TRUE(Races(0, 4, kRead, 70));
  EXPECT_TRUE(Races(0, 4, kWrite, 70));
  EXPECT_FALSE(Races(4, 4, kRead, 3));
  EXPECT_TRUE(Races(4, 4, kStrongWrite, 4));
  EXPECT_FALSE(Races(4, 4, kStrongRead, 4));
}

// Readers of several warps, of which the writer is ordered after some.
TEST_F(RaceCheckTest, AWriteMustFollowAllReaders) {
  EXPECT_FALSE(Races(0, 4, kRead, 0));
  EXPECT_FALSE(Races(0, 4, kRead, 32));
  Barrier({0, 2});
  EXPECT_TRUE(Races(0, 4, kWrite, 64));
  Barrier({1, 2});
  EXPECT_FALSE(Races(0, 4, kWrite, 64));
}

TEST_F(RaceCheckTest, ABlockDoesNotRaceWithTheOneBefore) {
  EXPECT_FALSE(Races(0, 4, kWrite, 0));
  EXPECT_FALSE(Races(4, 1, kWrite, 0));
  checker_.StartBlock(256, 4);
  EXPECT_FALSE(Races(0, 4, kWrite, 1));
  EXPECT_FALSE(Races(4, 4, kRead, 1));
}

}  // namespace
}  // namespace lijit::emulator
