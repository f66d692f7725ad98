// SPDX-License-Identifier: Apache-2.0
// Folders that several users, versions and clocks share, or that cannot be written.
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "cache/file_lock.h"
#include "tests/unit/cache/scratch.h"

namespace lijit::cache {
namespace {

constexpr gid_t kGroup = 54321;
constexpr uid_t kAlice = 12301, kBob = 12302;
constexpr int kNotPermitted = 77;

// The exit code of a child that runs `function` (true: 0) after `prepare`, whose failure is
// kNotPermitted.
int InChild(const std::function<bool()>& prepare, const std::function<bool()>& function) {
  const pid_t pid = fork();
  LIJIT_CHECK(pid >= 0);
  if (pid == 0) _exit(!prepare() ? kNotPermitted : function() ? 0 : 1);
  int status = 0;
  LIJIT_CHECK(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// As another user with a group and the usual umask.
int AsUser(uid_t user, const std::function<bool()>& function) {
  return InChild(
      [user] {
        umask(022);
        return setgroups(0, nullptr) == 0 && setgid(kGroup) == 0 && setuid(user) == 0;
      },
      function);
}

bool Gets(const std::string& dir, const std::string& module, Counter outcome) {
  Store store(ConfigAt(dir));
  const auto got = Get(store, {.module = module});
  return got.ok() && got->event.outcome == outcome && store.problems().empty() &&
         CountOf(store, Counter::kPublishFailed) == 0 &&
         CountOf(store, Counter::kLockUnavailable) == 0;
}

TEST(SharedFolder, UsersOfAGroupShareAFolderThatRootGaveToTheGroup) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can run as several users";
  const Scratch scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 0755), 0);
  const std::string dir = scratch.path("cache");
  ASSERT_EQ(mkdir(dir.c_str(), 0700), 0);
  ASSERT_EQ(chown(dir.c_str(), 0, kGroup), 0);
  ASSERT_EQ(chmod(dir.c_str(), 02770), 0);
  EXPECT_EQ(AsUser(kAlice, [&] { return Gets(dir, "a", Counter::kAbsent); }), 0);
  EXPECT_EQ(AsUser(kBob, [&] { return Gets(dir, "a", Counter::kHitDisk); }), 0);
  EXPECT_EQ(AsUser(kBob, [&] { return Gets(dir, "b", Counter::kAbsent); }), 0);
  // Bob marks Alice's entries as used, repairs and evicts them.
  WriteText(Store(ConfigAt(dir)).List().at(0).path, "damaged");
  EXPECT_EQ(AsUser(kBob, [&] { return Store(ConfigAt(dir)).Verify(nullptr).damaged.size() == 1; }),
            0);
  EXPECT_EQ(AsUser(kBob,
                   [&] {
                     Store store(ConfigAt(dir));
                     return Get(store, {.module = "a"}).ok() && Get(store, {.module = "b"}).ok() &&
                            store.Verify(nullptr).damaged.empty();
                   }),
            0);
  EXPECT_EQ(AsUser(kAlice, [&] { return Store(ConfigAt(dir)).Gc(0)->evicted_entries == 2; }), 0);
}

TEST(SharedFolder, AFolderOfAnotherUserIsALayerToReadAndNotToWrite) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can run as several users";
  const Scratch scratch;
  ASSERT_EQ(chown(scratch.path().c_str(), kAlice, kGroup), 0);
  ASSERT_EQ(chmod(scratch.path().c_str(), 0755), 0);
  EXPECT_EQ(AsUser(kAlice, [&] { return Gets(scratch.path(), "a", Counter::kAbsent); }), 0);
  EXPECT_EQ(AsUser(kBob,
                   [&] {
                     Store store(ConfigAt(scratch.path()));
                     const auto got = Get(store, {.module = "a"});
                     return got.ok() && got->event.outcome == Counter::kAbsent &&
                            store.problems().size() == 1;
                   }),
            0);
  EXPECT_EQ(AsUser(kBob,
                   [&] {
                     CacheConfig config;
                     config.readonly_dirs = {scratch.path()};
                     Store store(config);
                     return Get(store, {.module = "a"})->event.outcome == Counter::kHitReadonly;
                   }),
            0);
}

// A folder and its parent without permission to write, for a user to whom that matters.
TEST(SharedFolder, AReadonlyFolderHitsAndNeverFailsACompile) {
  const Scratch scratch;
  const std::string dir = scratch.path("cache");
  ASSERT_TRUE(Store(ConfigAt(dir)).Publish(EntryOf(KeyOf("there"))).ok());
  const auto check = [&] {
    Store store(ConfigAt(dir));
    const auto hit = Get(store, {.module = "there"});
    const auto miss = Get(store, {.module = "not there"});
    Store below(ConfigAt(dir + "/sub/cache"));  // its parent cannot be written
    const auto other = Get(below, {});
    return hit.ok() && hit->event.outcome == Counter::kHitDisk && miss.ok() &&
           CountOf(store, Counter::kPublishFailed) == 1 && other.ok() &&
           below.problems().size() == 1;
  };
  const auto set_mode = [&](mode_t mode) {
    ASSERT_EQ(chmod(dir.c_str(), mode), 0);
    for (const auto& file : std::filesystem::recursive_directory_iterator(dir)) {
      if (!file.is_directory()) continue;
      ASSERT_EQ(chmod(file.path().c_str(), mode), 0);
    }
  };
  if (geteuid() != 0) {
    set_mode(0555);
    EXPECT_TRUE(check());
    set_mode(0755);
    return;
  }
  ASSERT_EQ(std::system(("chown -R 12301:54321 " + scratch.path()).c_str()), 0);
  set_mode(0555);
  EXPECT_EQ(AsUser(kAlice, check), 0);
}

