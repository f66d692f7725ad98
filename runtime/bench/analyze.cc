// SPDX-License-Identifier: Apache-2.0
#include "lijit/analyze.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/target/target.h"
#include "lijit/cubin.h"
#include "runtime/bench/limits.h"
#include "runtime/bench/predict.h"
#include "runtime/compile/choose_way.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/compile/kernel_request.h"
#include "runtime/sass/mix.h"

namespace lijit {
namespace {

using namespace runtime;  // NOLINT: this file is an entry to runtime/bench

constexpr double kLogitBytes = 4;

struct Op {
  std::string_view name;
  ir::KernelKind kind;
};
constexpr Op kOps[] = {{"paged", ir::KernelKind::kLogitsPaged},
                       {"ragged", ir::KernelKind::kLogitsRagged}};

Result<Op> OpNamed(const std::string& name) {
  for (const Op& op : kOps) {
    if (op.name == name) return op;
  }
  return InvalidArgument(fmt::format("op '{}'; accepted are paged and ragged", name));
}

Result<std::vector<GpuLimits>> GpusNamed(const std::vector<std::string>& names) {
  std::vector<GpuLimits> gpus;
  for (const std::string& name : names) {
    const auto all = AllGpus();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const GpuLimits& g) { return g.name == name; });
    if (found == all.end()) {
      return InvalidArgument(
          fmt::format("there is no GPU '{}'; there are {}", name, fmt::join(KnownGpus(), ", ")));
    }
    gpus.push_back(*found);
  }
  return gpus;
}

// The wanted ones, or one for each compute capability of the GPUs.
Result<std::vector<target::Target>> TargetsFor(const AnalyzeRequest& request,
                                               std::span<const GpuLimits> gpus) {
  std::vector<target::Target> targets;
  for (const std::string& name : request.targets) {
    LIJIT_ASSIGN(target::Target target, target::ParseTarget(name));
    targets.push_back(std::move(target));
  }
  if (!targets.empty()) return targets;
  for (const GpuLimits& gpu : gpus) {
    LIJIT_ASSIGN(target::Target target,
                 target::TargetForCapability(gpu.capability / 10, gpu.capability % 10));
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) {
      targets.push_back(std::move(target));
    }
  }
  return targets;
}

// Fills what the cubin's headers say and returns where it runs.
Result<std::vector<int>> AddResources(std::span<const std::byte> cubin, AnalyzedKernel& kernel) {
  LIJIT_ASSIGN(const cubin::Image image, cubin::ReadCubin(cubin));
  if (image.kernels.size() != 1) {
    return Damaged(fmt::format("the cubin has {} kernels; accepted is one", image.kernels.size()));
  }
  const cubin::Kernel& resources = image.kernels[0];
  kernel.registers = resources.registers;
  kernel.spills = resources.spills;
  kernel.local_bytes = resources.local_bytes;
  kernel.shared_bytes = resources.shared_bytes;
  return cubin::RunsOn(image);
}

// The one function that has loops of its own: the kernel, beside the subroutines of old compilers.
Result<sass::Function> KernelIn(const std::string& text, const std::string& name) {
  LIJIT_ASSIGN(std::vector<sass::Function> functions, sass::ParseSass(text));
  for (sass::Function& function : functions) {
    if (function.name == name) return std::move(function);
  }
  return Failed(fmt::format("the disassembler shows no kernel {}", name));
}

void Describe(const sass::Mix& mix, AnalyzedKernel& kernel) {
  for (const sass::Level& level : mix.levels) {
    kernel.loops.push_back({level.address, level.depth, level.over, level.counts.instructions,
                            level.pairs, level.iterations});
  }
  kernel.pipes.push_back({"instructions", mix.instructions});
  for (std::size_t i = 0; i < sass::kPipes; ++i) {
    if (mix.slots[i] > 0) kernel.pipes.push_back({std::string(sass::kPipeNames[i]), mix.slots[i]});
  }
  kernel.unknown = mix.unknown;
  kernel.notes = mix.notes;
  kernel.problems = mix.problems;
}

void AddPrediction(const sass::Mix& mix, const GpuLimits& gpu, AnalyzedKernel& kernel) {
  const std::optional<Prediction> found = Predict(mix, gpu, kernel.bytes_a_pair);
  if (!found) {
    kernel.problems.push_back(fmt::format("no rates are known of {} for this mix", gpu.name));
    return;
  }
  GpuPrediction prediction;
  prediction.gpu = gpu.name;
  prediction.gpairs = found->gpairs;
  prediction.bound = found->bound;
  prediction.memory_gpairs = found->memory_gpairs;
  for (const PipeTime& pipe : found->pipes) {
    prediction.pipes.push_back({std::string(pipe.pipe), pipe.rate, pipe.clocks});
  }
  kernel.predictions.push_back(std::move(prediction));
}

