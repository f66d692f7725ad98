// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/score_case.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <span>

#include "compiler/ir/evaluator.h"

namespace lijit::runtime {
namespace {

constexpr std::int64_t kCopyBytes = std::int64_t{32} << 20;  // to the device at a time
constexpr std::int64_t kOutputAlignment = 256;

std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }

// A buffer of `rows` rows: those of `data`, which has `period` rows, over and over.
template <typename T>
Result<Buffer> Repeated(Device& device, const std::vector<T>& data, std::int64_t period,
                        std::int64_t rows, std::string_view label) {
  const std::int64_t row_bytes = static_cast<std::int64_t>(data.size() * sizeof(T)) / period;
  LIJIT_ASSIGN(Buffer buffer, Buffer::CreateRaw(device, rows * row_bytes, label));
  if (row_bytes == 0) return buffer;
  const std::int64_t periods = std::max<std::int64_t>(kCopyBytes / (period * row_bytes), 1);
  const std::int64_t rows_at_once = std::min(periods * period, rows);
  const auto bytes = std::as_bytes(std::span(data));
  std::vector<std::byte> chunk(Size(rows_at_once * row_bytes));
  for (std::size_t at = 0; at < chunk.size(); at += bytes.size()) {
    std::copy_n(bytes.begin(), std::min(bytes.size(), chunk.size() - at),
                chunk.begin() + static_cast<std::ptrdiff_t>(at));
  }
  for (std::int64_t row = 0; row < rows; row += rows_at_once) {
    const std::int64_t count = std::min(rows_at_once, rows - row);
    LIJIT_TRY(device.CopyToDevice(buffer.address() + static_cast<DeviceAddress>(row * row_bytes),
                                  chunk.data(), static_cast<std::uint64_t>(count * row_bytes)));
  }
  return buffer;
}

// Keeps the buffer with the case and returns its address.
DeviceAddress Keep(ScoreCase& score, Buffer buffer) {
  score.inputs.push_back(std::move(buffer));
  return score.inputs.back().address();
}

struct QueryAddresses {
  DeviceAddress values = 0, scales = 0, weights = 0;
};

Result<QueryAddresses> MakeQueries(Device& device, const BenchReference& reference,
                                   ScoreCase& score) {
  const std::int64_t period = reference.queries;
  QueryAddresses addresses;
  LIJIT_ASSIGN(Buffer values, Repeated(device, reference.q_values, period, score.rows, "q_values"));
  LIJIT_ASSIGN(Buffer scales, Repeated(device, reference.q_scales, period, score.rows, "q_scales"));
  LIJIT_ASSIGN(Buffer weights, Repeated(device, reference.weights, period, score.rows, "weights"));
  addresses.values = Keep(score, std::move(values));
  addresses.scales = Keep(score, std::move(scales));
  addresses.weights = Keep(score, std::move(weights));
  return addresses;
}

Status MakeOutputs(Device& device, ScoreCase& score) {
  const std::int64_t bytes = score.rows * score.width * std::int64_t{sizeof(float)};
  score.set_stride = (bytes + kOutputAlignment - 1) / kOutputAlignment * kOutputAlignment;
  LIJIT_ASSIGN(score.out, Buffer::CreateRaw(device, score.out_bytes(), "out"));
  return {};
}

Tensor Rows(DeviceAddress address, std::int64_t rows, int bytes) {
  return bytes == 0 ? kNoTensor : Tensor::Contiguous(address, DType::kU8, {rows, bytes});
}

Tensor QueryRows(DeviceAddress address, std::int64_t rows, int heads, int bytes) {
  return bytes == 0 ? kNoTensor : Tensor::Contiguous(address, DType::kU8, {rows, heads, bytes});
}

// Of each set of its own, in no order.
std::vector<std::int32_t> BlockTables(int sets, std::int64_t pages_of_set, std::uint64_t seed) {
  std::vector<std::int32_t> tables(Size(sets * pages_of_set));
  std::iota(tables.begin(), tables.end(), 0);
  std::mt19937_64 random(seed);
  for (int set = 0; set < sets; ++set) {
    const auto begin = tables.begin() + static_cast<std::ptrdiff_t>(set * pages_of_set);
    std::shuffle(begin, begin + static_cast<std::ptrdiff_t>(pages_of_set), random);
  }
  return tables;
}

}  // namespace

std::int64_t PagesOfSet(const BenchShape& shape, int page) {
  return shape.batch * ((shape.context + page - 1) / page);
}

Result<BenchPool> MakeBenchPool(Device& device, const BenchReference& reference,
                                std::int64_t count) {
  BenchPool pool;
  pool.count = count;
  LIJIT_ASSIGN(pool.memory, Repeated(device, reference.page_bytes, reference.pages, count, "pool"));
  return pool;
}

