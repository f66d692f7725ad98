// SPDX-License-Identifier: Apache-2.0
// The fields that others rely on: their names and types (README.md, "JSON"). More are welcome.
#include <algorithm>
#include <span>

#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

struct Field {
  const char* path;  // a JSON pointer; "*" is the first element of a list
  const char* type;  // as json::type_name says; "x|null" may also be null
};

constexpr Field kRunFields[] = {
    {"/ok", "boolean"},
    {"/bitwise_equal", "boolean"},
    {"/calc_diff", "number"},
    {"/topk_equal", "boolean"},
    {"/recall", "number"},
    {"/calc_diff_unquantized", "number"},
    {"/device", "string"},
    {"/target", "string"},
    {"/backend", "string"},
    {"/schedule", "string"},
    {"/format", "string"},
    {"/op", "string"},
    {"/cache", "string"},
    {"/compile_ms", "number"},
    {"/findings", "array"},
    {"/instructions", "number|null"},
    {"/kernel_us", "number|null"},
};
constexpr Field kWarmFields[] = {
    {"/kernels", "number"},
    {"/compiled", "number"},
    {"/hits", "number"},
    {"/failed", "number"},
    {"/seconds", "number"},
    {"/median_compile_ms", "number|null"},
    {"/entries", "array"},
    {"/entries/*/key", "string"},
    {"/entries/*/kernel", "string"},
    {"/entries/*/target", "string"},
    {"/entries/*/backend", "string"},
    {"/entries/*/compile_ms", "number"},
    {"/entries/*/cubin_bytes", "number"},
};
constexpr Field kStatsFields[] = {
    {"/entries", "number"},         {"/bytes", "number"},
    {"/counters", "object"},        {"/counters/hit_disk", "number"},
    {"/counters/absent", "number"}, {"/counters/bad_checksum", "number"},
};
constexpr Field kListFields[] = {
    {"/entries/*/key", "string"}, {"/entries/*/path", "string"}, {"/entries/*/bytes", "number"}};
constexpr Field kExplainFields[] = {{"/a", "string"},
                                    {"/b", "string"},
                                    {"/equal", "boolean"},
                                    {"/differences/*/label", "string"},
                                    {"/differences/*/a", "string|null"},
                                    {"/differences/*/b", "string|null"}};
constexpr Field kExportFields[] = {
    {"/file", "string"}, {"/entries", "number"}, {"/bytes", "number"}, {"/sha256", "string"}};
constexpr Field kImportFields[] = {{"/file", "string"},
                                   {"/entries", "number"},
                                   {"/bytes", "number"},
                                   {"/sha256", "string"},
                                   {"/stored", "number"}};
constexpr Field kDiffFields[] = {{"/equal", "boolean"},
                                 {"/a", "string"},
                                 {"/b", "string"},
                                 {"/differences/*/path", "string"},
                                 {"/sass_diff", "string"}};
constexpr Field kVerifyFields[] = {
    {"/ok", "boolean"}, {"/entries", "number"}, {"/damaged", "array"}};
constexpr Field kDumpFields[] = {
    {"/kind", "string"},
    {"/generation", "string"},
    {"/target", "string"},
    {"/accelerated", "boolean"},
    {"/runs_on", "array"},
    {"/runs_on/*", "number"},
    {"/toolkit", "string"},
    {"/kernels", "array"},
    {"/kernels/*/name", "string"},
    {"/kernels/*/registers", "number"},
    {"/kernels/*/shared_bytes", "number"},
    {"/kernels/*/local_bytes", "number"},
    {"/kernels/*/constant_bytes", "number"},
    {"/kernels/*/param_bytes", "number"},
    {"/kernels/*/max_threads", "number"},
    {"/kernels/*/barriers", "number"},
    {"/kernels/*/spills", "number|null"},
    {"/problems", "array"},
};
constexpr Field kTargetsFields[] = {
    {"/rows", "array"},
    {"/rows/*/target", "string"},
    {"/rows/*/format", "string"},
    {"/rows/*/op", "string"},
    {"/rows/*/schedule", "string"},
    {"/rows/*/backend", "string"},
    {"/rows/*/evidence", "string"},
};
constexpr Field kBenchFields[] = {
    {"/ok", "boolean"},
    {"/device", "string"},
    {"/state", "string"},
    {"/limits", "string"},
    {"/method", "string"},
    {"/rows", "array"},
    {"/rows/*/kind", "string"},
    {"/rows/*/H", "number"},
    {"/rows/*/us", "number|null"},
    {"/rows/*/us_p90", "number|null"},
    {"/rows/*/tflops", "number|null"},
    {"/rows/*/gbps", "number|null"},
    {"/rows/*/gpairs", "number|null"},
    {"/rows/*/limit_share", "number|null"},
    {"/rows/*/format", "string"},
    {"/rows/*/schedule", "string"},
    {"/rows/*/backend", "string"},
    {"/rows/*/target", "string"},
    {"/rows/*/verified", "boolean"},
    {"/rows/*/sm_clock_mhz", "number|null"},
};
constexpr Field kComparisonFields[] = {
    {"/rows/*/ratio", "number"},   {"/rows/*/ratio_kernel", "number"},
    {"/rows/*/group", "string"},   {"/groups/*/format", "string"},
    {"/groups/*/group", "string"}, {"/groups/*/ratio", "number"},
    {"/groups/*/least", "number"}, {"/unmatched", "number"},
};
constexpr Field kAnalysisFields[] = {
    {"/ok", "boolean"},
    {"/kernels/*/target", "string"},
    {"/kernels/*/op", "string"},
    {"/kernels/*/format", "string"},
    {"/kernels/*/schedule", "string"},
    {"/kernels/*/backend", "string"},
    {"/kernels/*/registers", "number"},
    {"/kernels/*/spills", "number"},
    {"/kernels/*/local_bytes", "number"},
    {"/kernels/*/shared_bytes", "number"},
    {"/kernels/*/rows", "number"},
    {"/kernels/*/bytes_a_pair", "number"},
    {"/kernels/*/loops", "array"},
    {"/kernels/*/lanes_a_pair/instructions", "number"},
    {"/kernels/*/lanes_a_pair/tensor", "number"},
    {"/kernels/*/predictions/*/gpu", "string"},
    {"/kernels/*/predictions/*/gpairs", "number"},
    {"/kernels/*/predictions/*/bound", "string"},
    {"/kernels/*/predictions/*/memory_gpairs", "number"},
    {"/kernels/*/predictions/*/ratio", "number"},
    {"/kernels/*/unknown", "array"},
    {"/kernels/*/notes", "array"},
    {"/kernels/*/problems", "array"},
};
constexpr Field kDoctorFields[] = {
    {"/ok", "boolean"},       {"/driver", "string|null"}, {"/devices", "array"},
    {"/nvrtc", "object"},     {"/nvrtc/path", "string"},  {"/nvrtc/version", "string"},
    {"/nvjitlink", "object"}, {"/llvm", "string"},        {"/assembler", "string"},
    {"/cache_dir", "string"}, {"/problems", "array"},
};