Result<AnalyzedKernel> AnalyzeKernel(const AnalyzeRequest& request, const IndexerConfig& config,
                                     const target::Target& target, const Op& op,
                                     std::span<const GpuLimits> gpus) {
  LIJIT_ASSIGN(const KernelModules modules, KernelModules::Create(config));
  LIJIT_ASSIGN(const ir::Module module, modules.Extract(op.kind));
  LIJIT_ASSIGN(const Way way, ChooseWay({.schedule = config.schedule,
                                         .backend = config.backend,
                                         .format = config.format,
                                         .is_shipped_format = modules.is_shipped_format()},
                                        module, target));
  LIJIT_ASSIGN(const KernelRequest compile,
               RequestFor(module, way, std::string(target.name), ImageKind::kCubin));
  LIJIT_ASSIGN(const cache::Entry entry, CompileKernel(compile));
  LIJIT_ASSIGN(const LaunchInfo launch, LaunchInfo::FromText(entry.resources));
  AnalyzedKernel kernel;
  kernel.target = target.name;
  kernel.op = op.name;
  kernel.format = config.format;
  kernel.schedule = compile.schedule;
  kernel.backend = compile.backend;
  kernel.threads = launch.threads;
  const bool paged = op.kind == ir::KernelKind::kLogitsPaged;
  kernel.rows = paged ? request.next_n : launch.tile_rows;
  // Decode reads each key once for its request; in prefill they come from the L2 cache.
  const double key_bytes = modules.format().RowBytes(config.head_dim);
  kernel.bytes_a_pair = kLogitBytes + (paged ? key_bytes / kernel.rows : 0);
  LIJIT_ASSIGN(const std::vector<int> runs_on, AddResources(entry.image, kernel));
  LIJIT_ASSIGN(const std::string text, request.disassemble(entry.image));
  LIJIT_ASSIGN(const sass::Function function, KernelIn(text, module.kernels[0].name));
  const sass::Mix mix = sass::FindMix(function, {config.heads, config.head_dim, kernel.rows});
  Describe(mix, kernel);
  const bool asked_for_both = !request.targets.empty() && !request.gpus.empty();
  for (const GpuLimits& gpu : gpus) {
    const bool runs = std::find(runs_on.begin(), runs_on.end(), gpu.capability) != runs_on.end();
    const bool meant = asked_for_both || gpu.capability == target.capability;
    if (runs && meant) AddPrediction(mix, gpu, kernel);
  }
  return kernel;
}

// Each prediction over that of the first kernel with the same target, op and GPU.
void AddRatios(std::vector<AnalyzedKernel>& kernels) {
  for (AnalyzedKernel& kernel : kernels) {
    const AnalyzedKernel& first =
        *std::find_if(kernels.begin(), kernels.end(), [&](const AnalyzedKernel& other) {
          return other.target == kernel.target && other.op == kernel.op;
        });
    for (GpuPrediction& prediction : kernel.predictions) {
      for (const GpuPrediction& base : first.predictions) {
        if (base.gpu == prediction.gpu) prediction.ratio = prediction.gpairs / base.gpairs;
      }
    }
  }
}

Status Check(const AnalyzeRequest& request) {
  if (request.indexers.empty() || request.ops.empty()) {
    return InvalidArgument("there is nothing to analyze: no formats or no ops");
  }
  if (request.targets.empty() && request.gpus.empty()) {
    return InvalidArgument(fmt::format("no target and no GPU; name a target, or one of {}",
                                       fmt::join(KnownGpus(), ", ")));
  }
  if (request.next_n >= 1 && request.next_n <= 8) return {};
  return InvalidArgument(fmt::format("next_n {}; accepted are 1 to 8", request.next_n));
}

}  // namespace

std::vector<std::string> KnownGpus() {
  std::vector<std::string> names;
  for (const GpuLimits& gpu : AllGpus()) names.emplace_back(gpu.name);
  return names;
}

Result<AnalyzeReport> Analyze(const AnalyzeRequest& request) {
  LIJIT_CHECK(request.disassemble != nullptr);
  LIJIT_TRY(Check(request));
  LIJIT_ASSIGN(std::vector<GpuLimits> gpus, GpusNamed(request.gpus));
  LIJIT_ASSIGN(const std::vector<target::Target> targets, TargetsFor(request, gpus));
  if (gpus.empty()) gpus.assign(AllGpus().begin(), AllGpus().end());
  const int total = static_cast<int>(targets.size() * request.ops.size() * request.indexers.size());
  AnalyzeReport report;
  for (const target::Target& target : targets) {
    for (const std::string& name : request.ops) {
      LIJIT_ASSIGN(const Op op, OpNamed(name));
      for (const IndexerConfig& config : request.indexers) {
        if (request.progress) request.progress(static_cast<int>(report.kernels.size()), total);
        LIJIT_ASSIGN(AnalyzedKernel kernel, AnalyzeKernel(request, config, target, op, gpus));
        report.kernels.push_back(std::move(kernel));
      }
    }
  }
  AddRatios(report.kernels);
  report.ok = std::all_of(report.kernels.begin(), report.kernels.end(),
                          [](const AnalyzedKernel& kernel) { return kernel.problems.empty(); });
  return report;
}

}  // namespace lijit
