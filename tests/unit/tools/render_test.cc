// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tools/parameter_option.h"
#include "tools/render_run.h"

namespace lijit::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RenderRun, BestFirstOrdersEachRowByScore) {
  RunReport report;
  report.rows = 2;
  report.width = 4;
  report.top_k = 3;
  report.logits = {1, 5, 3, 2, -1, -2, std::nanf(""), -INFINITY};
  report.indices = {0, 1, 2, /* row 1 */ 0, 2, -1};
  EXPECT_THAT(BestFirst(report), ElementsAre(1, 2, 0, 0, 2, -1));
}

TEST(RenderRun, BestFirstKeepsTheOrderOfEqualScores) {
  RunReport report;
  report.rows = 1;
  report.width = 3;
  report.top_k = 3;
  report.logits = {2, 7, 2};
  report.indices = {0, 1, 2};
  EXPECT_THAT(BestFirst(report), ElementsAre(1, 0, 2));
}

TEST(RenderRun, BestFirstSurvivesColumnsThatAreNone) {
  RunReport report;
  report.rows = 1;
  report.width = 2;
  report.top_k = 4;
  report.logits = {1, 2};
  report.indices = {std::numeric_limits<std::int32_t>::max(), 1, -7, 0};
  EXPECT_THAT(BestFirst(report), ElementsAre(1, 0, std::numeric_limits<std::int32_t>::max(), -7));
  report.indices.clear();
  EXPECT_TRUE(BestFirst(report).empty());
}

TEST(RenderRun, NumbersThatAreNotFiniteAreNull) {
  RunReport report;
  report.calc_diff = std::numeric_limits<double>::infinity();
  report.recall = std::nan("");
  const std::string text = RunJson(report).dump();
  EXPECT_THAT(text, HasSubstr("\"calc_diff\":null"));
  EXPECT_THAT(text, HasSubstr("\"recall\":null"));
  EXPECT_THAT(text, HasSubstr("\"kernel_us\":null"));
}

TEST(RenderRun, ProblemsAndFindingsAreInTheText) {
  RunReport report;
  report.problems = {"the logits differ"};
  report.findings = {{"race", "two threads wrote"}};
  EXPECT_THAT(RunText(report), HasSubstr("problem: the logits differ\n"));
  EXPECT_THAT(RunText(report), HasSubstr("finding: race: two threads wrote\n"));
  EXPECT_THAT(RunText(report), HasSubstr("NO, calc_diff 0"));
}

TEST(Parameters, NameAndValue) {
  const auto values = ParseParameters({"heads=32", "format=@mxfp4", "empty=", "a=b=c"});
  ASSERT_TRUE(values.ok());
  ASSERT_EQ(values->size(), 4u);
  EXPECT_EQ((*values)[1].name, "format");
  EXPECT_EQ((*values)[1].value, "@mxfp4");
  EXPECT_EQ((*values)[2].value, "");
  EXPECT_EQ((*values)[3].value, "b=c");
  for (const char* bad : {"heads", "=3", ""}) {
    const auto result = ParseParameters({bad});
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, HasSubstr("expected NAME=VALUE"));
  }
}

}  // namespace
}  // namespace lijit::tools