// The field's value, or nullptr.
const json* Find(const json& object, std::string_view path) {
  const json* value = &object;
  while (!path.empty()) {
    const std::string name(path.substr(1, path.find('/', 1) - 1));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    const bool exists = name == "*" ? value->is_array() && !value->empty()
                                    : value->is_object() && value->contains(name);
    if (!exists) return nullptr;
    value = name == "*" ? &value->front() : &(*value)[name];
  }
  return value;
}

void ExpectFields(const json& object, std::span<const Field> fields) {
  for (const Field& field : fields) {
    const json* const value = Find(object, field.path);
    ASSERT_NE(value, nullptr) << field.path << " in " << object.dump(2);
    const std::string_view type = field.type;
    const bool fits = type.substr(0, type.find('|')) == value->type_name() ||
                      (type.ends_with("|null") && value->is_null());
    EXPECT_TRUE(fits) << field.path << " is " << value->dump() << ", not " << field.type;
  }
}

using JsonFields = CliTest;
using CompilingJsonFields = CompilingCliTest;

TEST_F(CompilingJsonFields, Run) {
  for (const char* op : {"paged", "ragged"}) {
    const json run = LijitJson(SmallRun({"--op", op}), 0);
    ExpectFields(run, kRunFields);
    EXPECT_EQ(run["ok"], true);
    EXPECT_EQ(run["op"], op);
    EXPECT_EQ(run["target"], "sm_86");
    EXPECT_TRUE(run["instructions"].is_number());
    EXPECT_TRUE(run["kernel_us"].is_null());
    EXPECT_THAT(run["cache"], testing::AnyOf("hit", "miss"));
  }
}

TEST_F(CompilingJsonFields, Bench) {
  const Arguments common = {"bench", "--device", "emulated", "--verify-only", "--heads",
                            "8",     "--rotate", "1",        "--format",      "mxfp4"};
  Arguments decode = common;
  decode.insert(decode.end(), {"--batch", "1,2", "--context", "65"});
  const json report = LijitJson(decode, 0);
  ExpectFields(report, kBenchFields);
  ASSERT_EQ(report["rows"].size(), 2u);
  EXPECT_EQ(report["rows"][1]["B"], 2);
  EXPECT_EQ(report["rows"][1]["ctx"], 65);
  EXPECT_EQ(report["rows"][1]["next_n"], 1);
  EXPECT_EQ(report["rows"][1]["bitwise_equal"], true);
  // A report's rows are shapes for the next one.
  Arguments again = common;
  again.insert(again.end(), {"--shapes", Write("shapes.json", report.dump())});
  EXPECT_EQ(LijitJson(again, 0)["rows"].size(), 2u);
  Arguments prefill = common;
  prefill.insert(prefill.end(), {"--op", "ragged", "--queries", "3", "--keys", "70"});
  const json row = LijitJson(prefill, 0)["rows"][0];
  EXPECT_EQ(row["kind"], "prefill");
  EXPECT_EQ(row["S"], 3);
  EXPECT_EQ(row["N"], 70);
  EXPECT_EQ(row["mask"], "causal");
}

