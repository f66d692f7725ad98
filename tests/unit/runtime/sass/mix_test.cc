// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/mix.h"

#include <gmock/gmock.h>

#include "tests/unit/runtime/sass/read_sass.h"

namespace lijit::sass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

int Slots(const Level& level, Pipe pipe) { return level.counts.slots[IndexOf(pipe)]; }

// 16 keys in R4 to R7; 32 heads of 32 are four products, one of them before the loop over heads.
// The slow loop beside it is none of this.
TEST(MixTest, HeadsInRowsInKeys) {
  const Mix mix = FindMix(ReadSass("nested.sass"), {.heads = 32, .head_dim = 32, .rows = 2});
  EXPECT_THAT(mix.problems, IsEmpty());
  ASSERT_EQ(mix.levels.size(), 3u);
  const Level &heads = mix.levels[0], &rows = mix.levels[1], &keys = mix.levels[2];
  EXPECT_EQ(heads.address, 0xe0u);
  EXPECT_EQ(heads.over, "heads");
  EXPECT_EQ(heads.pairs, 4);
  EXPECT_EQ(heads.iterations, 3.0 / 16);
  EXPECT_EQ(heads.counts.instructions, 4);
  EXPECT_EQ(Slots(heads, Pipe::kLsu), 2);  // LDS.64
  EXPECT_EQ(rows.over, "query rows");
  EXPECT_EQ(rows.pairs, 16);
  EXPECT_EQ(rows.counts.instructions, 6);  // a guarded store counts, the slow way does not
  EXPECT_EQ(Slots(rows, Pipe::kLsu), 5);
  EXPECT_EQ(keys.over, "keys");
  EXPECT_EQ(keys.pairs, 32);
  EXPECT_EQ(keys.counts.instructions, 12);
  EXPECT_EQ(Slots(keys, Pipe::kAlu), 6);
  EXPECT_EQ(mix.instructions, 48);
  EXPECT_EQ(mix.macs[0], 32 * 32);
  EXPECT_THAT(mix.notes, ElementsAre(HasSubstr("0x130")));
}

TEST(MixTest, HeadsThatDoNotFitAreAProblem) {
  const Mix mix = FindMix(ReadSass("nested.sass"), {.heads = 12, .head_dim = 32, .rows = 1});
  EXPECT_THAT(mix.problems, ElementsAre(HasSubstr("would run 0.5 times for 12 heads")));
}

// The hot loop loads its A operands: all that a pair takes is in it. A guarded product counts.
TEST(MixTest, KeysThatStreamAndOpcodesThatAreNotKnown) {
  const Mix mix = FindMix(ReadSass("streaming.sass"), {.heads = 8, .head_dim = 32});
  ASSERT_EQ(mix.levels.size(), 1u);
  EXPECT_EQ(mix.levels[0].over, "keys");
  EXPECT_EQ(mix.levels[0].pairs, 16);
  EXPECT_EQ(mix.levels[0].counts.instructions, 7);
  EXPECT_EQ(mix.macs[2], 256);
  EXPECT_THAT(mix.unknown, ElementsAre("FROB"));
  EXPECT_THAT(mix.problems, ElementsAre(HasSubstr("FROB")));
}

TEST(MixTest, WithoutTensorInstructionsTheLoopWithTheMostProducts) {
  const Mix mix = FindMix(ReadSass("scalar.sass"), {.heads = 1, .head_dim = 32});
  ASSERT_EQ(mix.levels.size(), 1u);
  EXPECT_EQ(mix.levels[0].address, 0x20u);
  EXPECT_EQ(mix.levels[0].pairs, 2);
  EXPECT_EQ(mix.instructions, 64);
  EXPECT_EQ(mix.slots[IndexOf(Pipe::kXu)], 0);
  EXPECT_THAT(mix.notes, ElementsAre(HasSubstr("0x60"), HasSubstr("0x20")));
}

// A warp does a quarter of a warpgroup's product: 16 keys by 64 heads, all of them.
TEST(MixTest, WarpgroupsGoOverQueryRows) {
  const Mix mix = FindMix(ReadSass("warpgroup.sass"), {.heads = 64, .head_dim = 32, .rows = 4});
  EXPECT_THAT(mix.problems, IsEmpty());
  ASSERT_EQ(mix.levels.size(), 2u);
  EXPECT_EQ(mix.levels[0].over, "query rows");
  EXPECT_EQ(mix.levels[0].pairs, 16);
  EXPECT_EQ(mix.levels[1].over, "keys");
  EXPECT_EQ(mix.levels[1].pairs, 64);
  EXPECT_EQ(mix.macs[0], 64 * 32);
}

TEST(MixTest, NothingThatMultipliesIsAProblem) {
  EXPECT_THAT(FindMix(Assemble({"EXIT"}), {}).problems, ElementsAre(HasSubstr("no loop of f")));
  EXPECT_THAT(
      FindMix(Assemble({".L_1:", "FADD R1, R2, R3", "@P0 BRA `(.L_1)", "EXIT"}), {}).problems,
      ElementsAre(HasSubstr("no loop of f")));
  EXPECT_THAT(FindMix(Function{}, {}).levels, IsEmpty());
}

TEST(MixTest, AShapeThatIsNotKnownIsAProblem) {
  const Mix mix =
      FindMix(Assemble({".L_1:", "LDS R4, [R2]", "IMMA.16832.S8.S8 R24, R4.ROW, R16.COL, R28",
                        "IMMA.99999.S8.S8 R24, R4.ROW, R16.COL, R28", "@P0 BRA `(.L_1)", "EXIT"}),
              {.heads = 8, .head_dim = 32});
  EXPECT_THAT(mix.problems, ElementsAre(HasSubstr("IMMA.99999.S8.S8 has a shape")));
}

}  // namespace
}  // namespace lijit::sass
