// SPDX-License-Identifier: Apache-2.0
// Loading: several devices of different targets in one process, many threads, children of fork.
// (Loading inside of a CUDA graph's capture: tests/unit/runtime/device/cuda_kernels_test.cc.)
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <filesystem>
#include <thread>

#include "lijit/run.h"
#include "runtime/device/emulated_device.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

using Loading = IndexerTest;

RunRequest RequestOn(const std::string& target) {
  RunRequest request;
  request.runtime = {"emulated", target, TestCacheConfig()};
  request.indexer = Small("mxfp4");
  request.context = 70;
  request.top_k = 9;
  return request;
}

// Devices that share one cache, one a thread: each gets kernels of its own target, and both the
// same bits.
TEST_F(Loading, DevicesOfSeveralTargetsInOneProcess) {
  constexpr const char* kTargets[] = {"sm_86", "sm_120f", "sm_86", "sm_90a"};
  std::vector<Result<RunReport>> reports(std::size(kTargets), Failed("did not run"));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::size(kTargets); ++i) {
      threads.emplace_back([&, i] { reports[i] = lijit::Run(RequestOn(kTargets[i])); });
    }
  }
  for (std::size_t i = 0; i < std::size(kTargets); ++i) {
    ASSERT_TRUE(reports[i].ok()) << reports[i].error().message;
    EXPECT_TRUE(reports[i]->ok);
    EXPECT_EQ(reports[i]->target, kTargets[i]);
    EXPECT_EQ(reports[i]->logits, reports[0]->logits);
    EXPECT_EQ(reports[i]->indices, reports[0]->indices);
  }
}

// One store for two devices: the same configuration is another key for each target, and neither
// takes the other's image.
TEST_F(Loading, OneCacheForTwoDevicesKeepsTheirKernelsApart) {
  cache::CacheConfig memory_only;
  const auto store = std::make_shared<cache::Store>(memory_only);
  std::vector<std::string> keys;
  std::vector<std::shared_ptr<Device>> devices;
  for (const char* target : {"sm_86", "sm_120f"}) {
    devices.push_back(runtime::MakeEmulatedDevice(target));
    const auto indexer =
        Indexer::Create(std::make_shared<Runtime>(devices.back(), store), Small("mxfp4"));
    ASSERT_TRUE(indexer.ok()) << indexer.error().message;
    const Status prepared = (*indexer)->Prepare();
    ASSERT_TRUE(prepared.ok()) << prepared.error().message;
    for (const cache::Event& event : (*indexer)->events()) {
      EXPECT_EQ(event.target, target);
      keys.push_back(event.key);
    }
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys.size(), 12u);
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
}

TEST_F(Loading, ThreadsThatPrepareOneIndexerCompileEachKernelOnce) {
  cache::CacheConfig memory_only;
  const auto store = std::make_shared<cache::Store>(memory_only);
  const auto runtime = std::make_shared<Runtime>(runtime::MakeEmulatedDevice("sm_86"), store);
  const auto first = Indexer::Create(runtime, Small("mxfp4")),
             second = Indexer::Create(runtime, Small("mxfp4"));
  ASSERT_TRUE(first.ok() && second.ok());
  std::atomic<int> good = 0;
  {
    std::barrier start(8);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        good += (i % 2 == 0 ? *first : *second)->Prepare().ok() ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(good, 8);
  EXPECT_EQ(store->Stats().process[static_cast<std::size_t>(cache::Counter::kCompiled)], 6u);
  EXPECT_EQ((*first)->events().size(), 6u);
}

// The exit code of a child that runs `function`, and what it had to say.
std::pair<int, std::string> InChild(const std::function<Status()>& function) {
  int ends[2];
  LIJIT_CHECK(pipe(ends) == 0);
  const pid_t pid = fork();
  LIJIT_CHECK(pid >= 0);
  if (pid == 0) {
    const Status status = function();
    const std::string message = status.ok() ? "" : status.error().message;
    const bool written =
        write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size());
    _exit(status.ok() && written ? 0 : 1);
  }
  close(ends[1]);
  std::string message(4096, '\0');
  const ssize_t size = read(ends[0], message.data(), message.size());
  close(ends[0]);
  message.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  int code = 0;
  waitpid(pid, &code, 0);
  return {code, message};
}

// A child may not compile or load through its parent's cache, whose locks nobody would open, and is
// told what to do; what it opens itself works.
TEST_F(Loading, AChildOfForkIsToldToOpenItsOwn) {
  const auto store = std::make_shared<cache::Store>(TestCacheConfig());
  const auto runtime = std::make_shared<Runtime>(runtime::MakeEmulatedDevice("sm_86"), store);
  const auto indexer = Indexer::Create(runtime, Small("mxfp4"));
  ASSERT_TRUE(indexer.ok());
  const auto [code, message] = InChild([&] { return (*indexer)->Prepare(); });
  EXPECT_NE(code, 0);
  EXPECT_NE(message.find("a child of fork opens a cache (or lijit::Runtime) of its own"),
            std::string::npos)
      << message;
  const auto [own_code, own_message] = InChild([&]() -> Status {
    LIJIT_ASSIGN(const auto own, Runtime::Create({"emulated", "sm_86", TestCacheConfig()}));
    LIJIT_ASSIGN(const auto own_indexer, Indexer::Create(own, Small("mxfp4")));
    return own_indexer->Prepare();
  });
  EXPECT_EQ(own_code, 0) << own_message;
  EXPECT_TRUE((*indexer)->Prepare().ok()) << "the parent goes on";
}

}  // namespace
}  // namespace lijit::tests
