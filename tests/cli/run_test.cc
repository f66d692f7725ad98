// SPDX-License-Identifier: Apache-2.0
// `lijit run`: formats from files, arrays from files and into files, the cache.
#include <cstring>

#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

using ::testing::HasSubstr;

// A .npy file of version 1, f32.
std::string Npy(const std::string& shape, const std::vector<float>& values) {
  const std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header +
         std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

// What follows the header of a .npy file.
template <typename T>
std::vector<T> Values(const std::string& npy) {
  const std::size_t start = npy.find('\n') + 1;
  std::vector<T> values((npy.size() - start) / sizeof(T));
  std::memcpy(values.data(), npy.data() + start, values.size() * sizeof(T));
  return values;
}

using RunCommand = CompilingCliTest;

TEST_F(RunCommand, SecondTimeIsAHit) {
  UseOwnCache();
  const json first = LijitJson(SmallRun(), 0);
  EXPECT_EQ(first["cache"], "miss");
  EXPECT_GT(first["compile_ms"], 0);
  const json second = LijitJson(SmallRun(), 0);
  EXPECT_EQ(second["cache"], "hit");
  EXPECT_EQ(second["compile_ms"], 0);
  const json other = LijitJson(SmallRun({"--cache-dir", Path("other")}), 0);
  EXPECT_EQ(other["cache"], "miss");
}

TEST_F(RunCommand, TextSaysWhatHeld) {
  const Answer exact = Lijit(SmallRun({"--format", "mxfp4"}));
  EXPECT_EQ(exact.code, 0);
  EXPECT_EQ(exact.err, "");
  EXPECT_THAT(exact.out, HasSubstr("logits equal the reference in every bit             yes"));
  // FP8 on tensor cores is summed in their order.
  const Answer near = Lijit(SmallRun());
  EXPECT_EQ(near.code, 0);
  EXPECT_THAT(near.out, HasSubstr("logits are within the limits of the reference       yes"));
}

TEST_F(RunCommand, EveryOption) {
  const Arguments cases[] = {
      {"--format", "mxfp4", "--batch", "2", "--next-n", "2", "--page", "32"},
      {"--op", "ragged", "--queries", "3", "--input", "f32", "--seed", "7"},
      {"--rotation", "v3.2", "--head-dim", "64"},
      {"--rotation", "glm-5", "--input", "f16"},
      {"--rotation", "v4", "--format", "mxfp4"},
      {"--page-stride", "16384", "--schedule", "simt", "--backend", "cuda"},
  };
  for (const Arguments& more : cases) {
    const json run = LijitJson(SmallRun(more), 0);
    EXPECT_TRUE(run["bitwise_equal"] == true || run["schedule"] != "simt")
        << testing::PrintToString(more);
    EXPECT_EQ(run["writers_equal"], true) << testing::PrintToString(more);
  }
}

TEST_F(RunCommand, WithoutAGpuAutoEmulates) {
  const json doctor = json::parse(Lijit({"doctor", "--json"}).out);
  if (!doctor["driver"].is_null()) GTEST_SKIP() << "there is a driver";
  const json run = LijitJson(
      {"run", "--device", "auto", "--target", "sm_86", "--heads", "8", "--context", "64"}, 0);
  EXPECT_EQ(run["device"], "emulated sm_86");
}

TEST_F(RunCommand, FormatFromAFile) {
  const std::string file = SourcePath("tests/formats/nvfp4.lir");
  EXPECT_EQ(LijitJson(SmallRun({"--format", file}), 0)["format"], "nvfp4");
  const std::string several = SourcePath("tests/formats/odd.lir");
  const Answer answer = Lijit(SmallRun({"--format", several}));
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err, HasSubstr("e3m4, e3m0"));
  EXPECT_THAT(answer.err, HasSubstr("--format-name"));
  const json run = LijitJson(SmallRun({"--format", several, "--format-name", "e3m4"}), 0);
  EXPECT_EQ(run["format"], "e3m4");
  const Answer unknown = Lijit(SmallRun({"--format", several, "--format-name", "e9"}));
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no format 'e9'"));
}

