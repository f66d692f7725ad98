// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <barrier>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "cache/file_lock.h"
#include "tests/unit/cache/scratch.h"

namespace lijit::cache {
namespace {

// While it lives, files cannot grow: the nearest thing to a full disk that needs no mount.
class FullDisk {
 public:
  FullDisk() {
    old_handler_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit none{0, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_;
  sighandler_t old_handler_;
};

TEST(GetOrCompute, CompilesOnceThenHitsMemoryThenDisk) {
  const Scratch scratch;
  std::atomic<int> compiles = 0;
  const TestRequest request{.compiles = &compiles};
  {
    Store store(ConfigAt(scratch.path()));
    const auto miss = Get(store, request);
    ASSERT_TRUE(miss.ok());
    EXPECT_EQ(miss->event.outcome, Counter::kAbsent);
    EXPECT_TRUE(miss->event.notes.empty());
    EXPECT_EQ(Get(store, request)->event.outcome, Counter::kHitMemory);
  }
  Store store(ConfigAt(scratch.path()));
  const auto hit = Get(store, request);
  EXPECT_EQ(hit->event.outcome, Counter::kHitDisk);
  EXPECT_TRUE(hit->hit());
  EXPECT_EQ(*hit->entry, EntryOf(request.key()));
  EXPECT_EQ(compiles, 1);
}

TEST(GetOrCompute, ThreadsThatWantOneKeyCompileItOnce) {
  for (const bool with_disk : {true, false}) {
    const Scratch scratch;
    Store store(ConfigAt(with_disk ? scratch.path() : ""));
    std::atomic<int> compiles = 0, good = 0;
    const std::function<Status()> slow = [] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return Status();
    };
    std::barrier start(16);
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        const auto outcome = Get(store, {.compiles = &compiles, .gate = &slow});
        if (outcome.ok() && outcome->entry->image == ToBytes("the image")) ++good;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(compiles, 1);
    EXPECT_EQ(good, 16);
    EXPECT_EQ(CountOf(store, Counter::kAbsent), 1u);
    EXPECT_EQ(CountOf(store, Counter::kHitThread) + CountOf(store, Counter::kHitMemory), 15u);
  }
}

TEST(GetOrCompute, ACompileDoesNotHoldUpOtherKeys) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  std::promise<void> started, release;
  const std::function<Status()> until_released = [&] {
    started.set_value();
    release.get_future().wait();
    return Status();
  };
  std::thread slow([&] { EXPECT_TRUE(Get(store, {.module = "s", .gate = &until_released}).ok()); });
  started.get_future().wait();
  EXPECT_EQ(Get(store, {.module = "other"})->event.outcome, Counter::kAbsent);
  EXPECT_EQ(Get(store, {.module = "other"})->event.outcome, Counter::kHitMemory);
  release.set_value();
  slow.join();
}

TEST(GetOrCompute, AFailedCompileIsNotStoredReachesEveryWaiterAndIsTriedAgain) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  std::atomic<int> compiles = 0, asking = 0, failed = 0;
  // The compile fails only after all sixteen threads have asked.
  const std::function<Status()> fail = [&] {
    while (asking < 16) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return Status(Failed("no such instruction"));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      ++asking;
      const auto outcome = Get(store, {.compiles = &compiles, .gate = &fail});
      if (!outcome.ok() && outcome.error().message == "no such instruction") ++failed;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 16);
  EXPECT_EQ(CountOf(store, Counter::kCompileFailed), static_cast<std::uint64_t>(compiles));
  EXPECT_EQ(CountOf(store, Counter::kFailedThread), 16u - compiles);
  EXPECT_LT(compiles, 16);
  EXPECT_TRUE(store.List().empty());
  EXPECT_EQ(Get(store, {})->event.outcome, Counter::kAbsent);
  EXPECT_EQ(store.List().size(), 1u);
}

TEST(GetOrCompute, ACompileThatThrowsIsAFailedCompile) {
  Store store(CacheConfig{});
  const std::function<Status()> thrower = []() -> Status { throw std::runtime_error("oops"); };
  const auto outcome = Get(store, {.gate = &thrower});
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find("oops"), std::string::npos);
  EXPECT_TRUE(Get(store, {}).ok());
}

TEST(GetOrCompute, AnImageThatIsNotWhatWasAskedIsNeitherReturnedNorStored) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  const auto wrong_target = GetOrCompute(store, TestRequest(), nullptr, [](const TestRequest& r) {
    Entry entry = EntryOf(r.key());
    entry.target = "sm_86";
    return Result<Entry>(entry);
  });
  EXPECT_NE(wrong_target.error().message.find("sm_86"), std::string::npos);
  EXPECT_NE(Get(store, {.image = ""}).error().message.find("empty image"), std::string::npos);
  const Validator refuse = [](const Entry&) { return Status(Damaged("not an ELF file")); };
  EXPECT_EQ(Get(store, {}, refuse).error().message, "not an ELF file");
  EXPECT_TRUE(store.List().empty());
  EXPECT_EQ(CountOf(store, Counter::kCompileFailed), 3u);
}

TEST(GetOrCompute, TheStoreWritesTheKeyAndTheTime) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  const auto outcome = GetOrCompute(store, TestRequest(), nullptr, [](const TestRequest&) {
    Entry entry;
    entry.target = "sm_90a";
    entry.image = ToBytes("x");
    return Result<Entry>(entry);
  });
  EXPECT_EQ(outcome->entry->key, KeyOf("module").text());
  EXPECT_GT(outcome->entry->created, 1'700'000'000);
  EXPECT_EQ(*store.Read(""), *outcome->entry);
}

