// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "cache/file_lock.h"
#include "tests/unit/cache/scratch.h"

namespace lijit::cache {
namespace {

void SetAge(const std::string& path, int hours) {
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
}

std::uint64_t SizeOfOne() { return EncodeEntry(EntryOf(KeyOf("0")))->size(); }

// Entries "0" to "4", unequal in age: "0" is the oldest.
void FillByAge(Store& store) {
  for (int i = 0; i < 5; ++i) {
    const Key key = KeyOf(std::to_string(i));
    ASSERT_TRUE(store.Publish(EntryOf(key)).ok());
    const std::string digest = key.Hex();
    SetAge(store.config().dir + "/" + digest.substr(0, 2) + "/" + digest.substr(2) + ".entry",
           10 - i);
  }
}

std::set<std::string> Modules(const Store& store) {
  std::set<std::string> modules;
  for (const EntryInfo& info : store.List()) {
    modules.emplace(Key::Parse(store.Read(info.key)->key)->Find("module"));
  }
  return modules;
}

TEST(Gc, RemovesTheLeastRecentlyUsedFirst) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  FillByAge(store);
  ASSERT_TRUE(store.Lookup(KeyOf("0"), "sm_90a", nullptr).entry);  // now the youngest
  const auto report = store.Gc(3 * SizeOfOne());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(Modules(store), (std::set<std::string>{"0", "3", "4"}));
  EXPECT_EQ(report->entries, 3u);
  EXPECT_EQ(report->bytes, 3 * SizeOfOne());
  EXPECT_EQ(report->evicted_entries, 2u);
  EXPECT_EQ(report->evicted_bytes, 2 * SizeOfOne());
  EXPECT_EQ(CountOf(store, Counter::kEvicted), 2u);
}

TEST(Gc, LeavesAloneWhatFitsAndRemovesEverythingForZero) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  FillByAge(store);
  EXPECT_EQ(store.Gc(5 * SizeOfOne())->evicted_entries, 0u);
  EXPECT_EQ(store.Gc(0)->evicted_entries, 5u);
  EXPECT_TRUE(store.List().empty());
}

TEST(Gc, AReaderKeepsWhatItHasOpen) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  ASSERT_TRUE(store.Publish(EntryOf(KeyOf("0"))).ok());
  const UniqueFd fd(open(OnlyEntry(store).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(store.Gc(0)->evicted_entries, 1u);
  std::vector<std::byte> bytes(SizeOfOne());
  ASSERT_EQ(read(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_TRUE(DecodeEntry(bytes).ok());
}

TEST(Gc, SweepsTemporariesAndLocksOfTheDeadAndNoOthers) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  ASSERT_TRUE(store.Publish(EntryOf(KeyOf("0"))).ok());
  std::filesystem::create_directories(scratch.path("ab"));
  std::filesystem::create_directories(scratch.path("locks"));
  for (const char* name : {"ab/old.tmp", "old.tmp", "ab/new.tmp", "locks/old", "locks/new"}) {
    WriteText(scratch.path(name), "x");
    if (std::string(name).find("old") != std::string::npos) SetAge(scratch.path(name), 2);
  }
  const auto held = FileLock::Acquire(scratch.path("locks/held"), std::chrono::milliseconds(0));
  SetAge(scratch.path("locks/held"), 2);
  const auto report = store.Gc(1 << 20);
  EXPECT_EQ(report->swept, 2u);
  const auto there = [&](const char* name) { return std::filesystem::exists(scratch.path(name)); };
  EXPECT_FALSE(there("ab/old.tmp") || there("old.tmp") || there("locks/old"));
  EXPECT_TRUE(there("ab/new.tmp") && there("locks/new") && there("locks/held"));
}

TEST(Gc, LeavesTheWorkToWhoeverIsAtIt) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  FillByAge(store);
  const auto held = FileLock::Acquire(scratch.path("locks/gc"), std::chrono::milliseconds(0));
  const auto report = store.Gc(0);
  EXPECT_TRUE(report->busy);
  EXPECT_EQ(store.List().size(), 5u);
}

TEST(Gc, HappensByItselfWhenTheLimitIsPassed) {
  const Scratch scratch;
  CacheConfig config = ConfigAt(scratch.path());
  config.max_size = 10 * SizeOfOne();
  Store store(config);
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(Get(store, {.module = std::to_string(i), .image = std::string(90, 'x')}).ok());
    EXPECT_LE(store.Stats().bytes, config.max_size + config.max_size / 10);
  }
  EXPECT_GT(CountOf(store, Counter::kEvicted), 20u);
  EXPECT_GE(store.List().size(), 7u);
}

}  // namespace
}  // namespace lijit::cache
