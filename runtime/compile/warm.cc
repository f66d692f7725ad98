// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "cache/get_or_compute.h"
#include "lijit/compiler.h"
#include "lijit/targets.h"
#include "runtime/compile/choose_way.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/compile/kernel_request.h"

namespace lijit {
namespace {

constexpr ModelInfo kModels[] = {
#define MODEL(name, heads, head_dim, page, top_k, ratio, interleaved, last, rope_dim) \
  {name, heads, head_dim, page, top_k, ratio, {interleaved, last, rope_dim}},
#include "runtime/compile/models.def"
};

struct Job {
  std::string kernel;
  runtime::KernelRequest request;
};

Result<std::vector<ModelInfo>> ModelsNamed(const std::vector<std::string>& names) {
  std::vector<ModelInfo> models;
  for (const std::string& name : names) {
    const std::size_t before = models.size();
    for (const ModelInfo& model : kModels) {
      if (name == "all" || name == model.name) models.push_back(model);
    }
    if (models.size() == before) {
      std::string known;
      for (const ModelInfo& model : kModels) known += fmt::format(" {}", model.name);
      return InvalidArgument(fmt::format("there is no model '{}'; there are all{}", name, known));
    }
  }
  return models;
}

// The indexers that an engine serves a model with: rows that come rotated, and rows that are
// rotated here.
std::vector<IndexerConfig> ConfigsOf(const ModelInfo& model, const std::string& format) {
  IndexerConfig config;
  config.format = format;
  config.heads = model.heads;
  config.head_dim = model.head_dim;
  config.page = model.page;
  IndexerConfig rotating = config;
  rotating.rotation = model.rotation;
  return {config, rotating};
}

// Adds the kernels of one configuration that are not among the jobs yet.
Status AddJobs(const IndexerConfig& config, const target::Target& target,
               const WarmRequest& request, std::set<std::string>& known, std::vector<Job>& jobs) {
  LIJIT_ASSIGN(const runtime::KernelModules modules, runtime::KernelModules::Create(config));
  for (const ir::KernelKindRow& row : ir::AllKernelKinds()) {
    LIJIT_ASSIGN(const ir::Module module, modules.Extract(row.kind));
    LIJIT_ASSIGN(const runtime::Way way,
                 runtime::ChooseWay({.schedule = config.schedule,
                                     .backend = request.backend,
                                     .image = request.kind,
                                     .format = config.format,
                                     .is_shipped_format = modules.is_shipped_format()},
                                    module, target));
    Job job{module.kernels[0].name, {}};
    LIJIT_ASSIGN(job.request,
                 runtime::RequestFor(module, way, std::string(target.name), request.kind));
    if (known.insert(job.request.key().text()).second) jobs.push_back(std::move(job));
  }
  return {};
}

Result<std::vector<Job>> AllJobs(const WarmRequest& request) {
  LIJIT_ASSIGN(const std::vector<ModelInfo> models, ModelsNamed(request.models));
  std::vector<Job> jobs;
  std::set<std::string> known;
  for (const std::string& name : request.targets) {
    LIJIT_ASSIGN(const target::Target target, target::ParseTarget(name));
    for (const ModelInfo& model : models) {
      for (const std::string& format : request.formats) {
        for (const IndexerConfig& config : ConfigsOf(model, format)) {
          LIJIT_TRY(AddJobs(config, target, request, known, jobs));
        }
      }
    }
  }
  return jobs;
}

WarmEntry RunJob(cache::Store& store, const Job& job) {
  WarmEntry entry;
  entry.key = job.request.key().Hex();
  entry.kernel = job.kernel;
  entry.target = job.request.target_name;
  entry.backend = job.request.backend;
  const Result<cache::Outcome> outcome =
      cache::GetOrCompute(store, job.request, runtime::ValidateEntry, runtime::CompileKernel);
  if (!outcome.ok()) {
    entry.error = outcome.error().message;
    return entry;
  }
  entry.hit = outcome->hit();
  entry.compile_ms = outcome->event.times.compile;
  entry.cubin_bytes = outcome->entry->image.size();
  return entry;
}

}  // namespace

std::span<const ModelInfo> Models() { return kModels; }

Result<WarmReport> Warm(cache::Store& store, const WarmRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  LIJIT_ASSIGN(const std::vector<Job> jobs, AllJobs(request));
  WarmReport report;
  report.kernels = static_cast<int>(jobs.size());
  report.entries.resize(jobs.size());

  std::atomic<std::size_t> next{0};
  std::mutex progress_mutex;
  int done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      report.entries[i] = RunJob(store, jobs[i]);
      const std::lock_guard lock(progress_mutex);
      ++done;
      if (request.progress) request.progress(done, report.kernels);
    }
  };
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t wanted = request.jobs > 0 ? static_cast<std::size_t>(request.jobs) : cores;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(wanted, jobs.size()); ++i) threads.emplace_back(work);
    work();
  }
  for (const WarmEntry& entry : report.entries) {
    report.failed += entry.error.empty() ? 0 : 1;
    report.hits += entry.hit ? 1 : 0;
  }
  report.compiled = report.kernels - report.failed - report.hits;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace lijit
