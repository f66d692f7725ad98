// SPDX-License-Identifier: Apache-2.0
#include "lijit/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "runtime/bench/limits.h"
#include "runtime/bench/measure.h"
#include "runtime/bench/reference.h"
#include "runtime/bench/score_case.h"
#include "runtime/bench/verify.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/run/metrics.h"
#include "runtime/toolchain/nvml.h"

namespace lijit {
namespace {

using namespace runtime;  // NOLINT: this file is the entry to runtime/bench

constexpr int kMaxSets = 1 << 14;
// Distinct rows: enough that neighbours differ, few enough for the evaluator. Odd numbers, so that
// tiles of a kernel do not meet the same ones again.
constexpr std::int64_t kDistinctQueries = 13;
constexpr std::int64_t kDistinctKeys = 61 * 64;

constexpr const char* kMethod =
    "graph replay of back-to-back calls; median and p90 of the replays divided by the calls; "
    "decode "
    "rotates over disjoint pages and outputs; every output is poisoned, computed by the same graph "
    "and compared with the evaluator in every number first; FLOPs = 2 * head_dim per (query, head, "
    "visible key); bytes = every input once plus visible logits once";

std::string Known(const char* format, const auto& value) {
  return value ? fmt::format(fmt::runtime(format), *value) : "unknown";
}

std::string StateText(const Device& device) {
  if (device.info().kind != DeviceKind::kCuda) return "no clock: emulated";
  const Result<DeviceState> state = ReadDeviceState(device.info().pci_address);
  if (!state.ok()) return "unknown: " + state.error().message;
  return fmt::format("SM clock {} of {} MHz, memory {} MHz, {} of {} W, {} C",
                     Known("{}", state->sm_mhz), Known("{}", state->max_sm_mhz),
                     Known("{}", state->memory_mhz), Known("{:.0f}", state->watts),
                     Known("{:.0f}", state->limit_watts), Known("{}", state->celsius));
}

std::int64_t RowsOf(const BenchShape& shape) {
  return shape.is_paged() ? shape.batch * shape.next_n : shape.queries;
}

Status CheckShape(const BenchShape& shape) {
  const std::int64_t most = std::int64_t{1} << 31;
  const bool paged = shape.is_paged();
  if (!paged && shape.op != "ragged") {
    return InvalidArgument(fmt::format("op '{}'; accepted are paged and ragged", shape.op));
  }
  if (shape.heads < 1) return InvalidArgument(fmt::format("heads {}: at least 1", shape.heads));
  const bool fits =
      paged ? shape.batch >= 1 && shape.batch < most && shape.next_n >= 1 && shape.next_n <= 8 &&
                  shape.context >= 1 && shape.context < most
            : shape.queries >= 1 && shape.queries < most && shape.keys >= 1 && shape.keys < most;
  if (fits) return {};
  return InvalidArgument(
      paged
          ? fmt::format("batch {}, context {}, next_n {}: batch and context are 1 to 2^31 - 1, "
                        "next_n 1 to 8",
                        shape.batch, shape.context, shape.next_n)
          : fmt::format("queries {}, keys {}: both are 1 to 2^31 - 1", shape.queries, shape.keys));
}

// All rows of one format. Reference numbers and the pool are shared by shapes where they can be.
class FormatBench {
 public:
  FormatBench(const BenchRequest& request, const IndexerConfig& config,
              std::shared_ptr<Runtime> runtime)
      : request_(request),
        config_(config),
        runtime_(std::move(runtime)),
        device_(runtime_->device()),
        limits_(LimitsOf(device_.info().name)) {
    for (const BenchShape& shape : request_.shapes) {
      rows_ = std::max(rows_, RowsOf(shape));
      keys_ = std::max(keys_, shape.is_paged() ? shape.batch * shape.context : shape.keys);
    }
  }

  BenchRow Row(const BenchShape& shape) {
    BenchRow row;
    row.shape = shape;
    row.format = config_.format;
    row.target = device_.info().target;
    row.pairs = shape.pairs();
    if (const Status status = Fill(row); !status.ok()) row.problem = status.error().message;
    return row;
  }

 private:
  struct PerHeads {
    std::unique_ptr<Indexer> indexer;
    BenchReference reference;
  };

