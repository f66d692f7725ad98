// SPDX-License-Identifier: Apache-2.0
// `lijit opt`, `lijit emit` and `lijit warm`.
#include <filesystem>

#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kTopK = R"(param width = f32
kernel @mine : top_k (%logit: f32) -> (f32) {
  yield %logit
}
)";

using OptCommand = CliTest;

TEST_F(OptCommand, PrintsWhatItReads) {
  const std::string file = Write("a.lir", kTopK);
  const Answer answer = Lijit({"opt", file});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("kernel @mine : top_k"));
  EXPECT_EQ(LijitJson({"opt", file}, 0)["text"], answer.out);
  input_ = kTopK;
  EXPECT_EQ(Lijit({"opt", "-"}).out, answer.out);
  input_ = answer.out;
  EXPECT_EQ(Lijit({"opt", "-"}).out, answer.out) << "printing is a fixed point";
}

TEST_F(OptCommand, RunsPasses) {
  input_ = kTopK;
  const Answer all = Lijit({"opt", "-", "--all-passes", "--target", "sm_90a"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_NE(all.out, Lijit({"opt", "-"}).out);
  Arguments one_by_one = {"opt", "-", "--target", "sm_90a"};
  const std::string help = Lijit({"opt", "--help"}).out;
  for (const char* pass :
       {"schedule_simt", "native_conversions", "expand_conversions", "simplify"}) {
    EXPECT_THAT(help, HasSubstr(std::string("  ") + pass + " "));
    one_by_one.insert(one_by_one.end(), {"--pass", pass});
  }
  EXPECT_EQ(Lijit(one_by_one).out, all.out);
  const Answer unknown = Lijit({"opt", "-", "--pass", "unroll"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no pass 'unroll'"));
}

TEST_F(OptCommand, Parameters) {
  input_ =
      "param e = 4\nformat @x { element { exponent = e, mantissa = 3, bias = 7, special = "
      "none, nan = 0x0 } }\n";
  EXPECT_THAT(Lijit({"opt", "-"}).out, HasSubstr("exponent = 4"));
  const Answer given = Lijit({"opt", "-", "--param", "e=3"});
  if (given.code == 0) {
    EXPECT_THAT(given.out, HasSubstr("exponent = 3"));
  }
  const Answer unknown = Lijit({"opt", "-", "--param", "nothing=3"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("nothing"));
}

TEST_F(OptCommand, ErrorsShowTheLine) {
  input_ = "kernel @k : top_k (%a: f32) -> (f32) {\n  yield %b\n}\n";
  const Answer answer = Lijit({"opt", "-"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, StartsWith("lijit: stdin:2:"));
  EXPECT_THAT(answer.err, HasSubstr("  yield %b\n"));
}

using EmitCommand = CliTest;
using CompilingEmitCommand = CompilingCliTest;

TEST_F(EmitCommand, CudaOfEveryShippedKernel) {
  for (const char* kernel : {"quantize_query", "write_cache", "gather_cache", "logits_ragged",
                             "logits_paged", "top_k"}) {
    const Answer answer = Lijit({"emit", kernel, "--format", "mxfp4", "--target", "sm_86"});
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr(std::string(" ") + kernel + "("));
    EXPECT_THAT(answer.out, HasSubstr("__global__"));
  }
}

TEST_F(EmitCommand, KernelsOfAFile) {
  const std::string one = Write("one.lir", kTopK);
  const Answer answer = Lijit({"emit", one});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr(" mine("));
  EXPECT_EQ(Lijit({"emit", one, "--kernel", "mine"}).out, answer.out);
  const Answer unknown = Lijit({"emit", one, "--kernel", "yours"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("@mine"));
  const json object = LijitJson({"emit", one}, 0);
  EXPECT_EQ(object["text"], answer.out);
  EXPECT_EQ(object["output"], "cuda");
}

TEST_F(EmitCommand, Shapes) {
  const Arguments base = {"emit", "logits_paged"};
  const std::string plain = Lijit(base).out;
  for (const Arguments& more : {Arguments{"--heads", "32"}, Arguments{"--head-dim", "64"},
                                Arguments{"--page", "32"}, Arguments{"--format", "mxfp4"}}) {
    Arguments arguments = base;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Answer answer = Lijit(arguments);
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_NE(answer.out, plain) << more[0];
  }
}

TEST_F(CompilingEmitCommand, PtxAndCubinForTheTarget) {
  const Answer ptx = Lijit({"emit", "top_k", "--target", "sm_90a", "--output", "ptx"});
  EXPECT_EQ(ptx.code, 0) << ptx.err;
  EXPECT_THAT(ptx.out, HasSubstr(".target sm_90a"));
  const std::string file = Path("top_k.cubin");
  const json emitted =
      LijitJson({"emit", "top_k", "--target", "sm_90a", "--output", "cubin", "-o", file}, 0);
  EXPECT_EQ(emitted["file"], file);
  EXPECT_EQ(emitted["bytes"], Read(file).size());
  const json dump = LijitJson({"dump", file}, 0);
  EXPECT_EQ(dump["target"], "sm_90a");
  EXPECT_EQ(dump["kernels"][0]["name"], "top_k");
  EXPECT_EQ(Lijit({"emit", "top_k", "--target", "sm_90a", "--output", "cubin"}).out, Read(file));
}

TEST_F(EmitCommand, OutputThatCannotBeWritten) {
  EXPECT_EQ(Lijit({"emit", "top_k", "-o", Path("no/folder/f.cu")}).code, 2);
  EXPECT_EQ(Lijit({"emit", "top_k", "-o", "/dev/full"}).code, 1);
}

class WarmCommand : public CompilingCliTest {
 protected:
  void SetUp() override {
    CompilingCliTest::SetUp();
    UseOwnCache();
  }
  Arguments Warm(const Arguments& more = {}) const {
    Arguments arguments = {"warm", "--model", "glm-5", "--format", "mxfp4", "--target", "sm_86"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(WarmCommand, CompilesOnce) {
  const json first = LijitJson(Warm(), 0);
  EXPECT_EQ(first["ok"], true);
  EXPECT_EQ(first["hits"], 0);
  EXPECT_EQ(first["compiled"], first["kernels"]);
  EXPECT_GT(first["median_compile_ms"], 0);
  for (const json& entry : first["entries"]) EXPECT_EQ(entry["target"], "sm_86");
  const json second = LijitJson(Warm({"--jobs", "1"}), 0);
  EXPECT_EQ(second["hits"], first["kernels"]);
  EXPECT_TRUE(second["median_compile_ms"].is_null());
  EXPECT_EQ(LijitJson({"cache", "stats"}, 0)["entries"], first["kernels"]);
}

TEST_F(WarmCommand, TextHasALineAKernel) {
  const Answer answer = Lijit(Warm());
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.err, "");
  EXPECT_THAT(answer.out, HasSubstr("logits_paged"));
  EXPECT_THAT(answer.out, HasSubstr("(median "));
}

// What run needs for a model's shape is what warm made.
TEST_F(WarmCommand, RunHitsWhatPtxWarmed) {
  LijitJson(Warm({"--ptx"}), 0);
  const json run = LijitJson({"run", "--device", "emulated", "--target", "sm_86", "--format",
                              "mxfp4", "--heads", "32", "--context", "64", "--top-k", "8"},
                             0);
  EXPECT_EQ(run["cache"], "hit");
}

TEST_F(WarmCommand, ReadonlyFoldersAreAskedFirst) {
  LijitJson(Warm(), 0);
  environment_["LIJIT_CACHE_READONLY_DIRS"] = Path("cache");
  const json warm = LijitJson(Warm({"--cache-dir", Path("new")}), 0);
  EXPECT_EQ(warm["hits"], warm["kernels"]);
  const json list = LijitJson({"cache", "ls", "--cache-dir", Path("new")}, 0);
  EXPECT_EQ(list["entries"].size(), warm["kernels"]);
  for (const json& entry : list["entries"]) EXPECT_EQ(entry["readonly"], true);
}

TEST_F(WarmCommand, KernelsThatFailAreNamedAndTheRestIsDone) {
  environment_["LIJIT_COMPILE"] = "worker";
  environment_["LIJIT_WORKER"] = "/bin/false";
  const json warm = LijitJson(Warm(), 1);
  EXPECT_EQ(warm["ok"], false);
  EXPECT_EQ(warm["failed"], warm["kernels"]);
  for (const json& entry : warm["entries"]) EXPECT_NE(entry["error"], "");
  EXPECT_EQ(LijitJson({"cache", "ls"}, 0)["entries"], json::array());
  EXPECT_THAT(Lijit(Warm()).out, HasSubstr("FAILED"));
  environment_.erase("LIJIT_COMPILE");
  environment_.erase("LIJIT_WORKER");
  EXPECT_EQ(LijitJson(Warm(), 0)["compiled"], warm["kernels"]);
}

TEST_F(WarmCommand, AFolderThatCannotBeUsedIsNoSuccess) {
  const std::string file = Write("file", "no folder");
  const Answer answer = Lijit(Warm({"--cache-dir", file}));
  EXPECT_EQ(answer.code, 1);
  EXPECT_THAT(answer.err, HasSubstr(file));
}

}  // namespace
}  // namespace lijit::cli
