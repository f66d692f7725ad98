// SPDX-License-Identifier: Apache-2.0
// Many threads generate at the same time, each gets what one thread alone gets.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "compiler/codegen/ptx/emit_llvm.h"
#include "tests/unit/compiler/codegen/ptx/entries.h"

namespace lijit::codegen {
namespace {

struct Job {
  ir::Module module;
  target::Target target;
  std::string ptx;
};

TEST(EmitPtxThreads, GetWhatOneThreadGets) {
  std::vector<Job> jobs;
  for (const char* target : {"sm_86", "sm_100f"}) {
    for (const char* kernel : {"gather_cache", "write_cache", "top_k"}) {
      Job job{LoweredKernel(kernel, "mxfp4", target), TargetNamed(target), ""};
      job.ptx = EmitPtx(job.module, job.target, 90).value();
      jobs.push_back(std::move(job));
    }
  }
  std::vector<std::vector<std::string>> results(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t round = 0; round < 3 * jobs.size(); ++round) {
        const Job& job = jobs[(i + round) % jobs.size()];
        const auto ptx = EmitPtx(job.module, job.target, 90);
        results[i].push_back(ptx.ok() ? *ptx : ptx.error().message);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t round = 0; round < results[i].size(); ++round) {
      EXPECT_EQ(results[i][round], jobs[(i + round) % jobs.size()].ptx) << i << ' ' << round;
    }
  }
}

}  // namespace
}  // namespace lijit::codegen