  Status Fill(BenchRow& row) {
    LIJIT_ASSIGN(PerHeads * of_heads, ForHeads(row.shape.heads));
    Indexer& indexer = *of_heads->indexer;
    row.schedule = indexer.schedule();
    row.backend = indexer.backend();
    row.bytes = Bytes(row, indexer);
    LIJIT_ASSIGN(const ScoreCase score, MakeCase(row.shape, *of_heads));
    // Loads the kernel, which recording must not.
    LIJIT_TRY(score.call(0, Tail::kKeep, nullptr));
    LIJIT_TRY(device_.Synchronize());
    LIJIT_TRY(Verify(score, of_heads->reference, Tail::kKeep, row));
    if (!row.shape.is_paged()) {
      LIJIT_TRY(Verify(score, of_heads->reference, Tail::kMinusInfinity, row));
    }
    row.verified = true;
    return request_.time ? Time(score, indexer, row) : Status();
  }

  Result<PerHeads*> ForHeads(int heads) {
    if (const auto found = of_heads_.find(heads); found != of_heads_.end()) return &found->second;
    IndexerConfig config = config_;
    config.heads = heads;
    PerHeads made;
    LIJIT_ASSIGN(made.indexer, Indexer::Create(runtime_, config));
    const std::int64_t needed_pages = (keys_ + config.page - 1) / config.page;
    const std::int64_t distinct_pages = std::max<std::int64_t>(kDistinctKeys / config.page, 1) | 1;
    LIJIT_ASSIGN(
        made.reference,
        MakeBenchReference(config, made.indexer->page_bytes(), std::min(kDistinctQueries, rows_),
                           std::min(distinct_pages, needed_pages), request_.seed));
    return &of_heads_.emplace(heads, std::move(made)).first->second;
  }

  int Sets(const BenchShape& shape, std::int64_t page_bytes) const {
    const std::int64_t set_bytes = PagesOfSet(shape, config_.page) * page_bytes;
    const std::int64_t sets = (request_.rotated_bytes + set_bytes - 1) / set_bytes;
    return static_cast<int>(std::clamp<std::int64_t>(sets, 1, kMaxSets));
  }

  // The pool has the keys of the seed, whatever the heads, and as many pages as any shape needs.
  Result<const BenchPool*> Pool(const PerHeads& of_heads) {
    if (pool_.count > 0) return &pool_;
    std::int64_t count = 0;
    for (const BenchShape& shape : request_.shapes) {
      if (!shape.is_paged()) continue;
      const int sets = Sets(shape, of_heads.indexer->page_bytes());
      count = std::max(count, sets * PagesOfSet(shape, config_.page));
    }
    LIJIT_ASSIGN(pool_, MakeBenchPool(device_, of_heads.reference, count));
    pool_pages_ = of_heads.reference.page_bytes;
    return &pool_;
  }

  Result<ScoreCase> MakeCase(const BenchShape& shape, PerHeads& of_heads) {
    Indexer& indexer = *of_heads.indexer;
    if (!shape.is_paged()) return MakeRaggedCase(device_, indexer, of_heads.reference, shape);
    LIJIT_ASSIGN(const BenchPool* pool, Pool(of_heads));
    LIJIT_CHECK(pool_pages_ == of_heads.reference.page_bytes);
    return MakePagedCase(device_, indexer, of_heads.reference, *pool, shape,
                         Sets(shape, indexer.page_bytes()), request_.seed);
  }

  // By the graph that is to be timed, on outputs that hold nothing.
  Status Verify(const ScoreCase& score, const BenchReference& reference, Tail tail, BenchRow& row) {
    LIJIT_TRY(device_.Fill(score.out.address(), kUnwritten,
                           static_cast<std::uint64_t>(score.out_bytes())));
    LIJIT_ASSIGN(const auto graph, RecordCalls(device_, score, tail, score.sets));
    LIJIT_TRY(graph->Launch());
    LIJIT_TRY(device_.Synchronize());
    LIJIT_ASSIGN(const Verification found, VerifyOutputs(device_, score, reference, tail));
    row.bitwise_equal = found.bitwise_equal && (row.compared == 0 || row.bitwise_equal);
    row.calc_diff = std::max(row.calc_diff, found.calc_diff);
    row.compared += found.compared;
    LIJIT_ASSIGN(const KernelModules modules, KernelModules::Create(config_));
    const bool exact = IsExact(modules.format(), row.schedule);
    const bool near = found.bitwise_equal || (!exact && found.calc_diff < kMaxCalcDiff);
    if (found.complete && near) return {};
    return Failed(fmt::format("wrong: {}; calc_diff {:.3g}", found.first_problem, found.calc_diff));
  }