// A real one, of 64 KiB, in a name space of its own.
TEST(SharedFolder, ADiskThatRunsFullAndIsEmptiedAgain) {
  const Scratch scratch;
  const auto mount_disk = [&] {
    return unshare(CLONE_NEWNS) == 0 &&
           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=64k,mode=0700") == 0;
  };
  const auto fill_and_empty = [&] {
    Store store(ConfigAt(scratch.path()));
    std::string noise(6000, ' ');
    for (int i = 0; i < 30; ++i) {
      for (char& c : noise) c = static_cast<char>(std::rand());  // does not compress
      const auto got = Get(store, {.module = std::to_string(i), .image = noise});
      if (!got.ok() || got->entry->image != ToBytes(noise)) return false;
    }
    if (CountOf(store, Counter::kPublishFailed) == 0) return false;
    if (!store.Verify(nullptr).damaged.empty() || store.List().size() < 3) return false;
    if (!store.Gc(0).ok() || !store.List().empty()) return false;
    return Get(store, {.module = "after"}).ok() && store.List().size() == 1;
  };
  const int code = InChild(mount_disk, fill_and_empty);
  if (code == kNotPermitted) GTEST_SKIP() << "no permission to mount a file system";
  EXPECT_EQ(code, 0);
}

TEST(SharedFolder, WithoutAHomeThereIsMemory) {
  Store store(*ConfigFromEnvironment([](const char*) -> const char* { return nullptr; }));
  EXPECT_TRUE(Get(store, {}).ok());
  EXPECT_EQ(Get(store, {})->event.outcome, Counter::kHitMemory);
  ASSERT_EQ(store.problems().size(), 1u);
  EXPECT_NE(store.problems()[0].find("HOME"), std::string::npos);
}

// The generator's version is in every key, so versions do not meet; a new grammar of entries has a
// new schema in the key, too (runtime/compile/kernel_request.cc).
TEST(SharedFolder, TwoVersionsOfTheLibraryKeepTheirOwnEntries) {
  const Scratch scratch;
  struct Versioned {
    std::string version;
    Key key() const { return KeyOf("same").Add("generator", version); }
    std::string target() const { return "sm_90a"; }
  };
  const auto compile = [](const Versioned& request) -> Result<Entry> {
    return EntryOf(request.key(), "made by " + request.version);
  };
  for (const Counter expected : {Counter::kAbsent, Counter::kHitDisk, Counter::kHitDisk}) {
    for (const char* version : {"1.0", "1.1"}) {
      Store store(ConfigAt(scratch.path()));
      const auto got = GetOrCompute(store, Versioned{version}, nullptr, compile);
      ASSERT_TRUE(got.ok());
      EXPECT_EQ(got->event.outcome, expected);
      EXPECT_EQ(got->entry->image, ToBytes(std::string("made by ") + version));
    }
  }
  EXPECT_EQ(Store(ConfigAt(scratch.path())).List().size(), 2u);
}

void SetAge(const std::string& path, std::chrono::hours age) {
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
}

// Entries of the future are hits; to eviction they are the oldest, until they are used again.
TEST(SharedFolder, AClockThatWasSetBack) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  const auto path = [&](const char* module) {
    const std::string digest = KeyOf(module).Hex();
    return scratch.path(digest.substr(0, 2) + "/" + digest.substr(2) + ".entry");
  };
  for (const char* module : {"far", "use", "old", "new"}) {
    ASSERT_TRUE(store.Publish(EntryOf(KeyOf(module))).ok());
  }
  constexpr std::chrono::hours kYear{24 * 365};
  SetAge(path("far"), -kYear);
  SetAge(path("use"), -kYear);
  SetAge(path("old"), kYear);
  WriteText(scratch.path("future.tmp"), "x");
  SetAge(scratch.path("future.tmp"), -kYear);
  EXPECT_EQ(Get(store, {.module = "use"})->event.outcome, Counter::kHitDisk);
  const std::uint64_t size = std::filesystem::file_size(path("old"));
  const auto report = store.Gc(3 * size);
  EXPECT_EQ(report->swept, 1u);
  EXPECT_EQ(report->evicted_entries, 1u);
  EXPECT_FALSE(std::filesystem::exists(path("far")));
  EXPECT_EQ(store.Gc(2 * size)->evicted_entries, 1u);
  EXPECT_FALSE(std::filesystem::exists(path("old")));
}

// A holder that neither goes on nor dies costs others the time-out, once a request.
TEST(SharedFolder, AStuckHolderOfALockIsWaitedForOnlySoLong) {
  const Scratch scratch;
  const std::string dir = scratch.path("cache"), held = scratch.path("held");
  const pid_t holder = fork();
  if (holder == 0) {
    const std::function<Status()> stick = [&]() -> Status {
      WriteText(held, "x");
      raise(SIGSTOP);
      return {};
    };
    Store store(ConfigAt(dir));
    _exit(Get(store, {.gate = &stick}).ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(holder, &status, WUNTRACED), holder);
  ASSERT_TRUE(WIFSTOPPED(status));
  CacheConfig config = ConfigAt(dir);
  config.lock_timeout = std::chrono::milliseconds(100);
  {
    Store store(config);
    const auto got = Get(store, {});
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(CountOf(store, Counter::kLockTimeout), 1u);
    EXPECT_GE(got->event.times.wait, 100);
  }
  Store next(config);
  EXPECT_EQ(Get(next, {})->event.outcome, Counter::kHitDisk);
  kill(holder, SIGCONT);  // it goes on, and writes the same once more
  ASSERT_EQ(waitpid(holder, &status, 0), holder);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(next.Verify(nullptr).damaged.empty());
}

}  // namespace
}  // namespace lijit::cache
