// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/control_flow.h"

#include <gmock/gmock.h>

#include "tests/unit/runtime/sass/read_sass.h"

namespace lijit::sass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::uint64_t AddressOf(const Function& f, const ControlFlow& flow, const Loop& loop) {
  return f.instructions[flow.blocks[static_cast<std::size_t>(loop.header)].begin].address;
}

TEST(ControlFlowTest, LoopsAndTheirNesting) {
  const Function f = ReadSass("nested.sass");
  const ControlFlow flow = FindControlFlow(f);
  EXPECT_THAT(flow.problems, IsEmpty());
  ASSERT_EQ(flow.loops.size(), 4u);
  const std::uint64_t addresses[] = {0x20, 0xb0, 0xe0, 0x130};
  const int depths[] = {1, 2, 3, 3}, parents[] = {-1, 0, 1, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(AddressOf(f, flow, flow.loops[i]), addresses[i]);
    EXPECT_EQ(flow.loops[i].depth, depths[i]);
    EXPECT_EQ(flow.loops[i].parent, parents[i]);
  }
}

TEST(ControlFlowTest, GuardedBranchesGoBothWays) {
  const ControlFlow flow = FindControlFlow(Assemble(
      {"@P0 BRA `(.L_1)", "NOP", ".L_1:", "BRA P1, `(.L_2)", "NOP", ".L_2:", "@P0 EXIT", "EXIT"}));
  ASSERT_EQ(flow.blocks.size(), 6u);
  EXPECT_THAT(flow.blocks[0].successors, ElementsAre(1, 2));
  EXPECT_THAT(flow.blocks[2].successors, ElementsAre(3, 4));
  EXPECT_THAT(flow.blocks[4].successors, ElementsAre(5));
  EXPECT_THAT(flow.blocks[5].successors, IsEmpty());
  EXPECT_THAT(flow.loops, IsEmpty());
}

TEST(ControlFlowTest, ABarrierGoesWhereItWasSet) {
  const ControlFlow flow = FindControlFlow(Assemble(
      {"BSSY B0, `(.L_2)", "@P0 BRA `(.L_1)", "NOP", ".L_1:", "BSYNC B0", "NOP", ".L_2:", "EXIT"}));
  EXPECT_THAT(flow.blocks[2].successors, ElementsAre(4));
}

TEST(ControlFlowTest, OneLoopWithTwoWaysBack) {
  const ControlFlow flow =
      FindControlFlow(Assemble({".L_1:", "@P0 BRA `(.L_1)", "NOP", "@P1 BRA `(.L_1)", "EXIT"}));
  ASSERT_EQ(flow.loops.size(), 1u);
  EXPECT_THAT(flow.loops[0].blocks, ElementsAre(0, 1));
}

TEST(ControlFlowTest, CodeThatIsNotReachedIsInNoLoop) {
  const ControlFlow flow = FindControlFlow(
      Assemble({".L_1:", "@P0 BRA `(.L_1)", "EXIT", ".L_2:", "BRA `(.L_2)", "BRA `(.L_1)"}));
  ASSERT_EQ(flow.loops.size(), 1u);
  EXPECT_THAT(flow.loops[0].blocks, ElementsAre(0));
}

TEST(ControlFlowTest, WhatCannotBeFollowedIsSaid) {
  const auto problem = [](const Function& f) {
    const ControlFlow flow = FindControlFlow(f);
    return flow.problems.empty() ? "" : flow.problems[0];
  };
  EXPECT_THAT(problem(Assemble({"BRX R2 -0x10", "EXIT"})), HasSubstr("BRX at 0x0"));
  EXPECT_THAT(problem(Assemble({"BRA `(.L_9)", "EXIT"})), HasSubstr(".L_9"));
  EXPECT_THAT(
      problem(Assemble({"@P0 BRA `(.L_2)", ".L_1:", "NOP", ".L_2:", "@P1 BRA `(.L_1)", "EXIT"})),
      HasSubstr("two places"));
}

TEST(ControlFlowTest, NoInstructionsNoBlocks) {
  EXPECT_THAT(FindControlFlow(Function{}).blocks, IsEmpty());
}

}  // namespace
}  // namespace lijit::sass
