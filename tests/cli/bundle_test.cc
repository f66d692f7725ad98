// SPDX-License-Identifier: Apache-2.0
// Entries on their way to other machines, and what tells two of them apart.
#include <filesystem>

#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

using ::testing::HasSubstr;

Arguments Warm(const std::string& dir, const Arguments& more = {}) {
  Arguments arguments = {"warm",     "--model", "glm-5", "--format",    "mxfp4",
                         "--target", "sm_86",   "--ptx", "--cache-dir", dir};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

class BundleCommand : public CompilingCliTest {
 protected:
  void SetUp() override {
    CompilingCliTest::SetUp();
    if (IsSkipped()) return;
    UseOwnCache();
    warm_ = LijitJson(Warm(Path("cache")), 0);
    exported_ = LijitJson({"cache", "export", Path("b.tar")}, 0);
  }
  json warm_, exported_;
};

TEST_F(BundleCommand, IsTheSameWhereverAndWheneverItIsMade) {
  EXPECT_EQ(exported_["entries"], warm_["kernels"]);
  EXPECT_EQ(exported_["bytes"], Read(Path("b.tar")).size());
  LijitJson(Warm(Path("other/place"), {"--jobs", "1"}), 0);
  const json again =
      LijitJson({"cache", "export", Path("c.tar"), "--cache-dir", Path("other/place")}, 0);
  EXPECT_EQ(again["sha256"], exported_["sha256"]);
  EXPECT_EQ(Read(Path("c.tar")), Read(Path("b.tar")));
}

// Warmed by one installation in one folder, used by another in another.
TEST_F(BundleCommand, IsHitByAnotherInstallationAtAnotherPath) {
  std::filesystem::create_directories(Path("prefix/bin"));
  const std::string program = Path("prefix/bin/lijit");
  std::filesystem::copy_file(LIJIT_PROGRAM, program);
  environment_["LIJIT_CACHE_DIR"] = Path("elsewhere/cache");
  const json imported = LijitJson({"cache", "import", Path("b.tar")}, 0);
  EXPECT_EQ(imported["stored"], warm_["kernels"]);
  EXPECT_EQ(imported["sha256"], exported_["sha256"]);
  EXPECT_EQ(LijitJson({"cache", "import", Path("b.tar")}, 0)["stored"], 0);
  const Answer answer = RunProgram({.program = program,
                                    .arguments = Warm(Path("elsewhere/cache"), {"--json"}),
                                    .environment = environment_,
                                    .input = "",
                                    .output_path = ""},
                                   Path("."));
  const json warm = json::parse(answer.out, nullptr, false);
  ASSERT_TRUE(warm.is_object()) << answer.err;
  EXPECT_EQ(warm["hits"], warm_["kernels"]);
  EXPECT_EQ(warm["compiled"], 0);
}

TEST_F(BundleCommand, AsTextAndItsMistakes) {
  EXPECT_THAT(Lijit({"cache", "export", Path("d.tar")}).out,
              HasSubstr("sha256 " + exported_["sha256"].get<std::string>()));
  EXPECT_THAT(Lijit({"cache", "import", Path("d.tar")}).out, HasSubstr("0 entries stored"));
  EXPECT_EQ(Lijit({"cache", "export", Path("d.tar"), "--target", "sm_90a"}).code, 2);
  EXPECT_EQ(Lijit({"cache", "export", Path("no/folder/d.tar")}).code, 4);
  EXPECT_EQ(Lijit({"cache", "import", Write("text", "text")}).code, 2);
}

TEST_F(BundleCommand, ADamagedOneIsRefusedAndDescribed) {
  std::string bytes = Read(Path("b.tar"));
  bytes[bytes.size() / 2] ^= 1;
  const std::string damaged = Write("damaged.tar", bytes);
  environment_["LIJIT_CACHE_DIR"] = Path("empty");
  const Answer answer = Lijit({"cache", "import", damaged});
  EXPECT_EQ(answer.code, 1);
  EXPECT_THAT(answer.err, HasSubstr("nothing was imported"));
  EXPECT_EQ(LijitJson({"cache", "ls"}, 0)["entries"], json::array());
  EXPECT_FALSE(LijitJson({"dump", damaged}, 1)["problems"].empty());
}

TEST_F(BundleCommand, DumpListsItsEntries) {
  const json dump = LijitJson({"dump", Path("b.tar")}, 0);
  EXPECT_EQ(dump["kind"], "bundle");
  EXPECT_EQ(dump["members"].size(), warm_["kernels"]);
  EXPECT_EQ(dump["members"][0]["kind"], "ptx");
  EXPECT_EQ(dump["members"][0]["target"], "sm_86");
  EXPECT_EQ(dump["members"][0]["identifier"].get<std::string>().size(), 64u);
}

TEST_F(BundleCommand, KeysAreReadableAndCompared) {
  const auto key_of = [&](const char* kernel) {
    for (const json& entry : warm_["entries"]) {
      if (entry["kernel"] == kernel) return entry["key"].get<std::string>();
    }
    return std::string("no such kernel");
  };
  const std::string a = key_of("logits_paged"), b = key_of("top_k");
  const json shown = LijitJson({"cache", "show", a}, 0);
  EXPECT_EQ(shown["key_fields"][0]["label"], "schema");
  EXPECT_THAT(Lijit({"cache", "show", a}).out, HasSubstr("\ntarget     sm_86\n"));
  EXPECT_THAT(Lijit({"cache", "show", a}).out, HasSubstr("\nmodule\n"));

  const json same = LijitJson({"cache", "explain", a, a}, 0);
  EXPECT_EQ(same["equal"], true);
  EXPECT_EQ(same["differences"], json::array());
  const json other = LijitJson({"cache", "explain", a, b}, 0);
  EXPECT_EQ(other["equal"], false);
  EXPECT_EQ(other["differences"][0]["label"], "module");
  const Answer text = Lijit({"cache", "explain", a, b});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("module\n  @@\n"));
  EXPECT_THAT(text.out, HasSubstr("\n  +"));
  EXPECT_EQ(Lijit({"cache", "explain", a, "xyz"}).code, 2);
}

