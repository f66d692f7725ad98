// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_indexer.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "compiler/ir/evaluate_codes.h"
#include "runtime/compile/kernel_module.h"

namespace lijit::tests {
namespace {

template <typename T>
T MustHave(Result<T> result) {
  if (!result.ok()) AbortAt(__FILE__, __LINE__, result.error().message.c_str());
  return std::move(result).value();
}

std::string NameOf(const IndexerConfig& config, std::string_view target) {
  std::string rotation = "plain";
  if (config.rotation) {
    rotation = fmt::format("{}{}{}", config.rotation->interleaved, config.rotation->last,
                           config.rotation->rope_dim);
  }
  return fmt::format("{} {} {} {} {} {} {} {} {}", target, config.format, config.heads,
                     config.head_dim, config.page, DTypeName(config.input),
                     DTypeName(config.weight), rotation, config.module);
}

std::map<std::string, std::shared_ptr<Runtime>, std::less<>>& Runtimes() {
  static std::map<std::string, std::shared_ptr<Runtime>, std::less<>> runtimes;
  return runtimes;
}

}  // namespace

const std::shared_ptr<Runtime>& EmulatedRuntime(std::string_view target) {
  const auto found = Runtimes().find(target);
  if (found != Runtimes().end()) return found->second;
  RuntimeOptions options;
  options.device = "emulated";
  options.target = target;
  options.cache = TestCacheConfig();
  return Runtimes()[std::string(target)] = MustHave(Runtime::Create(options));
}

std::vector<Finding> TakeFindings() {
  static std::map<const Runtime*, std::size_t> taken;
  std::vector<Finding> fresh;
  for (const auto& [target, runtime] : Runtimes()) {
    const std::vector<Finding> all = runtime->device().findings();
    std::size_t& seen = taken[runtime.get()];
    fresh.insert(fresh.end(), all.begin() + static_cast<std::ptrdiff_t>(seen), all.end());
    seen = all.size();
  }
  return fresh;
}

cache::CacheConfig TestCacheConfig() {
  cache::CacheConfig config;
  config.dir = LIJIT_TEST_CACHE_DIR;
  return config;
}

TestIndexer& TestIndexer::Of(const IndexerConfig& config, std::string_view target) {
  static std::map<std::string, std::unique_ptr<TestIndexer>> indexers;
  std::unique_ptr<TestIndexer>& indexer = indexers[NameOf(config, target)];
  if (indexer == nullptr) {
    indexer = std::make_unique<TestIndexer>(EmulatedRuntime(target), config);
  }
  return *indexer;
}

TestIndexer::TestIndexer(const std::shared_ptr<Runtime>& runtime, const IndexerConfig& config)
    : runtime_(runtime), indexer_(MustHave(Indexer::Create(runtime_, config))) {
  const auto modules = MustHave(runtime::KernelModules::Create(config));
  for (const ir::KernelKindRow& row : ir::AllKernelKinds()) {
    modules_.push_back(MustHave(modules.Extract(row.kind)));
  }
}

ir::EvaluatedRows TestIndexer::Encode(std::span<const float> numbers, int scale_bytes) const {
  const ir::Module& module = Module(ir::KernelKind::kGatherCache);
  const ir::FormatCodes codes(module.FormatOf(module.kernels[0].results[0].format));
  const auto width = static_cast<std::size_t>(dim());
  ir::EvaluatedRows rows;
  for (std::size_t at = 0; at < numbers.size(); at += width) {
    const ir::StoredRow row = codes.Encode(numbers.subspan(at, width));
    rows.values.insert(rows.values.end(), row.values.begin(), row.values.end());
    rows.scales.insert(rows.scales.end(), row.scales.begin(), row.scales.begin() + scale_bytes);
  }
  return rows;
}

ir::EvaluatedRows TestIndexer::EncodeKeys(std::span<const float> numbers) const {
  return Encode(numbers, row().key_scales);
}

ir::EvaluatedRows TestIndexer::EncodeQueries(std::span<const float> numbers) const {
  return Encode(numbers, row().query_scales);
}

IndexerConfig Small(std::string_view format, int heads, int head_dim, int page) {
  IndexerConfig config;
  config.format = format;
  config.heads = heads;
  config.head_dim = head_dim;
  config.page = page;
  // The schedule that is equal to the evaluator in every bit for every format.
  config.schedule = "simt";
  return config;
}

IndexerConfig FromFile(std::string_view format, std::string_view file) {
  IndexerConfig config = Small(format);
  const std::string path = fmt::format("{}/tests/formats/{}", LIJIT_SOURCE_DIR, file);
  std::ifstream stream(path);
  if (!stream) AbortAt(__FILE__, __LINE__, path.c_str());
  std::ostringstream text;
  text << stream.rdbuf();
  config.module = text.str();
  config.module_name = file;
  return config;
}

std::vector<float> RandomRows(std::int64_t rows, std::int64_t dim, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> magnitude(-3, 3);
  std::vector<float> numbers;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float scale = std::exp2(magnitude(random));
    for (std::int64_t i = 0; i < dim; ++i) numbers.push_back(scale * normal(random));
  }
  return numbers;
}

}  // namespace lijit::tests
