// SPDX-License-Identifier: Apache-2.0
// The guard with planted crashes, beside work that does not crash.
#include "compiler/codegen/ptx/guard.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace lijit::codegen {
namespace {

TEST(Guard, LetsWorkThrough) {
  int done = 0;
  EXPECT_TRUE(RunGuarded("working", [&] { ++done; }).ok());
  EXPECT_EQ(done, 1);
}

TEST(Guard, SurvivesAnAbort) {
  for (int i = 0; i < 3; ++i) {
    const Status status = RunGuarded("making something", [] { std::abort(); });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kFailed);
    EXPECT_NE(status.error().message.find("LLVM crashed making something"), std::string::npos)
        << status.error().message;
    EXPECT_NE(status.error().message.find("LIJIT_COMPILE=worker"), std::string::npos);
  }
  EXPECT_TRUE(RunGuarded("working", [] {}).ok());
}

TEST(Guard, SurvivesASegmentationFault) {
  const Status status = RunGuarded("working", [] { raise(SIGSEGV); });
  EXPECT_FALSE(status.ok());
}

TEST(Guard, ThreadsCrashBesideThreadsThatDoNot) {
  std::atomic<int> survived = 0;
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        const bool crash = i % 2 == 0;
        const Status status = RunGuarded("working", [&] {
          if (crash) std::abort();
          ++done;
        });
        if (status.ok() != crash) ++survived;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(survived, 80);
  EXPECT_EQ(done, 40);
}

// The handlers of the program that lijit runs in are its own again.
TEST(Guard, LeavesSignalsAlone) {
  struct sigaction before {};
  struct sigaction after {};
  sigaction(SIGSEGV, nullptr, &before);
  EXPECT_TRUE(RunGuarded("working", [] {}).ok());
  EXPECT_FALSE(RunGuarded("working", [] { std::abort(); }).ok());
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace lijit::codegen
