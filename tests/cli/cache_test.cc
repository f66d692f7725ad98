// SPDX-License-Identifier: Apache-2.0
// `lijit cache`.
#include <filesystem>

#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

using ::testing::HasSubstr;

class CacheCommand : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    UseOwnCache();
  }
};

class FilledCacheCommand : public CompilingCliTest {
 protected:
  void SetUp() override {
    CompilingCliTest::SetUp();
    if (IsSkipped()) return;
    UseOwnCache();
    LijitJson(SmallRun(), 0);
    entries_ = LijitJson({"cache", "ls"}, 0)["entries"];
    ASSERT_FALSE(entries_.empty());
  }
  json entries_;
};

TEST_F(CacheCommand, AnEmptyOne) {
  EXPECT_EQ(LijitJson({"cache", "ls"}, 0)["entries"], json::array());
  EXPECT_EQ(LijitJson({"cache", "verify"}, 0)["entries"], 0);
  EXPECT_EQ(LijitJson({"cache", "stats"}, 0)["bytes"], 0);
  EXPECT_THAT(Lijit({"cache", "ls"}).out, HasSubstr("0 entries"));
  EXPECT_THAT(Lijit({"cache", "stats"}).out, HasSubstr("Nothing was counted yet."));
}

TEST_F(CacheCommand, MemoryOnly) {
  environment_["LIJIT_CACHE_DIR"] = "";
  EXPECT_EQ(LijitJson({"cache", "ls"}, 1)["dir"], "");
  EXPECT_THAT(Lijit({"cache", "ls"}).err, HasSubstr("LIJIT_CACHE_DIR is set and empty"));
  EXPECT_EQ(Lijit({"cache", "gc", "--max-size", "1MiB"}).code, 4);
}

TEST_F(CacheCommand, AFolderThatCannotBeUsedIsNoEmptyCache) {
  const std::string file = Write("file", "no folder");
  for (const char* command : {"ls", "verify", "stats"}) {
    const Answer answer = Lijit({"cache", command, "--cache-dir", file});
    EXPECT_EQ(answer.code, 1) << command;
    EXPECT_THAT(answer.err, HasSubstr(file));
    const json object = LijitJson({"cache", command, "--cache-dir", file}, 1);
    EXPECT_EQ(object["ok"], false);
    EXPECT_FALSE(object["problems"].empty());
  }
}

TEST_F(CacheCommand, NoLimitToKeep) {
  environment_["LIJIT_CACHE_MAX_SIZE"] = "0";
  const Answer answer = Lijit({"cache", "gc"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err, HasSubstr("--max-size"));
}

TEST_F(FilledCacheCommand, ListsWhatIsThere) {
  for (const json& entry : entries_) {
    const std::string key = entry["key"];
    EXPECT_EQ(key.size(), 64u);
    EXPECT_TRUE(std::filesystem::exists(entry["path"].get<std::string>()));
    EXPECT_EQ(entry["bytes"], Read(entry["path"]).size());
    EXPECT_THAT(Lijit({"cache", "ls"}).out, HasSubstr(key.substr(0, 16)));
  }
}

TEST_F(FilledCacheCommand, ShowsAnEntryByTheStartOfItsKey) {
  const std::string key = entries_[0]["key"];
  const json shown = LijitJson({"cache", "show", key.substr(0, 12)}, 0);
  EXPECT_EQ(shown["key"], key);
  EXPECT_EQ(shown["target"], "sm_86");
  EXPECT_EQ(shown["image"], "ptx");
  EXPECT_THAT(shown["key_text"].get<std::string>(), HasSubstr("target:5:sm_86\n"));
  const Answer text = Lijit({"cache", "show", key});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("ptx for sm_86"));
}

TEST_F(FilledCacheCommand, DumpShowsThePtxOfAnEntry) {
  const json dump = LijitJson({"dump", entries_[0]["path"]}, 0);
  EXPECT_EQ(dump["kind"], "entry");
  EXPECT_EQ(dump["target"], "sm_86");
  EXPECT_THAT(dump["members"][0]["ptx"].get<std::string>(), HasSubstr(".target sm_86"));
}

TEST_F(FilledCacheCommand, CollectsGarbage) {
  const json kept = LijitJson({"cache", "gc", "--max-size", "1GiB"}, 0);
  EXPECT_EQ(kept["evicted_entries"], 0);
  EXPECT_EQ(kept["entries"], entries_.size());
  EXPECT_EQ(LijitJson({"cache", "gc"}, 0)["entries"], entries_.size());
  const json none = LijitJson({"cache", "gc", "--max-size", "0"}, 0);
  EXPECT_EQ(none["evicted_entries"], entries_.size());
  EXPECT_EQ(none["entries"], 0);
  EXPECT_EQ(LijitJson({"cache", "ls"}, 0)["entries"], json::array());
  EXPECT_THAT(Lijit({"cache", "gc", "--max-size", "0"}).out, HasSubstr("0 entries (0 B) removed"));
}

TEST_F(FilledCacheCommand, Counts) {
  LijitJson(SmallRun(), 0);
  const json counters = LijitJson({"cache", "stats"}, 0)["counters"];
  EXPECT_EQ(counters["compiled"], entries_.size());
  EXPECT_EQ(counters["hit_disk"], entries_.size());
}

}  // namespace
}  // namespace lijit::cli
