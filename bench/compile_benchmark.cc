// SPDX-License-Identifier: Apache-2.0
// What compiling costs, by target and backend, over the kernels of every op and both shipped
// formats with 64 heads of 128, schedule simt. Prints the table of docs/performance.md.
//
//   cold  the first kernel of a process, from its start: libraries are looked for and opened, LLVM
//         is made ready. The median over the kernels, a process each.
//   warm  all kernels in one process: median and slowest of those after the first.
//   peak  VmHWM of a process that compiled one kernel (the median), and of one that compiled all.
//
// Times are the process's own on processors, since other work may share the machine; compilers run
// in one thread, so on a quiet machine they are the elapsed ones. Each number of a kernel is the
// median of several runs.
// Usage: compile_benchmark [RUNS]
#include <fmt/format.h>
#include <stdio.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/printer.h"
#include "runtime/compile/compilers.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/compile/kernel_request.h"

namespace lijit::runtime {
namespace {

constexpr const char* kTargets[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100f", "sm_120f"};
constexpr const char* kBackends[] = {"cuda", "ptx"};
constexpr const char* kFormats[] = {"fp8_e4m3", "mxfp4"};
constexpr const char* kAll = "all";

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

// ---- In a process of its own ----

// On processors, since the process began.
double Milliseconds() {
  timespec now{};
  LIJIT_CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double PeakMebibytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kibibytes = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kibibytes;
  }
  return kibibytes / 1024;
}

// Prints a line for each kernel, its milliseconds, and one for the peak.
int CompileHere(const std::string& target, const std::string& backend, const std::string& which) {
  std::size_t index = 0;
  double begin = 0;
  for (KernelRequest& request : Requests(target, backend)) {
    if (which != kAll && which != std::to_string(index++)) continue;
    request.compiler = CompilerVersion(backend, ImageKind::kCubin).value();
    const Result<cache::Entry> entry = CompileKernel(request);
    LIJIT_CHECK(entry.ok());
    const double end = Milliseconds();
    fmt::print("{}\n", end - begin);
    begin = end;
  }
  fmt::print("{}\n", PeakMebibytes());
  return 0;
}

// ---- In the process that asks ----

struct Measured {
  std::vector<double> milliseconds;  // by kernel
  double peak = 0;                   // MiB
};

double Median(std::vector<double> numbers) {
  LIJIT_CHECK(!numbers.empty());
  std::sort(numbers.begin(), numbers.end());
  const std::size_t middle = numbers.size() / 2;
  if (numbers.size() % 2 == 1) return numbers[middle];
  return (numbers[middle - 1] + numbers[middle]) / 2;
}

Measured MeasureOnce(const std::string& target, const std::string& backend,
                     const std::string& which) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  FILE* const child =
      popen(fmt::format("'{}' {} {} {}", program, target, backend, which).c_str(), "r");
  LIJIT_CHECK(child != nullptr);
  Measured measured;
  double number = 0;
  while (fscanf(child, "%lf", &number) == 1) measured.milliseconds.push_back(number);
  LIJIT_CHECK(pclose(child) == 0);
  measured.peak = measured.milliseconds.back();
  measured.milliseconds.pop_back();
  return measured;
}

// The medians of several runs.
Measured Measure(const std::string& target, const std::string& backend, const std::string& which,
                 int runs) {
  std::vector<std::vector<double>> times;
  std::vector<double> peaks;
  for (int run = 0; run < runs; ++run) {
    const Measured once = MeasureOnce(target, backend, which);
    times.resize(once.milliseconds.size());
    for (std::size_t i = 0; i < times.size(); ++i) times[i].push_back(once.milliseconds[i]);
    peaks.push_back(once.peak);
  }
  Measured measured;
  for (std::vector<double>& kernel : times) {
    measured.milliseconds.push_back(Median(std::move(kernel)));
  }
  measured.peak = Median(std::move(peaks));
  return measured;
}

void PrintRow(const std::string& target, const std::string& backend, int runs) {
  const std::size_t kernels = Requests(target, backend).size();
  std::vector<double> cold;
  std::vector<double> peaks;
  for (std::size_t i = 0; i < kernels; ++i) {
    const Measured one = Measure(target, backend, std::to_string(i), runs);
    cold.push_back(one.milliseconds.at(0));
    peaks.push_back(one.peak);
  }
  const Measured all = Measure(target, backend, kAll, runs);
  const std::vector<double> warm(all.milliseconds.begin() + 1, all.milliseconds.end());
  fmt::print("| `{}` | `{}` | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |\n", target, backend,
             Median(cold), Median(warm), *std::max_element(warm.begin(), warm.end()), Median(peaks),
             all.peak);
  fflush(stdout);
}

int PrintTable(int runs) {
  for (const char* backend : kBackends) {
    const Result<std::string> version = CompilerVersion(backend, ImageKind::kCubin);
    fmt::print("{}: {}\n", backend, version.ok() ? *version : version.error().message);
  }
  fmt::print(
      "\n| target | backend | cold, ms | warm, ms | slowest warm, ms | peak of one, MiB | "
      "peak of all, MiB |\n|---|---|---|---|---|---|---|\n");
  for (const char* target : kTargets) {
    for (const char* backend : kBackends) {
      if (CompilerVersion(backend, ImageKind::kCubin).ok()) PrintRow(target, backend, runs);
    }
  }
  return 0;
}

int Usage() {
  fmt::print(stderr, "usage: compile_benchmark [RUNS]\n");
  return 2;
}

}  // namespace
}  // namespace lijit::runtime

int main(int argc, char** argv) {
  using namespace lijit::runtime;  // NOLINT: this file is all of it
  if (argc == 4) return CompileHere(argv[1], argv[2], argv[3]);
  int runs = 5;
  if (argc == 2) {
    const std::string_view text = argv[1];
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), runs);
    if (problem != std::errc() || end != text.data() + text.size() || runs < 1) return Usage();
  }
  return argc > 2 ? Usage() : PrintTable(runs);
}