// No table is short of an opcode that these kernels have, no loop of theirs is misread.
TEST_F(CompilingJsonFields, BenchAnalysis) {
  const Arguments command = {"bench", "--analyze",   "--target", "sm_80,sm_86,sm_89",
                             "--op",  "paged,ragged"};
  const Answer answer = Lijit(command);
  if (answer.code == 4) {
    EXPECT_THAT(answer.err, testing::HasSubstr("nvdisasm"));
    GTEST_SKIP() << answer.err;
  }
  const json report = LijitJson(command, 0);
  ExpectFields(report, kAnalysisFields);
  EXPECT_EQ(report["kernels"].size(), 12u);
  for (const json& kernel : report["kernels"]) {
    EXPECT_EQ(kernel["problems"].size(), 0u) << kernel.dump();
    EXPECT_EQ(kernel["spills"], 0) << kernel.dump();
    const json& loops = kernel["loops"];
    ASSERT_GE(loops.size(), 1u);
    EXPECT_EQ(loops.back()["over"], "keys");
  }
}

TEST_F(JsonFields, BenchComparison) {
  const std::string ours = Write("ours.json", R"({"rows": [
      {"kind": "paged", "H": 64, "B": 1, "ctx": 64, "next_n": 1, "us": 2, "format": "mxfp4"},
      {"kind": "prefill", "H": 64, "S": 4, "N": 8, "mask": "full", "us": null, "format": "mxfp4"}]})");
  const std::string peer = Write("peer.json", R"({"what": "a peer", "rows": [
      {"kind": "paged", "H": 64, "B": 1, "ctx": 64, "next_n": 1, "us": 3, "metadata_us": 1}]})");
  const json comparison = LijitJson({"bench", "--results", ours, "--compare", peer}, 0);
  ExpectFields(comparison, kComparisonFields);
  EXPECT_EQ(comparison["rows"][0]["ratio"], 2);
  EXPECT_EQ(comparison["rows"][0]["ratio_kernel"], 1.5);
  EXPECT_EQ(comparison["unmatched"], 1);
  LijitJson({"bench", "--results", Write("none.json", R"({"rows": []})"), "--compare", peer}, 1);
  for (const char* text :
       {"[]", "{}", R"({"rows": 1})", R"({"rows": [3]})", R"({"rows": [{"kind": "walk"}]})",
        R"({"rows": [{"kind": "paged", "H": "many"}]})",
        R"({"rows": [{"kind": "prefill", "mask": "half"}]})",
        R"({"rows": [{"kind": "paged", "us": -1}]})"}) {
    LijitJson({"bench", "--results", ours, "--compare", Write("bad.json", text)}, 2);
  }
}

TEST_F(CompilingJsonFields, WarmAndCache) {
  UseOwnCache();
  const json warm =
      LijitJson({"warm", "--target", "sm_86", "--model", "glm-5", "--format", "fp8_e4m3"}, 0);
  ExpectFields(warm, kWarmFields);
  EXPECT_EQ(warm["entries"].size(), warm["kernels"]);
  ExpectFields(LijitJson({"cache", "stats"}, 0), kStatsFields);
  ExpectFields(LijitJson({"cache", "ls"}, 0), kListFields);
  ExpectFields(LijitJson({"cache", "verify"}, 0), kVerifyFields);
  const std::string a = warm["entries"][0]["key"], b = warm["entries"][1]["key"];
  ExpectFields(LijitJson({"cache", "explain", a, b}, 0), kExplainFields);
  ExpectFields(LijitJson({"cache", "export", Path("b.tar")}, 0), kExportFields);
  ExpectFields(LijitJson({"cache", "import", Path("b.tar")}, 0), kImportFields);
}

TEST_F(JsonFields, Dump) {
  for (const char* name : {"v7_sm_86", "v7_sm_90a", "v8_sm_86", "v8_sm_100f"}) {
    const std::string path = SourcePath("tests/data/cubin/") + name + ".cubin";
    ExpectFields(LijitJson({"dump", path}, 0), kDumpFields);
  }
}

TEST_F(JsonFields, DumpDiff) {
  const std::string folder = SourcePath("tests/data/cubin/");
  ExpectFields(
      LijitJson({"dump", "--diff", folder + "v7_sm_86.cubin", folder + "v8_sm_86.cubin"}, 1),
      kDiffFields);
}

TEST_F(JsonFields, Targets) {
  const json targets = LijitJson({"targets"}, 0);
  ExpectFields(targets, kTargetsFields);
  int refused = 0;
  for (const json& row : targets["rows"]) {
    if (row.contains("evidence")) continue;
    EXPECT_EQ(row["refused"], true);
    EXPECT_TRUE(row["reason"].is_string());
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST_F(JsonFields, Doctor) {
  const Answer answer = Lijit({"doctor", "--json"});
  EXPECT_LE(answer.code, 1);
  const json doctor = json::parse(answer.out);
  ExpectFields(doctor, kDoctorFields);
  EXPECT_EQ(doctor["ok"], answer.code == 0);
  EXPECT_EQ(doctor["cache_dir"], environment_["LIJIT_CACHE_DIR"]);
}

}  // namespace
}  // namespace lijit::cli
