// SPDX-License-Identifier: Apache-2.0
// One call of an op on an emulated device, and what the evaluator says of it. A case is made from
// options; its arguments may then be changed; Check launches and compares every bit of the outputs,
// the bytes between and behind their rows included.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/test_cache.h"

namespace lijit::tests {

// Sizes and strides of 0 are those of dense tensors, empty vectors are random numbers.

// The rope table of an indexer with a rotation, and the rows' positions in it.
struct RopeInputs {
  std::vector<std::int64_t> positions;
  std::vector<float> table;
};
RopeInputs MakeRope(const TestIndexer& indexer, std::int64_t tokens, std::int64_t table_rows = 64);

struct QueryOptions {
  std::int64_t tokens = 3;
  std::int64_t token_stride = 0, head_stride = 0, weight_stride = 0;  // elements
  std::vector<float> q = {};                                          // [tokens, heads, dim]
  std::vector<float> w = {};                                          // [tokens, heads]
  RopeInputs rope = {};
};

class QueryCase {
 public:
  explicit QueryCase(TestIndexer& indexer, QueryOptions options = {});
  void Check();

  QuantizeQueryArguments arguments;
  ir::EvaluatedQuery expected;

 private:
  TestIndexer& indexer_;
  TestMemory memory_;
};

struct WriteOptions {
  std::vector<std::int64_t> slots;
  std::int64_t page_count = 4;
  std::int64_t page_stride = 0, token_stride = 0;
  std::vector<float> k = {};  // [slots, dim]
  RopeInputs rope = {};
};

class WriteCase {
 public:
  WriteCase(TestIndexer& indexer, WriteOptions options);
  void Check();
  // The page as the evaluator wrote it.
  std::span<const std::uint8_t> Page(std::int64_t page);

  WriteCacheArguments arguments;

 private:
  TestIndexer& indexer_;
  TestMemory memory_;
  Slab slab_;
  std::vector<std::int64_t> touched_;  // pages that may be written, and their neighbours
};

struct GatherOptions {
  std::int64_t rows = -1;                      // that the outputs hold; -1: as many as there are
  std::vector<std::int32_t> cu_seq_lens = {};  // empty: those of the cache
};

class GatherCase {
 public:
  explicit GatherCase(TestCache& cache, GatherOptions options = {});
  void Check();

  GatherCacheArguments arguments;

 private:
  TestCache& cache_;
  TestMemory memory_;
  std::vector<std::int32_t> cu_seq_lens_;
};

// Queries with random numbers, quantized by the evaluator.
struct ScoringOptions {
  std::int64_t width = -1;  // -1: as many columns as the longest row needs
  std::int64_t out_stride = 0, weight_stride = 0;
  Tail tail = Tail::kMinusInfinity;
  std::vector<float> q = {};                // [rows, heads, dim]
  std::vector<float> w = {};                // [rows, heads]
  std::vector<std::uint8_t> q_scales = {};  // [rows, heads, bytes]; empty: those of q
  std::uint64_t seed = 7;
};

// What both kinds of scoring have: queries, weights, and an output to compare.
class ScoringCase {
 public:
  // [rows, width], after Check: what the evaluator says (and poison in a kept tail), and what was
  // found.
  const std::vector<float>& expected() const { return expected_; }
  const std::vector<float>& got() const { return got_; }
  // The output now.
  std::vector<float> Output() { return memory_.Read<float>(out_); }

 protected:
  ScoringCase(TestIndexer& indexer, ScoringOptions options, std::int64_t rows);
  Tensor Queries(const std::vector<std::uint8_t>& bytes, int row_bytes, std::int64_t next_n);
  void MakeOutput(std::int64_t width);
  void Compare(const Status& status, std::vector<float> logits);

  TestIndexer& indexer_;
  TestMemory memory_;
  ScoringOptions options_;
  std::int64_t rows_;
  ir::EvaluatedRows q_;
  std::vector<float> w_;
  Tensor weights_;
  Tensor out_;
  std::vector<float> expected_, got_;
};

struct PagedOptions {
  int next_n = 1;
  std::vector<std::int32_t> lengths = {};      // context_lens [B]; empty: the cache's
  std::vector<std::int32_t> row_lengths = {};  // context_lens [B, next_n] in their place
  Sizes length_strides = {};
  int ratio = 1;
  ScoringOptions scoring = {};
};

class PagedCase : public ScoringCase {
 public:
  explicit PagedCase(TestCache& cache, PagedOptions options = {});
  void Check();

  LogitsPagedArguments arguments;

 private:
  std::vector<std::int64_t> Visible() const;

  TestCache& cache_;
  PagedOptions paged_;
};

struct RaggedOptions {
  std::int64_t keys = 65;
  std::vector<std::int32_t> starts = {0, 0};
  std::vector<std::int32_t> ends = {64, 65};
  std::vector<float> k = {};  // [keys, dim]
  ScoringOptions scoring = {};
};

class RaggedCase : public ScoringCase {
 public:
  explicit RaggedCase(TestIndexer& indexer, RaggedOptions options = {});
  void Check();

  LogitsRaggedArguments arguments;

 private:
  RaggedOptions ragged_;
  ir::EvaluatedRows k_;
};

struct TopKOptions {
  std::vector<float> logits;  // [rows, columns]
  std::int64_t columns = 0;
  int k = 4;
  std::vector<std::int32_t> starts = {};  // empty: none are given
  std::vector<std::int32_t> ends = {};    // empty: columns
  std::int64_t logits_stride = 0, indices_stride = 0;
};

class TopKCase {
 public:
  TopKCase(TestIndexer& indexer, TopKOptions options);
  void Check();

  TopKArguments arguments;
  std::vector<std::int32_t> expected;  // [rows, k]
  std::vector<std::int32_t> got;       // after Check, likewise

 private:
  TestIndexer& indexer_;
  TestMemory memory_;
};

inline std::size_t Size(std::int64_t number) { return static_cast<std::size_t>(number); }
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace lijit::tests
