// SPDX-License-Identifier: Apache-2.0
// The runner's own parts: a file test that should fail does.
#include <gtest/gtest.h>

#include "tests/filetests/commands.h"
#include "tools/line_diff.h"

namespace lijit::filetests {
namespace {

constexpr char kDiagnostics[] =
    "t.lir:2:7: error: no good: 3:4 [layout]\nlayout @x\n      ^\n"
    "t.lir:3:1: error: worse [syntax]\n}\n^\n";

TEST(Runner, ErrorsMustBeAnnotated) {
  EXPECT_EQ(
      CompareErrors("a\nb // error: no good [layout]\nc // error: worse [syntax]", kDiagnostics),
      "");
  EXPECT_EQ(CompareErrors("a\nb\nc // error: wor [syntax]", kDiagnostics),
            "unexpected at line 2: no good: 3:4 [layout]\n");
  EXPECT_EQ(CompareErrors("a\nb // error: good [syntax]\nc // error: worse [syntax]", kDiagnostics),
            "unexpected at line 2: no good: 3:4 [layout]\nmissing at line 2: good [syntax]\n");
  EXPECT_EQ(
      CompareErrors("// error: no good [layout]\nb\nc // error: worse [syntax]", kDiagnostics),
      "unexpected at line 2: no good: 3:4 [layout]\nmissing at line 1: no good [layout]\n");
  EXPECT_EQ(CompareErrors("a // error: bad [x]", ""), "missing at line 1: bad [x]\n");
  EXPECT_EQ(CompareErrors("a", ""), "");
}

TEST(Runner, OneLineMayHaveTwoErrors) {
  EXPECT_EQ(CompareErrors("a // error: one [x] // error: two [y]",
                          "t:1:1: error: two [y]\nt:1:5: error: one [x]\n"),
            "");
}

TEST(Runner, HeadSaysWhatIsDone) {
  const auto file = ReadTestFile("n", "// SPDX\n// test print a=1 b=@c\n// use formats.lir\n");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->command, "print");
  EXPECT_EQ(file->arguments, (std::vector<std::string>{"a=1", "b=@c"}));
  EXPECT_EQ(file->uses, std::vector<std::string>{"formats.lir"});
  EXPECT_FALSE(ReadTestFile("n", "layout @x {}").ok());
  EXPECT_FALSE(ReadTestFile("n", "// test print\n// test print\n").ok());
}

TEST(Runner, ExpectationsAreBlessedInPlace) {
  const std::string blessed = WithExpectedOutput("// test print\ntext\n\n\n", "a\n\n  b\n");
  EXPECT_EQ(blessed, "// test print\ntext\n\n// expect:\n// a\n//\n//   b\n");
  EXPECT_EQ(ExpectedOutput(blessed), "a\n\n  b\n");
  EXPECT_EQ(WithExpectedOutput(blessed, "c\n"), "// test print\ntext\n\n// expect:\n// c\n");
  EXPECT_EQ(ExpectedOutput("no expectation"), "");
}

TEST(Runner, UsesMustBeShipped) {
  const auto file = ReadTestFile("n", "// test print\n// use nothing.lir\n");
  EXPECT_FALSE(FindCommand("print")->run(*file).ok());
  EXPECT_EQ(FindCommand("nothing"), nullptr);
}

TEST(Runner, DiffShowsWhatDiffers) {
  EXPECT_EQ(tools::LineDiff("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(tools::LineDiff("a\nb\nc\n", "a\nx\nc\n"), "@@\n a\n-b\n+x\n c\n");
  EXPECT_EQ(tools::LineDiff("", "x\n"), "@@\n+x\n");
  EXPECT_EQ(tools::LineDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\n"),
            "@@\n 6\n 7\n 8\n-9\n");
}

}  // namespace
}  // namespace lijit::filetests
