// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "tests/unit/cache/scratch.h"

namespace lijit::cache {
namespace {

std::size_t FilesIn(const std::string& folder) {
  std::error_code ignored;
  const std::filesystem::directory_iterator files(folder, ignored);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

// Stores an entry in `dir`, then lets `damage` at its file.
void Prepare(const std::string& dir, const std::function<void(const std::string&)>& damage) {
  Store store(ConfigAt(dir));
  ASSERT_TRUE(store.Publish(EntryOf(KeyOf("module"))).ok());
  damage(OnlyEntry(store));
}

struct DamageCase {
  const char* name;
  Counter reason;
  std::function<void(const std::string&)> damage;
};

const DamageCase kDamages[] = {
    {"empty", Counter::kShort, [](const std::string& path) { WriteText(path, ""); }},
    {"cut", Counter::kShort,
     [](const std::string& path) {
       std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
     }},
    {"longer", Counter::kTrailing,
     [](const std::string& path) { WriteText(path, ReadText(path) + "x"); }},
    {"foreign", Counter::kBadMagic,
     [](const std::string& path) {
       WriteText(path,
                 "\x7f"
                 "ELF");
     }},
    {"flipped", Counter::kBadChecksum,
     [](const std::string& path) {
       std::string text = ReadText(path);
       text[text.size() - 20] ^= 4;
       WriteText(path, text);
     }},
    {"newer", Counter::kBadVersion,
     [](const std::string& path) {
       std::string text = ReadText(path);
       text[8] = 2;
       WriteText(path, text);
     }},
    {"other key", Counter::kKeyMismatch,
     [](const std::string& path) {
       const auto bytes = EncodeEntry(EntryOf(KeyOf("other")));
       WriteText(path, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
     }},
    {"other target", Counter::kTargetMismatch,
     [](const std::string& path) {
       Entry entry = EntryOf(KeyOf("module"));
       entry.target = "sm_86";
       const auto bytes = EncodeEntry(entry);
       WriteText(path, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
     }},
};

TEST(Store, DamageIsACountedMissMovedAsideAndRebuilt) {
  for (const DamageCase& test : kDamages) {
    SCOPED_TRACE(test.name);
    const Scratch scratch;
    Prepare(scratch.path(), test.damage);
    Store store(ConfigAt(scratch.path()));
    std::atomic<int> compiles = 0;
    const auto outcome = Get(store, {.compiles = &compiles});
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->event.outcome, test.reason);
    EXPECT_FALSE(outcome->event.notes.empty());
    EXPECT_EQ(compiles, 1);
    EXPECT_EQ(CountOf(store, test.reason), 1u);
    EXPECT_EQ(CountOf(store, Counter::kMovedAside), 1u);
    EXPECT_TRUE(std::filesystem::exists(scratch.path("damaged/" + KeyOf("module").Hex() + "." +
                                                     std::string(Info(test.reason).name))));
    Store next(ConfigAt(scratch.path()));
    EXPECT_EQ(Get(next, {})->event.outcome, Counter::kHitDisk);
  }
}

TEST(Store, DamageInAReadonlyFolderIsPassedOverAndLeftThere) {
  for (const DamageCase& test : kDamages) {
    SCOPED_TRACE(test.name);
    const Scratch shipped, own;
    Prepare(shipped.path(), test.damage);
    CacheConfig config = ConfigAt(own.path());
    config.readonly_dirs = {shipped.path()};
    Store store(config);
    EXPECT_EQ(Get(store, {})->event.outcome, test.reason);
    EXPECT_EQ(CountOf(store, Counter::kMovedAside), 0u);
    EXPECT_EQ(FilesIn(shipped.path("damaged")), 0u);
    Store next(config);
    EXPECT_EQ(Get(next, {})->event.outcome, Counter::kHitDisk);
    EXPECT_EQ(CountOf(next, test.reason), 1u);
  }
}

TEST(Store, VerifyListsEveryDamageThatNeedsNoRequestToSee) {
  for (const DamageCase& test : kDamages) {
    SCOPED_TRACE(test.name);
    const Scratch scratch;
    Prepare(scratch.path(), test.damage);
    const VerifyReport report = Store(ConfigAt(scratch.path())).Verify(nullptr);
    EXPECT_EQ(report.entries, 1u);
    if (test.reason == Counter::kTargetMismatch) {  // only a request knows its target
      EXPECT_TRUE(report.damaged.empty());
      continue;
    }
    ASSERT_EQ(report.damaged.size(), 1u);
    EXPECT_EQ(report.damaged[0].key, KeyOf("module").Hex());
    EXPECT_EQ(report.damaged[0].reason, test.reason);
    EXPECT_NE(report.damaged[0].message.find(report.damaged[0].path), std::string::npos);
  }
}

TEST(Store, WhatTheCallerRefusesIsAMissAndIsRebuilt) {
  const Scratch scratch;
  Prepare(scratch.path(), [](const std::string&) {});
  const Validator picky = [](const Entry& entry) {
    return entry.image == ToBytes("new image") ? Status() : Status(Damaged("it is stale"));
  };
  Store store(ConfigAt(scratch.path()));
  EXPECT_EQ(store.Verify(picky).damaged.at(0).reason, Counter::kImageRefused);
  const auto outcome = Get(store, {.image = "new image"}, picky);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->event.outcome, Counter::kImageRefused);
  EXPECT_NE(outcome->event.notes.at(0).find("it is stale"), std::string::npos);
  EXPECT_EQ(outcome->entry->image, ToBytes("new image"));
  EXPECT_TRUE(store.Verify(picky).damaged.empty());
}

TEST(Store, KeepsOnlySoManyDamagedEntries) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  for (int i = 0; i < 20; ++i) {
    const Key key = KeyOf("module " + std::to_string(i));
    ASSERT_TRUE(store.Publish(EntryOf(key)).ok());
    WriteText(OnlyEntry(store), "damaged");
    EXPECT_EQ(store.Lookup(key, "sm_90a", nullptr).outcome, Counter::kBadMagic);
  }
  EXPECT_EQ(FilesIn(scratch.path("damaged")), 16u);
}

TEST(Store, AsksReadonlyFoldersFirstAndInOrder) {
  const Scratch first, second, own;
  const Key key = KeyOf("module");
  ASSERT_TRUE(Store(ConfigAt(first.path())).Publish(EntryOf(KeyOf("unrelated"))).ok());
  ASSERT_TRUE(Store(ConfigAt(second.path())).Publish(EntryOf(key, "second")).ok());
  ASSERT_TRUE(Store(ConfigAt(own.path())).Publish(EntryOf(key, "own")).ok());
  CacheConfig config = ConfigAt(own.path());
  config.readonly_dirs = {first.path(), second.path()};
  Store store(config);
  const auto found = store.Lookup(key, "sm_90a", nullptr);
  EXPECT_EQ(found.outcome, Counter::kHitReadonly);
  EXPECT_EQ(found.entry->image, ToBytes("second"));
  EXPECT_EQ(store.List().size(), 3u);
}

TEST(Store, AReadonlyHitChangesNothing) {
  const Scratch shipped;
  Prepare(shipped.path(), [](const std::string&) {});
  CacheConfig config;
  config.readonly_dirs = {shipped.path()};
  Store store(config);
  const std::string path = OnlyEntry(store);
  const auto long_ago = std::filesystem::last_write_time(path) - std::chrono::hours(5);
  std::filesystem::last_write_time(path, long_ago);
  EXPECT_EQ(Get(store, {})->event.outcome, Counter::kHitReadonly);
  EXPECT_EQ(std::filesystem::last_write_time(path), long_ago);
}

TEST(Store, AHitMarksTheEntryAsUsed) {
  const Scratch scratch;
  Prepare(scratch.path(), [](const std::string& path) {
    std::filesystem::last_write_time(
        path, std::filesystem::last_write_time(path) - std::chrono::hours(5));
  });
  Store store(ConfigAt(scratch.path()));
  const auto before = store.List().at(0).used;
  EXPECT_EQ(Get(store, {})->event.outcome, Counter::kHitDisk);
  EXPECT_GT(store.List().at(0).used, before + 4 * 3600);
}

TEST(Store, ReadsAnEntryByTheStartOfItsKey) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  for (int i = 0; i < 17; ++i) {  // two of them start with the same digit
    ASSERT_TRUE(store.Publish(EntryOf(KeyOf(std::to_string(i)))).ok());
  }
  const std::string digest = KeyOf("3").Hex();
  EXPECT_EQ(*store.Read(digest), EntryOf(KeyOf("3")));
  EXPECT_EQ(*store.Read(digest.substr(0, 40)), EntryOf(KeyOf("3")));
  EXPECT_NE(store.Read("").error().message.find("several keys"), std::string::npos);
  EXPECT_NE(store.Read("xyz").error().message.find("no key"), std::string::npos);
}

TEST(Store, CountersOfAllProcessesAddUpInTheFolder) {
  const Scratch scratch;
  for (int i = 0; i < 3; ++i) {
    Store store(ConfigAt(scratch.path()));
    ASSERT_TRUE(Get(store, {}).ok());
  }
  const StoreStats stats = Store(ConfigAt(scratch.path())).Stats();
  EXPECT_EQ(stats.total[static_cast<std::size_t>(Counter::kCompiled)], 1u);
  EXPECT_EQ(stats.total[static_cast<std::size_t>(Counter::kHitDisk)], 2u);
  EXPECT_EQ(stats.process, Counts{});
  EXPECT_EQ(stats.entries, 1u);
  EXPECT_EQ(stats.bytes, EncodeEntry(*Store(ConfigAt(scratch.path())).Read(""))->size());
}

TEST(Store, ADamagedStatsFileIsReadAsFarAsItMakesSense) {
  const Scratch scratch;
  WriteText(scratch.path("stats"), "compiled 5\n\nnonsense\nhit_disk x\nunknown 7\nabsent 3");
  const StoreStats stats = Store(ConfigAt(scratch.path())).Stats();
  EXPECT_EQ(stats.total[static_cast<std::size_t>(Counter::kCompiled)], 5u);
  EXPECT_EQ(stats.total[static_cast<std::size_t>(Counter::kHitDisk)], 0u);
  EXPECT_EQ(stats.total[static_cast<std::size_t>(Counter::kAbsent)], 3u);
}

TEST(Store, WithoutAFolderToWriteToItSaysSo) {
  Store store(CacheConfig{});
  EXPECT_EQ(store.Publish(EntryOf(KeyOf("m"))).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(store.Gc(0).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(store.List().empty());
  EXPECT_EQ(store.Stats().entries, 0u);
}

}  // namespace
}  // namespace lijit::cache
