// SPDX-License-Identifier: Apache-2.0
// What compiling costs, by target and backend: the kernels that serve one model, each in a process
// of its own or all in one. Prints the table of docs/performance.md.
//
//   cold  one process a kernel: from its start to the image (libraries opened, LLVM made ready)
//   warm  one process for all: median over kernels after the first of all
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/ir/printer.h"
#include "runtime/compile/compilers.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/compile/kernel_request.h"

namespace lijit::runtime {
namespace {

constexpr const char* kTargets[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100f", "sm_120f"};
constexpr const char* kFormats[] = {"fp8_e4m3", "mxfp4"};

struct Measured {
  std::vector<double> milliseconds;  // by kernel
  long peak_kilobytes = 0;
};

double Median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  const std::size_t middle = numbers.size() / 2;
  if (numbers.size() % 2 == 1) return numbers[middle];
  return (numbers[middle - 1] + numbers[middle]) / 2;
}

// Every kernel of both formats, 64 heads of 128.
std::vector<KernelRequest> Requests(const std::string& target, const std::string& backend) {
  std::vector<KernelRequest> requests;
  for (const char* format : kFormats) {
    IndexerConfig config;
    config.format = format;
    const KernelModules modules = KernelModules::Create(config).value();
    for (const ir::KernelKindRow& row : ir::AllKernelKinds()) {
      KernelRequest request;
      request.module = ir::Print(modules.Extract(row.kind).value());
      request.target_name = target;
      request.schedule = "simt";
      request.backend = backend;
      request.image = "cubin";
      requests.push_back(std::move(request));
    }
  }
  return requests;
}

double CompileOnce(KernelRequest request) {
  const auto begin = std::chrono::steady_clock::now();
  request.compiler = CompilerVersion(request.backend, ImageKind::kCubin).value();
  const Result<cache::Entry> entry = CompileKernel(request);
  LIJIT_CHECK(entry.ok());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

// Compiles the requests in a child, which has opened nothing yet.
Measured CompileInChild(const std::vector<KernelRequest>& requests) {
  int ends[2];
  LIJIT_CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  LIJIT_CHECK(child >= 0);
  if (child == 0) {
    close(ends[0]);
    for (const KernelRequest& request : requests) {
      const double time = CompileOnce(request);
      LIJIT_CHECK(write(ends[1], &time, sizeof time) == sizeof time);
    }
    _exit(0);
  }
  close(ends[1]);
  Measured measured;
  double time = 0;
  while (read(ends[0], &time, sizeof time) == sizeof time) measured.milliseconds.push_back(time);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  LIJIT_CHECK(wait4(child, &status, 0, &usage) == child && status == 0);
  LIJIT_CHECK(measured.milliseconds.size() == requests.size());
  measured.peak_kilobytes = usage.ru_maxrss;
  return measured;
}

void PrintRow(const std::string& target, const std::string& backend) {
  const std::vector<KernelRequest> requests = Requests(target, backend);
  std::vector<double> cold;
  for (const KernelRequest& request : requests) {
    cold.push_back(CompileInChild({request}).milliseconds[0]);
  }
  const Measured warm = CompileInChild(requests);
  const std::vector<double> after(warm.milliseconds.begin() + 1, warm.milliseconds.end());
  fmt::print("| `{}` | {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |\n", target, backend, Median(cold),
             Median(after), *std::max_element(after.begin(), after.end()),
             static_cast<double>(warm.peak_kilobytes) / 1024);
  std::fflush(stdout);
}

// Nothing is opened in this process: a child must not find it done.
int Run() {
  fmt::print("| target | backend | cold, ms | warm, ms | slowest warm, ms | peak memory, MiB |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  for (const char* target : kTargets) {
    for (const char* backend : {"cuda", "ptx"}) PrintRow(target, backend);
  }
  return 0;
}

}  // namespace
}  // namespace lijit::runtime

int main() { return lijit::runtime::Run(); }
