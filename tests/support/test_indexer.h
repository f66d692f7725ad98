// SPDX-License-Identifier: Apache-2.0
// An indexer on an emulated device, beside the evaluator's kernels for the same configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/evaluator.h"
#include "compiler/ir/module.h"
#include "lijit/indexer.h"

namespace lijit::tests {

class TestIndexer {
 public:
  // Shared by all tests of a program, and its kernels by all programs of a build folder.
  static TestIndexer& Of(const IndexerConfig& config, std::string_view target = "sm_86");
  TestIndexer(const std::shared_ptr<Runtime>& runtime, const IndexerConfig& config);

  Indexer* operator->() const { return indexer_.get(); }
  Device& device() const { return runtime_->device(); }
  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  const IndexerConfig& config() const { return indexer_->config(); }
  std::int64_t heads() const { return config().heads; }
  std::int64_t dim() const { return config().head_dim; }
  Indexer::RowBytes row() const { return indexer_->row_bytes(); }

  // The module of the kind's kernel, which is its only one.
  const ir::Module& Module(ir::KernelKind kind) const {
    return modules_[static_cast<std::size_t>(kind)];
  }
  const ir::Kernel& Kernel(ir::KernelKind kind) const { return Module(kind).kernels[0]; }

  // Rows of `dim` numbers as keys of the format: Format::ScaleBytes of scales a row.
  ir::EvaluatedRows EncodeKeys(std::span<const float> numbers) const;
  // The same as queries: without the row scale.
  ir::EvaluatedRows EncodeQueries(std::span<const float> numbers) const;

 private:
  ir::EvaluatedRows Encode(std::span<const float> numbers, int scale_bytes) const;

  std::shared_ptr<Runtime> runtime_;
  std::unique_ptr<Indexer> indexer_;
  std::vector<ir::Module> modules_;  // by kind
};

// A runtime on an emulated `target`, shared by all tests of a program.
const std::shared_ptr<Runtime>& EmulatedRuntime(std::string_view target);

// The findings of all emulated devices since the last call.
std::vector<Finding> TakeFindings();

// The cache that all programs of a build folder share.
cache::CacheConfig TestCacheConfig();

// A small configuration.
IndexerConfig Small(std::string_view format, int heads = 8, int head_dim = 128, int page = 64);

// A file of tests/formats as an indexer's own module.
IndexerConfig FromFile(std::string_view format, std::string_view file);

// Normal numbers; each row has a magnitude of its own, so that one scale for another is seen.
std::vector<float> RandomRows(std::int64_t rows, std::int64_t dim, std::uint64_t seed);

}  // namespace lijit::tests
