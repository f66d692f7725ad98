// SPDX-License-Identifier: Apache-2.0
// What the cache saves, and what it costs. Prints the tables of docs/performance.md.
//
//   start  16 processes at once, none of whose kernels were compiled before: with one cache folder,
//          and each for itself. CPU time is user and system time of all of them.
//   hit    from a request to its verified image, in a process that has not used the cache before:
//          median of 21 such processes, of all kernels and of the slowest (the files are in the
//          system's page cache)
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cache/get_or_compute.h"
#include "runtime/compile/choose_way.h"
#include "runtime/compile/compilers.h"
#include "runtime/compile/kernel_module.h"

namespace lijit::runtime {
namespace {

constexpr int kProcesses = 16;
constexpr const char* kTarget = "sm_90a";
constexpr const char* kFormats[] = {"fp8_e4m3", "mxfp4"};

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The kernels that serve both formats, 64 heads of 128, by CUDA C++.
std::vector<KernelRequest> Requests() {
  std::vector<KernelRequest> requests;
  const Way way{lower::FindSchedule("simt").value(), "cuda"};
  for (const char* format : kFormats) {
    IndexerConfig config;
    config.format = format;
    const KernelModules modules = KernelModules::Create(config).value();
    for (const ir::KernelKindRow& row : ir::AllKernelKinds()) {
      requests.push_back(
          RequestFor(modules.Extract(row.kind).value(), way, kTarget, ImageKind::kCubin).value());
    }
  }
  return requests;
}

// What a server does before it serves: all kernels, through the cache of `dir` ("": none).
void Serve(const std::string& dir) {
  cache::CacheConfig config;
  config.dir = dir;
  cache::Store store(config);
  for (const KernelRequest& request : Requests()) {
    LIJIT_CHECK(cache::GetOrCompute(store, request, ValidateEntry, CompileKernel).ok());
  }
}

struct Start {
  double cpu_seconds = 0, wall_seconds = 0;
};

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

Start StartAll(const std::string& dir) {
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    LIJIT_CHECK(child >= 0);
    if (child == 0) {
      Serve(dir);
      _exit(0);
    }
  }
  Start start;
  for (int i = 0; i < kProcesses; ++i) {
    int status = 0;
    rusage usage{};
    LIJIT_CHECK(wait4(-1, &status, 0, &usage) > 0 && status == 0);
    start.cpu_seconds += Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  }
  start.wall_seconds = Since(begin) / 1000;
  return start;
}

void PrintStarts(const std::string& dir) {
  const Start shared = StartAll(dir), alone = StartAll("");
  const Start again = StartAll(dir);
  fmt::print("| {} processes at once | CPU, s | wall, s |\n|---|---|---|\n", kProcesses);
  fmt::print("| cold, each for itself | {:.2f} | {:.2f} |\n", alone.cpu_seconds,
             alone.wall_seconds);
  fmt::print("| cold, one cache | {:.2f} | {:.2f} |\n", shared.cpu_seconds, shared.wall_seconds);
  fmt::print("| warm | {:.2f} | {:.2f} |\n\n", again.cpu_seconds, again.wall_seconds);
  fmt::print("One cache is {:.1f} times cheaper in CPU time.\n\n",
             alone.cpu_seconds / shared.cpu_seconds);
}

double Median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

void PrintHits(const std::string& dir) {
  constexpr int kRounds = 21;
  const std::vector<KernelRequest> requests = Requests();
  std::map<std::string, std::vector<double>> times;  // by key
  for (int round = 0; round < kRounds; ++round) {
    cache::CacheConfig config;
    config.dir = dir;
    cache::Store store(config);
    for (const KernelRequest& request : requests) {
      const Clock::time_point begin = Clock::now();
      const auto outcome = cache::GetOrCompute(store, request, ValidateEntry, CompileKernel);
      const double time = Since(begin);
      LIJIT_CHECK(outcome.ok() && outcome->hit());
      // Formats share kernels, which are in memory from the second time on.
      if (outcome->event.outcome == cache::Counter::kHitDisk) {
        times[outcome->event.key].push_back(time);
      }
    }
  }
  std::vector<double> medians;
  for (const auto& [key, of_kernel] : times) medians.push_back(Median(of_kernel));
  fmt::print("| a hit on disk, with verification | ms |\n|---|---|\n");
  fmt::print("| median of {} kernels | {:.3f} |\n", medians.size(), Median(medians));
  fmt::print("| slowest kernel | {:.3f} |\n", *std::max_element(medians.begin(), medians.end()));
}

// Nothing is opened in this process before its children have started.
int Run() {
  std::string dir = (std::filesystem::temp_directory_path() / "lijit-bench-XXXXXX").string();
  LIJIT_CHECK(mkdtemp(dir.data()) != nullptr);
  PrintStarts(dir);
  PrintHits(dir);
  std::filesystem::remove_all(dir);
  return 0;
}

}  // namespace
}  // namespace lijit::runtime

int main() { return lijit::runtime::Run(); }