TEST(GetOrCompute, AFullDiskNeverFailsACompile) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  {
    const FullDisk full;
    const auto outcome = Get(store, {});
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->entry->image, ToBytes("the image"));
    ASSERT_FALSE(outcome->event.notes.empty());
    EXPECT_NE(outcome->event.notes.back().find("File too large"), std::string::npos);
    EXPECT_EQ(CountOf(store, Counter::kPublishFailed), 1u);
    EXPECT_EQ(Get(store, {})->event.outcome, Counter::kHitMemory);
  }
  for (const auto& file : std::filesystem::recursive_directory_iterator(scratch.path())) {
    EXPECT_NE(file.path().extension(), ".tmp");
  }
  EXPECT_TRUE(store.List().empty());
}

TEST(GetOrCompute, AFolderThatCannotBeWrittenNeverFailsACompile) {
  const Scratch scratch;
  WriteText(scratch.path("file"), "x");
  for (const std::string& dir : {std::string("/proc"), std::string("/proc/lijit"),
                                 scratch.path("file"), scratch.path("file/below")}) {
    SCOPED_TRACE(dir);
    Store store(ConfigAt(dir));
    const auto outcome = Get(store, {});
    ASSERT_TRUE(outcome.ok());
    ASSERT_FALSE(outcome->event.notes.empty());
    EXPECT_NE(outcome->event.notes.back().find(dir), std::string::npos);
    EXPECT_EQ(Get(store, {})->event.outcome, Counter::kHitMemory);
  }
}

TEST(GetOrCompute, DamageThatCannotBeMovedAsideIsReplaced) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  ASSERT_TRUE(store.Publish(EntryOf(KeyOf("module"))).ok());
  WriteText(OnlyEntry(store), "damaged");
  WriteText(scratch.path("damaged"), "a file where the folder should be");
  const auto outcome = Get(store, {});
  EXPECT_EQ(outcome->event.outcome, Counter::kBadMagic);
  EXPECT_EQ(outcome->event.notes.size(), 1u);
  EXPECT_EQ(CountOf(store, Counter::kBadMagic), 1u);
  EXPECT_EQ(CountOf(store, Counter::kMovedAside), 0u);
  EXPECT_TRUE(store.Verify(nullptr).damaged.empty());
}

TEST(GetOrCompute, WaitsForALockOnlySoLong) {
  const Scratch scratch;
  CacheConfig config = ConfigAt(scratch.path());
  config.lock_timeout = std::chrono::milliseconds(50);
  Store store(config);
  const FileLock held =
      FileLock::Acquire(scratch.path("locks/" + KeyOf("module").Hex()), config.lock_timeout);
  ASSERT_TRUE(held.held());
  const auto outcome = Get(store, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_GE(outcome->event.times.wait, 50);
  EXPECT_EQ(CountOf(store, Counter::kLockTimeout), 1u);
  EXPECT_EQ(CountOf(store, Counter::kPublished), 1u);
}

TEST(GetOrCompute, GoesOnWithoutALockWhereThereIsNone) {
  const Scratch scratch;
  Store store(ConfigAt(scratch.path()));
  WriteText(scratch.path("locks"), "a file where the folder should be");
  const auto outcome = Get(store, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(CountOf(store, Counter::kLockUnavailable), 1u);
  EXPECT_EQ(CountOf(store, Counter::kPublished), 1u);
}

TEST(GetOrCompute, SaysWhatHappenedOncePerRequest) {
  const Scratch scratch;
  std::vector<Event> events;
  CacheConfig config = ConfigAt(scratch.path());
  config.on_event = [&](const Event& event) { events.push_back(event); };
  Store store(config);
  const std::function<Status()> slow = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Status();
  };
  const std::function<Status()> fail = [] { return Status(Failed("no")); };
  ASSERT_TRUE(Get(store, {.gate = &slow}).ok());
  ASSERT_TRUE(Get(store, {}).ok());
  ASSERT_FALSE(Get(store, {.module = "bad", .gate = &fail}).ok());
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].key, KeyOf("module").Hex());
  EXPECT_EQ(events[0].target, "sm_90a");
  EXPECT_EQ(events[0].backend, "test 1.0");
  EXPECT_EQ(events[0].outcome, Counter::kAbsent);
  EXPECT_GE(events[0].times.compile, 5);
  EXPECT_GT(events[0].times.publish, 0);
  EXPECT_EQ(events[1].outcome, Counter::kHitMemory);
  EXPECT_EQ(events[1].times.compile, 0);
  EXPECT_EQ(events[2].error, "no");
}

TEST(GetOrCompute, MemoryKeepsWhatWasUsedLast) {
  CacheConfig config;
  config.memory_size = 3 * (KeyOf("a").text().size() + 200);
  Store store(config);
  const std::string image(150, 'x');
  for (const char* module : {"a", "b", "c", "a", "d"}) {
    ASSERT_TRUE(Get(store, {.module = module, .image = image}).ok());
  }
  EXPECT_EQ(Get(store, {.module = "a", .image = image})->event.outcome, Counter::kHitMemory);
  EXPECT_EQ(Get(store, {.module = "b", .image = image})->event.outcome, Counter::kAbsent);
}

}  // namespace
}  // namespace lijit::cache