  Status Time(const ScoreCase& score, const Indexer& indexer, BenchRow& row) {
    LIJIT_ASSIGN(const CallTimes times,
                 MeasureCalls(device_, score, Tail::kKeep, request_.replays));
    if (const auto state = ReadDeviceState(device_.info().pci_address); state.ok()) {
      row.sm_mhz = state->sm_mhz;
      row.watts = state->watts;
    }
    row.us = times.us;
    row.us_p90 = times.us_p90;
    row.calls = times.calls;
    row.replays = times.replays;
    Rate(indexer, row);
    if (row.shape.is_paged()) return {};
    LIJIT_ASSIGN(const CallTimes clean,
                 MeasureCalls(device_, score, Tail::kMinusInfinity, request_.replays));
    row.us_with_clean = clean.us;
    return {};
  }

  void Rate(const Indexer& indexer, BenchRow& row) const {
    const auto pairs = static_cast<double>(row.pairs);
    const auto bytes = static_cast<double>(row.bytes);
    const double flops = pairs * 2 * row.shape.heads * config_.head_dim;
    row.gpairs = pairs / (*row.us * 1e3);
    row.tflops = flops / (*row.us * 1e6);
    row.gbps = bytes / (*row.us * 1e3);
    if (!limits_) return;
    const double bits = 8.0 * indexer.row_bytes().values / config_.head_dim;
    const LeastTime least = LeastTimeFor(*limits_, bytes, flops, bits);
    row.limit = least.by;
    row.limit_share = least.us / *row.us;
  }

  std::int64_t Bytes(const BenchRow& row, const Indexer& indexer) const {
    const BenchShape& shape = row.shape;
    const Indexer::RowBytes bytes = indexer.row_bytes();
    const std::int64_t query_rows = RowsOf(shape) * shape.heads;
    const std::int64_t queries = query_rows * (bytes.values + bytes.query_scales + 4);
    const std::int64_t logits = row.pairs * 4;
    if (!shape.is_paged()) {
      return queries + shape.keys * bytes.total() + shape.queries * 8 + logits;
    }
    return queries + shape.batch * shape.context * bytes.total() +
           PagesOfSet(shape, config_.page) * 4 + shape.batch * 4 + logits;
  }

  const BenchRequest& request_;
  const IndexerConfig& config_;
  std::shared_ptr<Runtime> runtime_;
  Device& device_;
  const std::optional<GpuLimits> limits_;
  std::int64_t rows_ = 1, keys_ = 1;  // the most of any shape
  std::map<int, PerHeads> of_heads_;
  BenchPool pool_;
  std::vector<std::uint8_t> pool_pages_;  // what it repeats
};

Status Check(const BenchRequest& request, const Device& device) {
  for (const BenchShape& shape : request.shapes) LIJIT_TRY(CheckShape(shape));
  if (request.shapes.empty() || request.indexers.empty()) {
    return InvalidArgument("there is nothing to measure: no shapes or no formats");
  }
  if (request.replays < 1 || request.replays > kMaxTimedReplays || request.rotated_bytes < 1) {
    return InvalidArgument(
        fmt::format("replays {}, rotated bytes {}: replays are 1 to {}, bytes at least 1",
                    request.replays, request.rotated_bytes, kMaxTimedReplays));
  }
  if (!request.time || device.info().kind == DeviceKind::kCuda) return {};
  return Unavailable(
      fmt::format("device '{}' has no clock: times are measured on a CUDA device; "
                  "verifying alone (--verify-only) is possible here",
                  device.info().name));
}

}  // namespace

Result<BenchReport> Bench(const BenchRequest& request) {
  LIJIT_ASSIGN(const std::shared_ptr<Runtime> runtime, Runtime::Create(request.runtime));
  const Device& device = runtime->device();
  LIJIT_TRY(Check(request, device));
  const std::optional<GpuLimits> limits = LimitsOf(device.info().name);
  BenchReport report;
  report.device = device.info().name;
  report.driver = device.info().driver;
  report.multiprocessors = device.info().multiprocessors;
  report.state = StateText(device);
  report.limits = limits ? DescribeLimits(*limits) : "not known for this device";
  report.method = kMethod;
  report.ok = true;
  const int total = static_cast<int>(request.indexers.size() * request.shapes.size());
  for (const IndexerConfig& config : request.indexers) {
    FormatBench bench(request, config, runtime);
    for (const BenchShape& shape : request.shapes) {
      if (request.progress) request.progress(static_cast<int>(report.rows.size()), total);
      report.rows.push_back(bench.Row(shape));
      report.ok = report.ok && report.rows.back().problem.empty();
    }
  }
  return report;
}

}  // namespace lijit