// Cubins need no compiler.
using DumpDiff = CliTest;

TEST_F(DumpDiff, NamesWhatDiffers) {
  const std::string a = SourcePath("tests/data/cubin/v8_sm_86.cubin"),
                    b = SourcePath("tests/data/cubin/v8_sm_90a.cubin");
  const json same = LijitJson({"dump", "--diff", a, a}, 0);
  EXPECT_EQ(same["equal"], true);
  const json other = LijitJson({"dump", "--diff", a, b}, 1);
  EXPECT_EQ(other["equal"], false);
  bool found = false;
  for (const json& difference : other["differences"]) {
    if (difference["path"] != "target") continue;
    found = difference["a"] == "sm_86" && difference["b"] == "sm_90a";
  }
  EXPECT_TRUE(found) << other.dump(2);
  const Answer text = Lijit({"dump", "--diff", a, b});
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.out, HasSubstr("\ntarget\n- sm_86\n+ sm_90a\n"));
}

TEST_F(DumpDiff, OneChangedByteOfCodeIsShown) {
  const std::string path = SourcePath("tests/data/cubin/v8_sm_86.cubin");
  const json dump = LijitJson({"dump", path}, 0);
  std::string bytes = Read(path), section;
  for (const json& candidate : dump["sections"]) {
    const std::string name = candidate["name"];
    if (!name.starts_with(".text.")) continue;
    section = name;
    bytes[candidate["offset"].get<std::size_t>() + 16] ^= 1;
    break;
  }
  const json diff = LijitJson({"dump", "--diff", path, Write("changed", bytes)}, 1);
  ASSERT_EQ(diff["differences"].size(), 1u) << diff.dump(2);
  EXPECT_EQ(diff["differences"][0]["path"], "sections/" + section + "/contents");
  EXPECT_THAT(diff["differences"][0]["a"].get<std::string>(), HasSubstr("at 0x10: "));
}

TEST_F(DumpDiff, TakesTwoFiles) {
  const std::string path = SourcePath("tests/data/cubin/v8_sm_86.cubin");
  EXPECT_EQ(Lijit({"dump", "--diff", path}).code, 2);
  EXPECT_EQ(Lijit({"dump", path, path}).code, 2);
  EXPECT_EQ(Lijit({"dump", "--diff", path, Path("absent")}).code, 2);
}

}  // namespace
}  // namespace lijit::cli
