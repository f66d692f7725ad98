// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/reference.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "compiler/ir/evaluator.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/run/inputs.h"

namespace lijit::runtime {
namespace {

using ir::KernelKind;

Result<RunInputs> RandomInputs(IndexerConfig config, std::int64_t queries, std::int64_t keys,
                               std::uint64_t seed) {
  RunRequest request;
  request.op = "ragged";
  request.queries = static_cast<int>(queries);
  request.context = keys;
  request.seed = seed;
  LIJIT_ASSIGN(RunInputs inputs, MakeInputs(request, config));
  // Rounded as the indexer would read them.
  EncodeInput(inputs.q, config.input);
  EncodeInput(inputs.k, config.input);
  EncodeInput(inputs.w, config.weight);
  return inputs;
}

// The same keys whatever the heads.
Result<std::vector<float>> RandomKeys(IndexerConfig config, std::int64_t keys, std::uint64_t seed) {
  config.heads = 1;
  LIJIT_ASSIGN(RunInputs inputs, RandomInputs(config, 1, keys, seed));
  return std::move(inputs.k);
}

Status StoreQueries(const KernelModules& modules, const IndexerConfig& config,
                    const RunInputs& inputs, BenchReference& reference) {
  LIJIT_ASSIGN(const ir::Module module, modules.Extract(KernelKind::kQuantizeQuery));
  ir::EvaluatedQuery query =
      ir::EvaluateQuantizeQuery(module, module.kernels[0], config.heads, inputs.q, inputs.w);
  reference.q_values = std::move(query.rows.values);
  reference.q_scales = std::move(query.rows.scales);
  reference.weights = std::move(query.weights);
  return {};
}

Status StoreKeys(const KernelModules& modules, std::int64_t page_bytes, std::span<const float> keys,
                 BenchReference& reference) {
  std::vector<std::int64_t> slots(static_cast<std::size_t>(reference.keys));
  std::iota(slots.begin(), slots.end(), 0);
  reference.page_bytes.assign(static_cast<std::size_t>(reference.pages * page_bytes), 0);
  LIJIT_ASSIGN(const ir::Module writer, modules.Extract(KernelKind::kWriteCache));
  ir::EvaluateWriteCache(writer, writer.kernels[0], keys, slots,
                         {reference.page_bytes, page_bytes, reference.pages});

  std::vector<std::int32_t> table(static_cast<std::size_t>(reference.pages));
  std::iota(table.begin(), table.end(), 0);
  const std::int32_t bounds[] = {0, static_cast<std::int32_t>(reference.keys)};
  LIJIT_ASSIGN(const ir::Module reader, modules.Extract(KernelKind::kGatherCache));
  ir::EvaluatedRows rows = ir::EvaluateGatherCache(
      reader, reader.kernels[0], {reference.page_bytes, page_bytes, reference.pages},
      {table, reference.pages, reference.pages}, bounds);
  reference.k_values = std::move(rows.values);
  reference.k_scales = std::move(rows.scales);
  return {};
}

// Rows [begin, end) of the logits.
void Score(const ir::Module& module, std::int64_t begin, std::int64_t end,
           BenchReference& reference) {
  const auto rows = [&](const auto& data) {
    const auto row = data.size() / static_cast<std::size_t>(reference.queries);
    return std::span(data).subspan(static_cast<std::size_t>(begin) * row,
                                   static_cast<std::size_t>(end - begin) * row);
  };
  const std::vector<std::int32_t> starts(static_cast<std::size_t>(end - begin), 0);
  const std::vector<std::int32_t> ends(starts.size(), static_cast<std::int32_t>(reference.keys));
  const std::vector<float> logits = ir::EvaluateLogitsRagged(
      module, module.kernels[0], {rows(reference.q_values), rows(reference.q_scales)},
      {reference.k_values, reference.k_scales}, rows(reference.weights), starts, ends,
      reference.keys);
  std::copy(logits.begin(), logits.end(),
            reference.logits.begin() + static_cast<std::ptrdiff_t>(begin * reference.keys));
}

Status ScoreAll(const KernelModules& modules, BenchReference& reference) {
  LIJIT_ASSIGN(const ir::Module module, modules.Extract(KernelKind::kLogitsRagged));
  reference.logits.resize(static_cast<std::size_t>(reference.queries * reference.keys));
  const std::int64_t cores = std::max<std::int64_t>(std::thread::hardware_concurrency(), 1);
  const std::int64_t count = std::min(cores, reference.queries);
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      Score(module, i * reference.queries / count, (i + 1) * reference.queries / count, reference);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return {};
}

}  // namespace

Result<BenchReference> MakeBenchReference(const IndexerConfig& config, std::int64_t page_bytes,
                                          std::int64_t queries, std::int64_t pages,
                                          std::uint64_t seed) {
  LIJIT_ASSIGN(const KernelModules modules, KernelModules::Create(config));
  BenchReference reference;
  reference.queries = queries;
  reference.pages = pages;
  reference.keys = pages * config.page;
  LIJIT_ASSIGN(const RunInputs inputs, RandomInputs(config, queries, 0, seed));
  LIJIT_TRY(StoreQueries(modules, config, inputs, reference));
  LIJIT_ASSIGN(const std::vector<float> keys, RandomKeys(config, reference.keys, seed + 1));
  LIJIT_TRY(StoreKeys(modules, page_bytes, keys, reference));
  LIJIT_TRY(ScoreAll(modules, reference));
  return reference;
}

}  // namespace lijit::runtime
