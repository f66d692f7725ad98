// SPDX-License-Identifier: Apache-2.0
// Options, help, exit codes and messages.
#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kCommands[] = {"run",  "opt",     "emit", "warm",   "cache",
                                     "dump", "targets", "plan", "doctor", "bench"};

using Usage = CliTest;

TEST_F(Usage, HelpOfEveryCommandHasAnExample) {
  const Answer help = Lijit({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("Exit codes: 0 done"));
  for (const char* command : kCommands) {
    EXPECT_THAT(help.out, HasSubstr(std::string("\n  ") + command + " "));
    const Answer answer = Lijit({command, "--help"});
    EXPECT_EQ(answer.code, 0) << command;
    EXPECT_EQ(answer.err, "");
    EXPECT_THAT(answer.out, HasSubstr("Example"));
    EXPECT_THAT(answer.out, HasSubstr(std::string("  lijit ") + command + " "));
    EXPECT_THAT(answer.out, HasSubstr("--json"));
  }
  for (const char* command :
       {"ls", "show", "explain", "verify", "stats", "gc", "export", "import"}) {
    EXPECT_THAT(Lijit({"cache", command, "--help"}).out, HasSubstr("--json"));
  }
}

TEST_F(Usage, Version) {
  const Answer answer = Lijit({"--version"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.out, StartsWith("lijit 0."));
}

struct Mistake {
  Arguments arguments;
  int code;
  const char* kind;     // error.code of --json
  const char* message;  // a part of it
};

// As text and as JSON: the message on stderr, the exit code, and nothing else on stdout.
void CliTestExpectMistake(const Answer& text, const Answer& as_json, const Mistake& mistake) {
  const std::string what = testing::PrintToString(mistake.arguments);
  ASSERT_EQ(text.code, mistake.code) << what;
  EXPECT_EQ(text.out, "") << what;
  EXPECT_THAT(text.err, StartsWith("lijit: ")) << what;
  EXPECT_THAT(text.err, HasSubstr(mistake.message)) << what;
  EXPECT_EQ(as_json.code, mistake.code) << what;
  const json object = json::parse(as_json.out, nullptr, false);
  ASSERT_TRUE(object.is_object()) << what << as_json.out;
  ASSERT_EQ(object["ok"], false) << what;
  EXPECT_EQ(object["error"]["code"], mistake.kind) << what;
  EXPECT_EQ(object["error"]["exit_code"], mistake.code);
  EXPECT_THAT(object["error"]["message"].get<std::string>(), HasSubstr(mistake.message));
}

class Mistakes : public CliTest {
 protected:
  void Expect(const Mistake& mistake) const {
    Arguments with_json = mistake.arguments;
    with_json.emplace_back("--json");
    CliTestExpectMistake(Lijit(mistake.arguments), Lijit(with_json), mistake);
  }
};

TEST_F(Mistakes, Options) {
  const char* const kind = "invalid_argument";
  const Mistake mistakes[] = {
      {{}, 2, kind, "subcommand is required"},
      {{"fly"}, 2, kind, "has no command 'fly'; it has run, opt, emit"},
      {{"run", "--fly"}, 2, kind, "--fly"},
      {{"run", "--heads", "many"}, 2, kind, "--heads = many"},
      {{"run", "--op", "both"}, 2, kind, "--op"},
      {{"run", "--input", "f64"}, 2, kind, "--input"},
      {{"run", "--rotation", "v5"}, 2, kind, "--rotation"},
      {{"run", "--op", "ragged", "--batch", "2"}, 2, kind, "--batch"},
      {{"run", "--format-name", "x"}, 2, kind, "--format FILE.lir"},
      {{"opt"}, 2, kind, "FILE"},
      {{"opt", "-", "--pass", "simplify", "--all-passes"}, 2, kind, "--all-passes"},
      {{"opt", "-", "--param", "heads"}, 2, kind, "expected NAME=VALUE"},
      {{"emit", "top_k", "--output", "sass"}, 2, kind, "--output"},
      {{"emit", "top_k", "--kernel", "top_k"}, 2, kind, "--kernel chooses among"},
      {{"warm", "--jobs", "-1"}, 2, kind, "--jobs"},
      {{"cache"}, 2, kind, "subcommand is required"},
      {{"cache", "show"}, 2, kind, "KEY"},
      {{"cache", "show", "xyz"}, 2, kind, "no key starts with 'xyz'"},
      {{"cache", "gc", "--max-size", "2 pounds"}, 2, kind, "is not a size"},
      {{"cache", "fly"}, 2, kind, "has no command 'fly'; it has ls, show"},
      {{"dump"}, 2, kind, "FILE"},
      {{"bench", "--op", "both"}, 2, kind, "--op"},
      {{"bench", "--mask", "half"}, 2, kind, "--mask"},
      {{"bench", "--batch", "1,two"}, 2, kind, "--batch"},
      {{"bench", "--results", "ours.json"}, 2, kind, "--compare"},
      {{"bench", "--gpu", "RTX 3090"}, 2, kind, "--analyze"},
      {{"bench", "--markdown"}, 2, kind, "--analyze"},
      {{"bench", "--analyze", "--device", "emulated"}, 2, kind, "--device"},
  };
  for (const Mistake& mistake : mistakes) Expect(mistake);
}

TEST_F(Mistakes, Values) {
  const char* const kind = "invalid_argument";
  const Mistake mistakes[] = {
      {{"run", "--device", "tpu"}, 2, kind, "unknown device 'tpu'"},
      {{"run", "--device", "emulated", "--target", "native"}, 2, kind, "name a target"},
      {{"run", "--device", "emulated", "--target", "sm_999"}, 2, kind, "sm_80, sm_86"},
      {{"run", "--device", "emulated", "--format", "fp3"}, 2, kind, "there is no format 'fp3'"},
      {{"run", "--device", "emulated", "--schedule", "magic"}, 2, kind, "'magic'"},
      {{"run", "--device", "emulated", "--backend", "glsl"}, 2, kind, "'glsl'"},
      {{"run", "--device", "emulated", "--heads", "0"}, 2, kind, "heads 0"},
      {{"run", "--device", "emulated", "--heads", "-4"}, 2, kind, "heads -4"},
      {{"run", "--device", "emulated", "--head-dim", "100"}, 2, kind, "not 100"},
      {{"run", "--device", "emulated", "--batch", "0"}, 2, kind, "batch 0"},
      {{"run", "--device", "emulated", "--queries", "2"}, 2, kind, "op ragged"},
      {{"run", "--device", "emulated", "--context", "99999999999"}, 2, kind, "99999999999"},
      {{"run", "--device", "emulated", "--context", "2000000000"}, 2, kind, "MiB"},
      {{"opt", "absent.lir"}, 2, kind, "absent.lir cannot be opened"},
      {{"opt", "/"}, 2, kind, "is a directory"},
      {{"emit", "dance"}, 2, kind, "logits_paged"},
      {{"warm", "--model", "gpt"}, 2, kind, "deepseek-v3.2"},
      {{"dump", "absent.cubin"}, 2, kind, "absent.cubin cannot be opened"},
      {{"bench", "--device", "emulated", "--shapes", "all"}, 2, kind, "accepted is deepgemm"},
      {{"bench", "--device", "emulated", "--verify-only", "--next-n", "9"}, 2, kind, "next_n 9"},
      {{"bench", "--device", "emulated", "--replays", "0", "--verify-only"}, 2, kind, "replays 0"},
      {{"bench", "--compare", "absent.json"}, 2, kind, "absent.json cannot be opened"},
      {{"bench", "--target", "sm_80,sm_86"}, 2, kind, "one target"},
      {{"bench", "--analyze"}, 2, kind, "no target and no GPU"},
      {{"bench", "--analyze", "--gpu", "Voodoo 2"}, 2, kind, "RTX 3090"},
      {{"bench", "--analyze", "--target", "sm_86", "--next-n", "9"}, 2, kind, "next_n 9"},
      {{"bench", "--analyze", "--target", "sm_86", "--heads", "32,64"}, 2, kind, "one number"},
      {{"bench", "--analyze", "--target", "sm_86", "--format", "fp3"}, 2, kind, "format 'fp3'"},
  };
  for (const Mistake& mistake : mistakes) Expect(mistake);
}

TEST_F(Mistakes, RefusedTargets) {
  const Mistake mistakes[] = {
      {{"run", "--device", "emulated", "--target", "sm_75"}, 3, "refused", "begins with sm_80"},
      {{"emit", "top_k", "--target", "sm_70"}, 3, "refused", "sm_70 is not supported"},
      {{"warm", "--target", "sm_86,sm_75"}, 3, "refused", "begins with sm_80"},
      {{"opt", SourcePath("tests/formats/nvfp4.lir"), "--target", "sm_101"},
       3,
       "refused",
       "sm_110"},
  };
  for (const Mistake& mistake : mistakes) Expect(mistake);
}

TEST_F(Mistakes, WhatTheEnvironmentLacks) {
  environment_["LIJIT_NVRTC"] = SourcePath("CMakeLists.txt");
  const Mistake mistakes[] = {
      {SmallRun({"--backend", "cuda"}), 4, "unavailable", "CMakeLists.txt"},
      {{"emit", "top_k", "--backend", "cuda", "--output", "ptx"},
       4,
       "unavailable",
       "CMakeLists.txt"},
      {{"warm", "--target", "sm_86", "--backend", "cuda"}, 4, "unavailable", "CMakeLists.txt"},
  };
  for (const Mistake& mistake : mistakes) Expect(mistake);
  const json doctor = LijitJson({"doctor"}, 1);
  EXPECT_EQ(doctor["ok"], false);
  EXPECT_THAT(doctor["nvrtc"]["problem"].get<std::string>(), HasSubstr("CMakeLists.txt"));
}

TEST_F(Mistakes, TimesNeedAClock) {
  Expect({{"bench", "--device", "emulated"}, 4, "unavailable", "--verify-only"});
}

TEST_F(Mistakes, NoCudaDevice) {
  const json doctor = json::parse(Lijit({"doctor", "--json"}).out);
  if (!doctor["driver"].is_null()) GTEST_SKIP() << "there is a driver";
  Expect({{"run", "--device", "cuda"}, 4, "unavailable", "CUDA driver"});
}

TEST_F(Mistakes, BadEnvironment) {
  const char* const kind = "invalid_argument";
  environment_["LIJIT_CACHE_MAX_SIZE"] = "much";
  Expect({{"cache", "ls"}, 2, kind, "LIJIT_CACHE_MAX_SIZE: 'much' is not a size"});
  Expect({SmallRun(), 2, kind, "LIJIT_CACHE_MAX_SIZE"});
  Expect({{"warm", "--target", "sm_86"}, 2, kind, "LIJIT_CACHE_MAX_SIZE"});
  EXPECT_THAT(LijitJson({"doctor"}, 1)["problems"].dump(), HasSubstr("LIJIT_CACHE_MAX_SIZE"));
  environment_.erase("LIJIT_CACHE_MAX_SIZE");
  environment_["LIJIT_BACKEND"] = "glsl";
  Expect({SmallRun(), 2, kind, "LIJIT_BACKEND"});
}

TEST_F(Mistakes, NoCacheFolderToFill) {
  environment_["LIJIT_CACHE_DIR"] = "";
  Expect({{"warm", "--target", "sm_86"}, 2, "invalid_argument", "--cache-dir"});
}

TEST_F(Usage, AFullDiskIsNoSuccess) {
  for (const char* program : {LIJIT_PROGRAM, LIJIT_CUBIN_DUMP}) {
    const bool is_lijit = std::string_view(program) == LIJIT_PROGRAM;
    const Arguments arguments =
        is_lijit ? Arguments{"targets"} : Arguments{SourcePath("tests/data/cubin/v8_sm_86.cubin")};
    const Answer answer =
        RunProgram({program, arguments, environment_, "", "/dev/full"}, Path("."));
    EXPECT_EQ(answer.code, 1) << program;
    EXPECT_THAT(answer.err, HasSubstr("cannot be written"));
  }
}

TEST_F(Usage, TargetsAsTextAndMarkdown) {
  const Answer text = Lijit({"targets"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("\nsm_90a "));
  EXPECT_THAT(text.out, HasSubstr("\nsm_75 "));
  const Answer markdown = Lijit({"targets", "--markdown"});
  EXPECT_EQ(markdown.code, 0);
  EXPECT_THAT(markdown.out, StartsWith("| target | `fp8_e4m3` |"));
  EXPECT_THAT(markdown.out, HasSubstr("`sm_86`, "));
}

TEST_F(Usage, DoctorAsText) {
  const Answer answer = Lijit({"doctor"});
  EXPECT_THAT(answer.out, HasSubstr("NVRTC"));
  EXPECT_THAT(answer.out, HasSubstr(environment_["LIJIT_CACHE_DIR"]));
}

}  // namespace
}  // namespace lijit::cli
