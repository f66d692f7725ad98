// SPDX-License-Identifier: Apache-2.0
// A process dies, or the system refuses, at every single step of a publication. Whatever is left,
// the next process gets the right image, and what it is told is never wrong.
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

#include "cache/file_lock.h"
#include "tests/unit/cache/scratch.h"
#include "tests/unit/cache/system_calls.h"

namespace lijit::cache {
namespace {

// One request in a process of its own: a miss that compiles and publishes in an empty folder.
bool PublishOnce(const std::string& dir) {
  Store store(ConfigAt(dir));
  const auto outcome = Get(store, {});
  return outcome.ok() && outcome->entry->image == ToBytes("the image");
}

// A process that comes after the accident.
void ExpectWhole(const std::string& dir) {
  Store store(ConfigAt(dir));
  EXPECT_TRUE(store.Verify(nullptr).damaged.empty());
  const auto outcome = Get(store, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->entry->image, ToBytes("the image"));
  EXPECT_TRUE(outcome->event.outcome == Counter::kAbsent ||
              outcome->event.outcome == Counter::kHitDisk)
      << Info(outcome->event.outcome).name;
  EXPECT_EQ(CountOf(store, Counter::kLockTimeout), 0u);
  EXPECT_TRUE(store.Verify(nullptr).damaged.empty());
  EXPECT_EQ(store.List().size(), 1u);
}

class Accidents : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = WhyNoTracing();
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(Accidents, KilledAtEveryStepOfAPublication) {
  int calls = 0, temporaries = 0, whole = 0;
  for (int step = 0;; ++step) {
    SCOPED_TRACE(step);
    const Scratch scratch;
    const std::string dir = scratch.path("cache");
    const Traced traced = RunTraced([&] { return PublishOnce(dir); }, {.kill_before = step});
    for (const auto& file : std::filesystem::recursive_directory_iterator(scratch.path())) {
      temporaries += file.path().extension() == ".tmp" ? 1 : 0;
      whole += file.path().extension() == ".entry" ? 1 : 0;
    }
    ExpectWhole(dir);
    if (traced.killed) continue;
    EXPECT_EQ(traced.exit_code, 0);
    calls = traced.calls;
    break;
  }
  // The steps were there: before the file, while it was written, and after it had its name.
  EXPECT_GT(calls, 20);
  EXPECT_GT(temporaries, 3);
  EXPECT_GT(whole, 3);
  EXPECT_LT(whole, calls);
}

// What file systems say when they are full, read-only, or of a failing disk or server.
TEST_F(Accidents, EverySystemCallFailsInEveryWay) {
  for (const int error : {ENOSPC, EROFS, EIO, ESTALE}) {
    int failed = 0;
    for (int step = 0;; ++step) {
      SCOPED_TRACE(testing::Message() << std::strerror(error) << " from call " << step);
      const Scratch scratch;
      const std::string dir = scratch.path("cache");
      const Traced traced =
          RunTraced([&] { return PublishOnce(dir); }, {.fail_file_call = step, .error = error});
      if (!traced.failed) break;
      ++failed;
      EXPECT_EQ(traced.exit_code, 0);
      ExpectWhole(dir);
    }
    EXPECT_GT(failed, 20);
  }
}

// As on NFS without a lock server: every lock fails, nothing else does.
TEST_F(Accidents, LocksThatFailAsOnNfs) {
  for (const int error : {ENOLCK, EOPNOTSUPP, EINVAL}) {
    const Scratch scratch;
    const std::string dir = scratch.path("cache");
    const auto publish_and_count = [&] {
      Store store(ConfigAt(dir));
      return Get(store, {}).ok() && CountOf(store, Counter::kLockUnavailable) == 1 &&
             CountOf(store, Counter::kPublished) == 1;
    };
    const Traced traced =
        RunTraced(publish_and_count, {.fail_numbers = {SYS_flock}, .error = error});
    EXPECT_TRUE(traced.failed);
    EXPECT_EQ(traced.exit_code, 0);
    ExpectWhole(dir);
  }
}

// A disk that is full for the whole life of a process, and empty again for the next.
TEST_F(Accidents, ADiskThatIsFull) {
  const Scratch scratch;
  const std::string dir = scratch.path("cache");
  const Traced traced =
      RunTraced([&] { return PublishOnce(dir); }, {.fail_numbers = {SYS_write}, .error = ENOSPC});
  EXPECT_TRUE(traced.failed);
  EXPECT_EQ(traced.exit_code, 0);
  for (const auto& file : std::filesystem::recursive_directory_iterator(scratch.path())) {
    EXPECT_NE(file.path().extension(), ".tmp") << "a failed write leaves nothing";
  }
  ExpectWhole(dir);
}

}  // namespace
}  // namespace lijit::cache