TEST_F(RunCommand, ABrokenFormatFileIsShownWithItsLine) {
  const std::string file = Write("bad.lir", "// one\nformat @x { element { exponent = 99 } }\n");
  const Answer answer = Lijit(SmallRun({"--format", file}));
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err, HasSubstr(file + ":2:"));
}

// The first of eight heads has unit vectors as queries, the others have weight 0: the scores are
// the keys' first and second numbers, times one factor.
TEST_F(RunCommand, ArraysInAndOut) {
  std::vector<float> q(2 * 8 * 32), k(4 * 32), w(2 * 8);
  q[0] = q[8 * 32 + 1] = 1;
  w[0] = w[8] = 1;
  const float first[] = {1, 4, 2, 3}, second[] = {8, 1, 4, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    k[i * 32] = first[i];
    k[i * 32 + 1] = second[i];
  }
  const json run = LijitJson(
      {"run", "--device", "emulated", "--op", "ragged", "--top-k", "5", "--q",
       Write("q.npy", Npy("2, 8, 32", q)), "--k", Write("k.npy", Npy("4, 32", k)), "--w",
       Write("w.npy", Npy("2, 8", w)), "--out", Path("out.npy"), "--topk-out", Path("topk.npy")},
      0);
  EXPECT_EQ(run["rows"], 2);
  EXPECT_EQ(run["keys"], 4);
  EXPECT_EQ(run["recall"], 1.0);
  EXPECT_THAT(Values<std::int32_t>(Read(Path("topk.npy"))),
              testing::ElementsAre(1, 3, 2, 0, -1, 0, 2, 3, 1, -1));
  const std::vector<float> out = Values<float>(Read(Path("out.npy")));
  ASSERT_EQ(out.size(), 8u);
  EXPECT_GT(out[1], out[3]);
  EXPECT_GT(out[4], out[6]);
}

TEST_F(RunCommand, ArraysThatDoNotFit) {
  const std::string q = Write("q.npy", Npy("2, 8, 32", std::vector<float>(512)));
  const std::pair<Arguments, const char*> cases[] = {
      {{"--q", Path("absent.npy")}, "absent.npy cannot be opened"},
      {{"--q", Write("text.npy", "no array")}, "text.npy: it does not start as an .npy file does"},
      {{"--q", Write("empty.npy", Npy("0, 8, 32", {}))}, "empty.npy: it holds no numbers"},
      {{"--q", SourcePath("tests/data/npy/fortran.npy")}, "np.ascontiguousarray"},
      {{"--q", SourcePath("tests/data/npy/f4.npy")}, "q has shape [2, 3]; accepted is"},
      {{"--q", q, "--k", Write("k.npy", Npy("2, 16", std::vector<float>(32)))}, "k has shape"},
      {{"--q", q, "--w", Write("w.npy", Npy("3, 8", std::vector<float>(24)))},
       "w has shape [3, 8]"},
  };
  for (const auto& [more, message] : cases) {
    Arguments arguments = {"run", "--device", "emulated", "--op", "ragged"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Answer answer = Lijit(arguments);
    EXPECT_EQ(answer.code, 2) << message;
    EXPECT_THAT(answer.err, HasSubstr(message));
  }
}

TEST_F(RunCommand, FilesThatCannotBeWritten) {
  const json run = LijitJson(SmallRun({"--out", Path("no/such/folder/out.npy")}), 2);
  EXPECT_EQ(run["ok"], true);  // the run itself
  EXPECT_EQ(run["error"]["code"], "invalid_argument");
  EXPECT_EQ(LijitJson(SmallRun({"--out", "/dev/full"}), 1)["error"]["code"], "failed");
}

}  // namespace
}  // namespace lijit::cli
