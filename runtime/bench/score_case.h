// SPDX-License-Identifier: Apache-2.0
// One shape on a device: its inputs, its calls, and which number each output must be.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lijit/bench.h"
#include "runtime/bench/reference.h"
#include "runtime/run/buffer.h"

namespace lijit::runtime {

// Pages in device memory: page `id` holds the reference's page `id % reference.pages`.
struct BenchPool {
  Buffer memory;
  std::int64_t count = 0;
};
Result<BenchPool> MakeBenchPool(Device& device, const BenchReference& reference,
                                std::int64_t count);

// Calls of one shape. Query row r is the reference's query r % reference.queries. There are `sets`
// calls on different memory: pages, block tables and outputs.
struct ScoreCase {
  std::int64_t rows = 0, width = 0;
  int sets = 1;
  std::vector<std::int64_t> visible;  // keys that each row sees: its first columns
  // The reference's key at a column (from which on `key_run - key % key_run` columns have the keys
  // that follow).
  std::function<std::int64_t(int set, std::int64_t row, std::int64_t column)> key;
  std::int64_t key_run = 0;
  std::function<Status(int set, Tail tail, Stream stream)> call;
  Buffer out;                   // sets of rows x width f32
  std::int64_t set_stride = 0;  // bytes from a set's output to the next
  std::vector<Buffer> inputs;

  std::int64_t out_bytes() const { return sets * set_stride; }
};

// Decode on `sets` sets of pages, which the pool must have (PagesOfSet).
Result<ScoreCase> MakePagedCase(Device& device, Indexer& indexer, const BenchReference& reference,
                                const BenchPool& pool, const BenchShape& shape, int sets,
                                std::uint64_t seed);
// Prefill.
Result<ScoreCase> MakeRaggedCase(Device& device, Indexer& indexer, const BenchReference& reference,
                                 const BenchShape& shape);

// Pages of all requests of a decode shape.
std::int64_t PagesOfSet(const BenchShape& shape, int page);

}  // namespace lijit::runtime
