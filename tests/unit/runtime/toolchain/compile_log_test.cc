// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/compile_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace lijit::runtime {
namespace {

TEST(CompileLogTest, QuotesTheLinesOfErrorsWithContext) {
  const std::string source = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight";
  EXPECT_EQ(QuoteLines("k.cu(3): error: x\nk.cu(8): error: y\n", "k.cu(", source),
            "      2 | two\n"
            ">     3 | three\n"
            "      4 | four\n"
            "     ...\n"
            "      7 | seven\n"
            ">     8 | eight\n");
  EXPECT_EQ(QuoteLines("k.cu(1): error: x", "k.cu(", "only"), ">     1 | only\n");
}

TEST(CompileLogTest, PointersToNowhereQuoteNothing) {
  EXPECT_EQ(QuoteLines("k.cu(0) k.cu(9) k.cu(x) k.cu(99999999999999999999999)", "k.cu(", "a\nb\n"),
            "");
  EXPECT_EQ(QuoteLines("other.cu(1)", "k.cu(", "a\n"), "");
  EXPECT_EQ(QuoteLines("", "k.cu(", ""), "");
}

TEST(CompileLogTest, ManyErrorsAreCutShort) {
  std::string log;
  std::string source;
  for (int i = 1; i <= 100; ++i) {
    log += "k.cu(" + std::to_string(i) + "): error\n";
    source += "x\n";
  }
  const std::string quoted = QuoteLines(log, "k.cu(", source);
  EXPECT_EQ(std::count(quoted.begin(), quoted.end(), '>'), 8);
}

TEST(CompileLogTest, CleanLogsHoldNoTimes) {
  EXPECT_EQ(CleanLog("a\nptxas info    : Compile time = 4.971 ms\nb\n\n"), "a\nb");
  EXPECT_EQ(CleanLog(std::string_view("a\n\0rest", 7)), "a");
  EXPECT_EQ(CleanLog(""), "");
}

}  // namespace
}  // namespace lijit::runtime
