// SPDX-License-Identifier: Apache-2.0
// `lijit plan`.
#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Arguments Plan(const Arguments& more = {}) {
  Arguments arguments = {"plan",           "--model", "deepseek-v4-flash",
                         "--cache-memory", "8GiB",    "--max-model-len",
                         "131072"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

class PlanCommand : public CliTest {
 protected:
  json PlanJson(const Arguments& more = {}, int code = 0) const {
    return LijitJson(Plan(more), code);
  }
};

TEST_F(PlanCommand, BothFormatsSideBySide) {
  const json plan = PlanJson();
  EXPECT_EQ(plan["ok"], true);
  EXPECT_EQ(plan["reconciled"], nullptr);
  const json& fp8 = plan["formats"]["fp8"];
  const json& mxfp4 = plan["formats"]["mxfp4"];
  EXPECT_EQ(fp8["block_bytes"], 1'002'240);
  EXPECT_EQ(mxfp4["block_bytes"], 917'568);
  EXPECT_EQ(fp8["indexer_bytes_per_token"], 708.75);
  EXPECT_EQ(mxfp4["indexer_bytes_per_token"], 378.0);
  EXPECT_EQ(fp8["blocks"], 8'570);
  EXPECT_EQ(mxfp4["blocks"], 9'361);
  EXPECT_DOUBLE_EQ(plan["gain"].get<double>(),
                   mxfp4["tokens"].get<double>() / fp8["tokens"].get<double>());
  EXPECT_EQ(fp8["pages"].size(), 7u);
  EXPECT_EQ(fp8["groups"].size(), 5u);
}

TEST_F(PlanCommand, TotalsOfV4Pro) {
  const json plan = LijitJson(
      {"plan", "--model", "deepseek-v4-pro", "--layout", "flashinfer", "--memory", "26.46GiB"}, 0);
  EXPECT_EQ(plan["formats"]["mxfp4"]["block_bytes"], 1'228'800);
  EXPECT_EQ(plan["latent_format"], "fp8");
  const json before = LijitJson(
      {"plan", "--model", "deepseek-v4-pro", "--pool", "buckets", "--memory", "26.09GiB"}, 0);
  EXPECT_EQ(before["formats"]["mxfp4"]["block_bytes"], 1'473'408);
}

TEST_F(PlanCommand, TextAndExplanation) {
  const Answer text = Lijit(Plan({"--explain", "--indexer", "mxfp4"}));
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_THAT(text.out, StartsWith("deepseek-v4-flash, 131,072 tokens a request"));
  EXPECT_THAT(text.out, HasSubstr("bytes of a block"));
  EXPECT_THAT(text.out, HasSubstr("64 rows * 68 = 4,352 -> multiple of 576: 4,608"));
  EXPECT_THAT(Lijit(Plan({"--markdown"})).out, StartsWith("# Capacity of deepseek-v4-flash"));
}

TEST_F(PlanCommand, MemoryOfADevice) {
  const json plan = LijitJson({"plan", "--model", "deepseek-v3.2", "--memory", "80GiB",
                               "--fraction", "0.9", "--weights", "40GiB", "--reserve", "2GiB"},
                              0);
  EXPECT_EQ(plan["formats"]["fp8"]["ranks"][0]["cache_bytes"], std::int64_t{30} << 30);
}

TEST_F(PlanCommand, WhatDoesNotFitIsSaid) {
  const Arguments small = {"plan", "--model", "deepseek-v4-flash", "--cache-memory", "1GiB"};
  EXPECT_EQ(LijitJson(small, 0)["formats"]["fp8"]["starts"], false);
  EXPECT_THAT(Lijit(small).out, HasSubstr("no request of 1,048,576 tokens fits"));
}

TEST_F(PlanCommand, PlotIsWritten) {
  EXPECT_EQ(Lijit(Plan({"--svg", Path("plot.svg")})).code, 0);
  EXPECT_THAT(Read(Path("plot.svg")), StartsWith("<svg "));
}

TEST_F(PlanCommand, ModelFile) {
  const std::string model = Write("model.json", R"({
    "name": "two layers", "layers": 2, "family": "v4", "max_model_len": 65536,
    "indexer_heads": 64, "top_k": 512,
    "caches": [
      {"name": "latent", "role": "latent", "layers": "0-1", "block_tokens": 64},
      {"name": "indexer", "role": "indexer", "layers": "1", "block_tokens": 64}]})");
  const json plan = LijitJson({"plan", "--model", model, "--cache-memory", "1GiB"}, 0);
  EXPECT_EQ(plan["model"], "two layers");
  EXPECT_EQ(plan["formats"]["fp8"]["block_bytes"], 64 * (2 * 584 + 132));
  EXPECT_EQ(plan["formats"]["mxfp4"]["block_bytes"], 64 * (2 * 584 + 68));
}

// The example of docs/capacity.md is GLM-5.2.
TEST_F(PlanCommand, TheDocumentedModelFile) {
  const std::string page = Read(SourcePath("docs/capacity.md"));
  const std::size_t first = page.find("```json\n"), last = page.find("\n```\n", first);
  ASSERT_NE(first, std::string::npos);
  const std::string model = Write("model.json", page.substr(first + 8, last - first - 8));
  const json mine = LijitJson({"plan", "--model", model, "--cache-memory", "9GiB"}, 0);
  const json known = LijitJson({"plan", "--model", "glm-5.2", "--cache-memory", "9GiB"}, 0);
  EXPECT_EQ(mine["model"], "my-glm");
  EXPECT_EQ(mine["formats"], known["formats"]);
}

TEST_F(PlanCommand, AWrongModelFileNamesTheMember) {
  struct {
    const char* text;
    const char* named;
  } constexpr kCases[] = {
      {"[]", "is no JSON object"},
      {"{", "is no JSON object"},
      {R"({"layer": 2})", "'layer' is not known"},
      {R"({"layers": 2.5})", "'layers' is 2.5"},
      {R"({"layers": 3000000000})", "'layers' is 3000000000"},
      {R"({"layers": 18446744073709551615})", "'layers' is 18446744073709551615"},
      {R"({"layers": 2, "family": "v5"})", "'family' is 'v5'"},
      {R"({"layers": 2, "caches": {}})", "'caches' is no list"},
      {R"({"layers": 2, "caches": [3]})", "cache 0: is no JSON object"},
      {R"({"layers": 2, "caches": [{"role": "keys"}]})", "cache 0: role 'keys'"},
      {R"({"layers": 2, "caches": [{"role": "latent", "layers": "1-x"}]})",
       "cache 0: layers '1-x'"},
      {R"({"layers": 2})", "caches of model"},
  };
  for (const auto& each : kCases) {
    const std::string model = Write("model.json", each.text);
    const Answer answer = Lijit({"plan", "--model", model, "--cache-memory", "1GiB"});
    EXPECT_EQ(answer.code, 2) << each.text;
    EXPECT_THAT(answer.err, HasSubstr(each.named));
    EXPECT_EQ(answer.out, "");
  }
}

TEST_F(PlanCommand, AgreesWithALog) {
  const json plan = PlanJson();
  const std::string log =
      "GPU KV cache size: " + plan["formats"]["fp8"]["tokens"].dump() + " tokens\n";
  const json reconciled = PlanJson({"--observed", Write("log", log)})["reconciled"];
  EXPECT_EQ(reconciled["agrees"], true);
  input_ = log;
  EXPECT_EQ(PlanJson({"--observed", "-"})["reconciled"]["agrees"], true);
}

TEST_F(PlanCommand, NamesTheCauseOrTheRemainder) {
  const json plan = PlanJson();
  const json& mxfp4 = plan["formats"]["mxfp4"];
  const json other = {{"blocks", mxfp4["blocks"]}, {"block_bytes", mxfp4["block_bytes"]}};
  const json named = PlanJson({"--observed", Write("a.json", other.dump())})["reconciled"];
  EXPECT_EQ(named["agrees"], false);
  EXPECT_EQ(named["explanations"][0]["cause"], "indexer format");

  const std::int64_t blocks = plan["formats"]["fp8"]["blocks"];
  const std::string unknown =
      Write("b.json", json{{"blocks", blocks - 37}, {"block_bytes", 1'002'240}}.dump());
  const json left = PlanJson({"--observed", unknown}, 1)["reconciled"];
  EXPECT_EQ(left["explanations"], json::array());
  EXPECT_EQ(left["unexplained_bytes"], 37 * 1'002'240);
  EXPECT_THAT(Lijit(Plan({"--observed", unknown})).out, HasSubstr("37,082,880 bytes remain"));
}

TEST_F(PlanCommand, GroupsOfAnEngine) {
  const std::string file = Write("groups.json", R"({"groups": [
      [{"count": 21, "bytes": 37440}, {"count": 20, "bytes": 1728}, {"count": 21, "bytes": 8640}],
      823680, 786240, 870912, [{"count": 20, "bytes": 32832}]]})");
  EXPECT_EQ(PlanJson({"--observed", file})["reconciled"]["agrees"], true);
}

TEST_F(PlanCommand, AnEnginesMemoryAndLengthStandIn) {
  const std::string log = Write("log",
                                "Available KV cache memory: 8.00 GiB\n"
                                "Maximum concurrency for 65,536 tokens per request: 1.23x\n");
  const json plan = LijitJson({"plan", "--model", "deepseek-v4-flash", "--observed", log}, 0);
  EXPECT_EQ(plan["max_model_len"], 65'536);
  EXPECT_EQ(plan["reconciled"]["agrees"], true) << plan["reconciled"];
}

TEST_F(PlanCommand, NonsenseIsAUsageError) {
  struct {
    Arguments arguments;
    const char* named;
  } const kCases[] = {
      {{"plan", "--model", "deepseek-v4-flash"}, "no memory is given"},
      {{"plan", "--memory", "24GiB"}, "--model"},
      {{"plan", "--model", "gpt-2", "--memory", "24GiB"}, "model 'gpt-2' is not known"},
      {{"plan", "--model", "none.json", "--memory", "24GiB"}, "none.json"},
      {Plan({"--memory", "24GiB"}), "both a device's memory and the cache's"},
      {Plan({"--indexer", "fp4"}), "indexer 'fp4'"},
      {Plan({"--layout", "dense"}), "layout 'dense'"},
      {Plan({"--pool", "x"}), "pool 'x'"},
      {Plan({"--latent", "int3"}), "latent format 'int3'"},
      {Plan({"--fraction", "1.5"}), "'1.5' is not a fraction"},
      {Plan({"--weights", "many"}), "--weights: 'many' is not a size"},
      {Plan({"--page-align", "0"}), "--page-align"},
      {Plan({"--page-align", "64", "--layout", "none"}), "--layout"},
      {Plan({"--batched-tokens", "-1"}), "batched tokens is -1"},
      {Plan({"--pipeline-ranks", "44"}), "pipeline ranks is 44"},
      {Plan({"--indexer-layers", "50"}), "layers of cache 'indexer'"},
      {Plan({"--concurrency", "99999999999999999999"}), "concurrency"},
      {Plan({"--observed", "no such file"}), "no such file"},
      {Plan({"--observed", SourcePath("README.md")}), "no line of the log is known"},
  };
  for (const auto& each : kCases) {
    const Answer answer = Lijit(each.arguments);
    EXPECT_EQ(answer.code, 2) << each.named;
    EXPECT_THAT(answer.err, HasSubstr(each.named));
  }
}

TEST_F(PlanCommand, HelpHasAnExample) {
  const Answer help = Lijit({"plan", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("Example"));
}

}  // namespace
}  // namespace lijit::cli
