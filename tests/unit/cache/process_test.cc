// SPDX-License-Identifier: Apache-2.0
// Several processes on one folder. Each child makes its own Store and ends by _exit.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "cache/file_lock.h"
#include "tests/unit/cache/scratch.h"

namespace lijit::cache {
namespace {

pid_t Fork(const std::function<bool()>& child) {
  const pid_t pid = fork();
  LIJIT_CHECK(pid >= 0);
  if (pid == 0) _exit(child() ? 0 : 1);
  return pid;
}

bool Succeeded(pid_t pid) {
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Appends one byte, by whichever process.
void Mark(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  LIJIT_CHECK(fd >= 0 && write(fd, "x", 1) == 1);
  close(fd);
}

TEST(Processes, ThatWantOneKeyCompileItOnce) {
  const Scratch scratch;
  const std::string compiles = scratch.path("compiles"), hits = scratch.path("hits"),
                    dir = scratch.path("cache");
  const std::function<Status()> compile = [&] {
    Mark(compiles);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return Status();
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 64; ++i) {
    children.push_back(Fork([&] {
      Store store(ConfigAt(dir));
      const auto outcome = Get(store, {.gate = &compile});
      if (outcome.ok() && outcome->hit()) Mark(hits);
      return outcome.ok() && outcome->entry->image == ToBytes("the image");
    }));
  }
  for (const pid_t child : children) EXPECT_TRUE(Succeeded(child));
  EXPECT_EQ(ReadText(compiles).size(), 1u);
  EXPECT_EQ(ReadText(hits).size(), 63u);
  EXPECT_TRUE(std::filesystem::is_empty(dir + "/locks"));
}

// What the parent holds locked at the time of a fork would stay locked in the child for ever.
TEST(Processes, AChildOfForkOpensItsOwnCache) {
  const Scratch scratch;
  const std::string dir = scratch.path("cache");
  Store store(ConfigAt(dir));
  ASSERT_TRUE(Get(store, {}).ok());
  EXPECT_TRUE(Succeeded(Fork([&] {
    const auto outcome = Get(store, {});
    const Store::Found found = store.Lookup(KeyOf("module"), "sm_90a", nullptr);
    return !outcome.ok() && outcome.error().message.find("its child") != std::string::npos &&
           !found.entry && found.notes.size() == 1 && !store.Publish(EntryOf(KeyOf("module"))).ok();
  })));
  EXPECT_TRUE(Succeeded(Fork([&] {
    Store own(ConfigAt(dir));
    return Get(own, {})->event.outcome == Counter::kHitDisk;
  })));
}

TEST(Processes, AKilledHolderOfALockDoesNotBlockOthers) {
  const Scratch scratch;
  const std::string marks = scratch.path("marks"), dir = scratch.path("cache");
  const std::function<Status()> hang = [&]() -> Status {
    Mark(marks);
    while (true) pause();
  };
  const pid_t child = Fork([&] {
    Store store(ConfigAt(dir));
    return Get(store, {.gate = &hang}).ok();
  });
  while (ReadText(marks) != "x") std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::string lock = dir + "/locks/" + KeyOf("module").Hex();
  EXPECT_EQ(FileLock::Acquire(lock, std::chrono::milliseconds(0)).state(),
            FileLock::State::kTimedOut);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(lock));  // left behind, but free
  Store store(ConfigAt(dir));
  const auto outcome = Get(store, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->event.outcome, Counter::kAbsent);
  EXPECT_LT(outcome->event.times.wait, 5000);
  EXPECT_EQ(CountOf(store, Counter::kLockTimeout), 0u);
  EXPECT_FALSE(std::filesystem::exists(lock));
}

TEST(Processes, AreNeverTwoInOneLockWhileItsFileComesAndGoes) {
  const Scratch scratch;
  const std::string lock_path = scratch.path("lock"), inside = scratch.path("inside");
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(Fork([&] {
      for (int round = 0; round < 50; ++round) {
        const FileLock lock = FileLock::Acquire(lock_path, std::chrono::seconds(60));
        const int fd = open(inside.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (!lock.held() || fd < 0) return false;
        close(fd);
        unlink(inside.c_str());
      }
      return true;
    }));
  }
  for (const pid_t child : children) EXPECT_TRUE(Succeeded(child));
}

// Writers, readers, a collector and a vandal at once: every answer is right, whatever is damaged.
TEST(Processes, SeeOnlyWholeEntriesWhateverHappensToTheFolder) {
  const Scratch scratch;
  const std::string dir = scratch.path("cache");
  const auto image = [](int i) { return std::string(1000 + i, static_cast<char>('a' + i)); };
  std::vector<pid_t> children;
  for (int worker = 0; worker < 6; ++worker) {
    children.push_back(Fork([&, worker] {
      bool good = true;
      for (int round = 0; round < 20; ++round) {
        CacheConfig config = ConfigAt(dir);
        config.memory_size = 0;
        Store store(config);
        for (int i = 0; i < 8; ++i) {
          const auto outcome = Get(store, {.module = std::to_string(i), .image = image(i)});
          good = good && outcome.ok() && outcome->entry->image == ToBytes(image(i));
        }
        if (worker == 0) good = good && store.Gc(2000).ok();
        if (worker != 1) continue;
        for (const EntryInfo& info : store.List()) {
          if (truncate(info.path.c_str(), round * 20) != 0) continue;
        }
      }
      return good;
    }));
  }
  for (const pid_t child : children) EXPECT_TRUE(Succeeded(child));
}

}  // namespace
}  // namespace lijit::cache
