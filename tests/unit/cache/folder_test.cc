// SPDX-License-Identifier: Apache-2.0
#include "cache/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/cache/scratch.h"

namespace lijit::cache {
namespace {

constexpr uid_t kSomebodyElse = 12345;

void ExpectRefused(const std::string& path, bool readonly, std::string_view why) {
  const Result<Folder> folder = OpenFolder(path, readonly);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(folder.error().message.find(path), std::string::npos) << folder.error().message;
  EXPECT_NE(folder.error().message.find(why), std::string::npos) << folder.error().message;
}

TEST(OpenFolder, MakesAPrivateFolderWithATag) {
  const Scratch scratch;
  const auto folder = OpenFolder(scratch.path("deep/er/cache"), false);
  ASSERT_TRUE(folder.ok());
  struct stat info;
  ASSERT_EQ(stat(folder->path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  EXPECT_TRUE(ReadText(folder->path + "/CACHEDIR.TAG")
                  .starts_with("Signature: 8a477f597d28d172789f06886806bc55"));
}

TEST(OpenFolder, LeavesAReadonlyFolderAlone) {
  const Scratch scratch;
  ASSERT_TRUE(OpenFolder(scratch.path(), true).ok());
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  ExpectRefused(scratch.path("absent"), true, "No such file");
}

TEST(OpenFolder, RefusesAFolderThatEverybodyMayWriteTo) {
  const Scratch scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 01777), 0);
  ExpectRefused(scratch.path(), false, "everybody may write");
  ExpectRefused(scratch.path(), true, "everybody may write");
}

TEST(OpenFolder, RefusesAFolderOfSomebodyElseForWritingOnly) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const Scratch scratch;
  ASSERT_EQ(chown(scratch.path().c_str(), kSomebodyElse, kSomebodyElse), 0);
  ExpectRefused(scratch.path(), false, "belongs to user 12345");
  EXPECT_TRUE(OpenFolder(scratch.path(), true).ok());
}

TEST(OpenFolder, FollowsALinkAndJudgesWhereItLeads) {
  const Scratch scratch;
  const std::string link = scratch.path("link"), real = scratch.path("real");
  std::filesystem::create_directory(real);
  std::filesystem::create_symlink(real, link);
  const auto folder = OpenFolder(link, false);
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder->path, std::filesystem::canonical(real).string());
  ASSERT_EQ(chmod(real.c_str(), 0777), 0);
  ExpectRefused(link, false, "everybody may write");
}

TEST(OpenFolder, RefusesAFileAndAFolderThatCannotBeMade) {
  const Scratch scratch;
  WriteText(scratch.path("file"), "x");
  ExpectRefused(scratch.path("file"), false, "not a folder");
  ExpectRefused(scratch.path("file/below"), false, "cannot be made");
  ExpectRefused("/proc/lijit", false, "cannot be made");
}

TEST(Folder, WhatIsMadeInsideFollowsTheFoldersPermissions) {
  const Scratch scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 0755), 0);
  const auto folder = OpenFolder(scratch.path(), false);
  const Entry entry = EntryOf(KeyOf("m"));
  ASSERT_TRUE(WriteEntry(*folder, entry).ok());
  struct stat info;
  ASSERT_EQ(stat(EntryPath(*folder, KeyOf("m").Hex()).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
}

TEST(Folder, ComesBackAfterSomebodyRemovedIt) {
  const Scratch scratch;
  const auto folder = OpenFolder(scratch.path("cache"), false);
  std::filesystem::remove_all(folder->path);
  EXPECT_TRUE(WriteEntry(*folder, EntryOf(KeyOf("m"))).ok());
  EXPECT_EQ(ListEntries(*folder).size(), 1u);
}

TEST(Folder, ListsOnlyWhatIsNamedAsAnEntry) {
  const Scratch scratch;
  const auto folder = OpenFolder(scratch.path(), false);
  ASSERT_TRUE(WriteEntry(*folder, EntryOf(KeyOf("m"))).ok());
  std::filesystem::create_directories(scratch.path("ab"));
  std::filesystem::create_directories(scratch.path("xy"));
  const std::string name = std::string(62, 'a') + ".entry";
  for (const std::string& other :
       {"ab/" + name + ".1-2.tmp", "xy/" + name, std::string("ab/short.entry"),
        "ab/" + std::string(62, 'A') + ".entry", name}) {
    WriteText(scratch.path(other), "x");
  }
  const auto entries = ListEntries(*folder);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].key, KeyOf("m").Hex());
}

TEST(Folder, NeverBlocksOnAndNeverFollowsWhatIsNoFile) {
  const Scratch scratch;
  const auto folder = OpenFolder(scratch.path(), false);
  const Key key = KeyOf("m");
  const std::string path = EntryPath(*folder, key.Hex());
  ASSERT_TRUE(WriteEntry(*folder, EntryOf(key)).ok());
  const Wanted wanted{key.Hex(), key.text(), "sm_90a", nullptr};

  const std::string moved = scratch.path("moved");
  std::filesystem::rename(path, moved);
  std::filesystem::create_symlink(moved, path);
  EXPECT_EQ(ReadEntry(*folder, wanted).outcome, Counter::kUnreadable);
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadEntry(*folder, wanted).outcome, Counter::kUnreadable);
}

}  // namespace
}  // namespace lijit::cache