Result<ScoreCase> MakePagedCase(Device& device, Indexer& indexer, const BenchReference& reference,
                                const BenchPool& pool, const BenchShape& shape, int sets,
                                std::uint64_t seed) {
  const int page = indexer.config().page;
  const Indexer::RowBytes bytes = indexer.row_bytes();
  const std::int64_t batch = shape.batch;
  const std::int64_t next_n = shape.next_n;
  const std::int64_t pages_of_set = PagesOfSet(shape, page);
  const std::int64_t table_width = pages_of_set / batch;
  ScoreCase score;
  score.rows = batch * next_n;
  score.width = std::max<std::int64_t>(shape.context, 1);
  score.sets = sets;
  score.key_run = page;
  for (std::int64_t row = 0; row < score.rows; ++row) {
    const int j = static_cast<int>(row % next_n);
    score.visible.push_back(ir::VisibleKeys(shape.context, shape.next_n, j, 1));
  }
  LIJIT_ASSIGN(const QueryAddresses q, MakeQueries(device, reference, score));
  const auto tables =
      std::make_shared<const std::vector<std::int32_t>>(BlockTables(sets, pages_of_set, seed));
  LIJIT_ASSIGN(Buffer table_buffer, Buffer::Of<std::int32_t>(device, *tables, "block_table"));
  const std::vector<std::int32_t> lengths(Size(batch), static_cast<std::int32_t>(shape.context));
  LIJIT_ASSIGN(Buffer length_buffer, Buffer::Of<std::int32_t>(device, lengths, "context_lens"));
  LIJIT_TRY(MakeOutputs(device, score));

  LogitsPagedArguments a;
  const auto heads = std::int64_t{shape.heads};
  a.q_values = Tensor::Contiguous(q.values, DType::kU8, {batch, next_n, heads, bytes.values});
  if (bytes.query_scales > 0) {
    a.q_scales =
        Tensor::Contiguous(q.scales, DType::kU8, {batch, next_n, heads, bytes.query_scales});
  }
  a.pool = indexer.Pool(pool.memory.address(), indexer.page_bytes(), pool.count);
  a.block_table =
      Tensor::Contiguous(Keep(score, std::move(table_buffer)), DType::kI32, {batch, table_width});
  a.context_lens = Tensor::Contiguous(Keep(score, std::move(length_buffer)), DType::kI32, {batch});
  a.weights = Tensor::Contiguous(q.weights, DType::kF32, {score.rows, heads});
  a.out = Tensor::Contiguous(score.out.address(), DType::kF32, {score.rows, score.width});
  score.call = [a, &indexer, stride = score.set_stride, pages_of_set](int set, Tail tail,
                                                                      Stream stream) {
    LogitsPagedArguments of_set = a;
    of_set.block_table.data += static_cast<DeviceAddress>(set * pages_of_set * 4);
    of_set.out.data += static_cast<DeviceAddress>(set * stride);
    of_set.tail = tail;
    return indexer.LogitsPaged(of_set, stream);
  };
  score.key = [=, distinct = reference.pages](int set, std::int64_t row, std::int64_t column) {
    const std::int64_t request = row / next_n;
    const std::int64_t entry = set * pages_of_set + request * table_width + column / page;
    return (*tables)[Size(entry)] % distinct * page + column % page;
  };
  return score;
}

Result<ScoreCase> MakeRaggedCase(Device& device, Indexer& indexer, const BenchReference& reference,
                                 const BenchShape& shape) {
  const Indexer::RowBytes bytes = indexer.row_bytes();
  ScoreCase score;
  score.rows = shape.queries;
  score.width = std::max<std::int64_t>(shape.keys, 1);
  score.key_run = reference.keys;
  for (std::int64_t row = 0; row < score.rows; ++row) {
    const std::int64_t causal = std::max<std::int64_t>(shape.keys - shape.queries + row + 1, 0);
    score.visible.push_back(shape.causal ? causal : shape.keys);
  }
  LIJIT_ASSIGN(const QueryAddresses q, MakeQueries(device, reference, score));
  LIJIT_ASSIGN(Buffer k_values,
               Repeated(device, reference.k_values, reference.keys, shape.keys, "k_values"));
  LIJIT_ASSIGN(Buffer k_scales,
               Repeated(device, reference.k_scales, reference.keys, shape.keys, "k_scales"));
  const std::vector<std::int32_t> starts(Size(score.rows), 0);
  const std::vector<std::int32_t> ends(score.visible.begin(), score.visible.end());
  LIJIT_ASSIGN(Buffer starts_buffer, Buffer::Of<std::int32_t>(device, starts, "starts"));
  LIJIT_ASSIGN(Buffer ends_buffer, Buffer::Of<std::int32_t>(device, ends, "ends"));
  LIJIT_TRY(MakeOutputs(device, score));

  LogitsRaggedArguments a;
  a.q_values = QueryRows(q.values, score.rows, shape.heads, bytes.values);
  a.q_scales = QueryRows(q.scales, score.rows, shape.heads, bytes.query_scales);
  a.k_values = Rows(Keep(score, std::move(k_values)), shape.keys, bytes.values);
  a.k_scales = Rows(Keep(score, std::move(k_scales)), shape.keys, bytes.key_scales);
  a.weights = Tensor::Contiguous(q.weights, DType::kF32, {score.rows, shape.heads});
  a.starts = Tensor::Contiguous(Keep(score, std::move(starts_buffer)), DType::kI32, {score.rows});
  a.ends = Tensor::Contiguous(Keep(score, std::move(ends_buffer)), DType::kI32, {score.rows});
  a.out = Tensor::Contiguous(score.out.address(), DType::kF32, {score.rows, score.width});
  score.call = [a, &indexer](int, Tail tail, Stream stream) {
    LogitsRaggedArguments with_tail = a;
    with_tail.tail = tail;
    return indexer.LogitsRagged(with_tail, stream);
  };
  score.key = [distinct = reference.keys](int, std::int64_t, std::int64_t column) {
    return column % distinct;
  };
  return score;
}

}  // namespace lijit::runtime
