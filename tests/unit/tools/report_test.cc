// SPDX-License-Identifier: Apache-2.0
// What reaches stdout and stderr, and with which exit code.
#include "tools/report.h"

#include <gtest/gtest.h>

#include "tools/exit_codes.h"

namespace lijit::tools {
namespace {

struct Printed {
  int code = 0;
  std::string out, err;
};

Printed PrintIt(const Result<Report>& report, bool json) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Printed printed;
  printed.code = Print("prog", report, json);
  printed.out = testing::internal::GetCapturedStdout();
  printed.err = testing::internal::GetCapturedStderr();
  return printed;
}

Report Sample() { return {.json = {{"ok", true}}, .text = "all well\n"}; }

TEST(ReportTest, TextOrJsonOnStdout) {
  const Printed text = PrintIt(Sample(), false);
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, "all well\n");
  EXPECT_EQ(text.err, "");
  EXPECT_EQ(PrintIt(Sample(), true).out, "{\n  \"ok\": true\n}\n");
}

TEST(ReportTest, WarningsGoToStderr) {
  Report report = Sample();
  report.warnings = {"the folder cannot be used"};
  report.ok = false;
  const Printed printed = PrintIt(report, true);
  EXPECT_EQ(printed.code, 1);
  EXPECT_EQ(printed.err, "prog: the folder cannot be used\n");
  EXPECT_EQ(nlohmann::json::parse(printed.out)["ok"], true);
}

TEST(ReportTest, EveryKindOfErrorHasItsExitCode) {
  const std::pair<Error, int> cases[] = {
      {InvalidArgument("m"), 2}, {Refused("m"), 3}, {Unavailable("m"), 4},
      {Damaged("m"), 1},         {Failed("m"), 1},
  };
  for (const auto& [error, code] : cases) {
    const Printed text = PrintIt(error, false);
    EXPECT_EQ(text.code, code);
    EXPECT_EQ(text.out, "");
    EXPECT_EQ(text.err, "prog: m\n");
    const Printed printed = PrintIt(error, true);
    EXPECT_EQ(printed.code, code);
    EXPECT_EQ(printed.err, "prog: m\n");
    const nlohmann::json object = nlohmann::json::parse(printed.out);
    EXPECT_EQ(object["ok"], false);
    EXPECT_EQ(object["error"]["code"], KindOf(error.code).name);
    EXPECT_EQ(object["error"]["message"], "m");
    EXPECT_EQ(object["error"]["exit_code"], code);
  }
}

TEST(ReportTest, WhatIsThereIsPrintedBesideAFailure) {
  Report report = Sample();
  report.status = Unavailable("no disassembler");
  const Printed printed = PrintIt(report, true);
  EXPECT_EQ(printed.code, 4);
  EXPECT_EQ(printed.err, "prog: no disassembler\n");
  const nlohmann::json object = nlohmann::json::parse(printed.out);
  EXPECT_EQ(object["ok"], true);
  EXPECT_EQ(object["error"]["code"], "unavailable");
  EXPECT_EQ(PrintIt(report, false).out, "all well\n");
}

TEST(ReportTest, BytesThatAreNoTextStillMakeJson) {
  Report report = Sample();
  report.json["name"] = "\xff\xfe";
  EXPECT_TRUE(nlohmann::json::accept(PrintIt(report, true).out));
}

}  // namespace
}  // namespace lijit::tools
