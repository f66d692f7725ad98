// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/parse.h"

#include <gmock/gmock.h>

#include "tests/unit/runtime/sass/read_sass.h"

namespace lijit::sass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseSassTest, AnInstructionAndItsParts) {
  const Function f = Assemble({"IMMA.16832.S8.S8 R104, R80.ROW, R48.reuse.COL, R100"});
  const Instruction& i = f.instructions[0];
  EXPECT_EQ(i.opcode(), "IMMA");
  EXPECT_THAT(i.modifiers, ElementsAre("16832", "S8", "S8"));
  EXPECT_THAT(i.operands, ElementsAre("R104", "R80.ROW", "R48.reuse.COL", "R100"));
  EXPECT_EQ(i.guard, "");
}

TEST(ParseSassTest, GuardsLabelsAndAddresses) {
  const Function f = Assemble({"NOP", ".L_x_1:", "@!UP0 BRA.U UP1, `(.L_x_1)", ".L_x_2:"});
  EXPECT_EQ(f.instructions[1].address, 16u);
  EXPECT_EQ(f.instructions[1].guard, "@!UP0");
  EXPECT_THAT(f.instructions[1].labels, ElementsAre(".L_x_1"));
  EXPECT_EQ(f.labels.at(".L_x_1"), 1u);
  EXPECT_EQ(f.labels.at(".L_x_2"), 2u);
}

TEST(ParseSassTest, TargetsOfIndirectBranches) {
  const Function f = Assemble({R"(BRX R2 -0x10 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*))"});
  EXPECT_THAT(f.instructions[0].labels, ElementsAre(".L_x_1", ".L_x_2"));
}

TEST(ParseSassTest, EachSectionIsAFunction) {
  const auto functions = ParseSass(
      ".text.a:\na:\n/*0000*/ EXIT ;\n.text.b:\n/*0000*/ NOP ;\n/*0010*/ EXIT ;\n"
      ".text.none:\n");
  ASSERT_TRUE(functions.ok());
  ASSERT_EQ(functions->size(), 2u);
  EXPECT_EQ(functions->at(0).name, "a");
  EXPECT_EQ(functions->at(1).instructions.size(), 2u);
}

TEST(ParseSassTest, WhatIsNotSassIsAnErrorWithItsLine) {
  for (const char* const text :
       {"nvdisasm fatal : no cubin", ".text.f:\n/*0000*/ EXIT\n", ".text.f:\n/*zz*/ EXIT ;\n",
        "/*0000*/ EXIT ;\n", ".text.f:\n/*0000*/ ;\n", ".text.f:\n/*0000 EXIT ;\n",
        ".text.f:\n/*"}) {
    const auto functions = ParseSass(text);
    ASSERT_FALSE(functions.ok()) << text;
    EXPECT_THAT(functions.error().message, HasSubstr("line "));
  }
  EXPECT_TRUE(ParseSass("").ok());
}

TEST(ParseSassTest, Registers) {
  EXPECT_EQ(RegisterOf("-R80.reuse"), 80);
  EXPECT_EQ(RegisterOf("|R5|"), 5);
  EXPECT_EQ(RegisterOf("R2.64"), 2);
  for (const char* const none : {"RZ", "UR4", "PT", "c[0x0][0x28]", "[R2]", "", "-"}) {
    EXPECT_EQ(RegisterOf(none), -1) << none;
  }
}

}  // namespace
}  // namespace lijit::sass
