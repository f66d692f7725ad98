// SPDX-License-Identifier: Apache-2.0
#include "tests/support/indexer_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace lijit::tests {
namespace {

using ir::KernelKind;

// A pool up to this size is compared whole, a larger one where it may be written.
constexpr std::int64_t kWholePoolBytes = std::int64_t{16} << 20;

float PoisonNumber() {
  float x = 0;
  std::memset(&x, kPoison, sizeof x);
  return x;
}

void ExpectOk(const Status& status) { EXPECT_TRUE(status.ok()) << status.error().message; }

ir::RopeTable ViewOfRope(const RopeInputs& rope) { return {rope.table, rope.positions}; }

RopeArguments PutRope(TestMemory& memory, const TestIndexer& indexer, const RopeInputs& rope) {
  if (!indexer.config().rotation) return {};
  const std::int64_t width = indexer.config().rotation->rope_dim;
  return {memory.Put(rope.positions, {static_cast<std::int64_t>(rope.positions.size())}),
          memory.Put(rope.table, {static_cast<std::int64_t>(rope.table.size()) / width, width})};
}

Tensor NoneIfEmpty(const Tensor& tensor) {
  return tensor.shape[Size(tensor.rank - 1)] == 0 ? kNoTensor : tensor;
}

}  // namespace

RopeInputs MakeRope(const TestIndexer& indexer, std::int64_t tokens, std::int64_t table_rows) {
  RopeInputs rope;
  if (!indexer.config().rotation) return rope;
  const int half = indexer.config().rotation->rope_dim / 2;
  for (std::int64_t position = 0; position < table_rows; ++position) {
    for (int part = 0; part < 2; ++part) {
      for (int i = 0; i < half; ++i) {
        const double angle = static_cast<double>(position) * std::pow(10000.0, -double(i) / half);
        rope.table.push_back(static_cast<float>(part == 0 ? std::cos(angle) : std::sin(angle)));
      }
    }
  }
  for (std::int64_t t = 0; t < tokens; ++t) rope.positions.push_back((t * 37 + 1) % table_rows);
  return rope;
}

QueryCase::QueryCase(TestIndexer& indexer, QueryOptions o)
    : indexer_(indexer), memory_(indexer.device()) {
  const IndexerConfig& config = indexer.config();
  const std::int64_t heads = indexer.heads();
  if (o.q.empty()) o.q = RandomRows(o.tokens * heads, indexer.dim(), 3);
  if (o.w.empty()) o.w = RandomRows(o.tokens, heads, 4);
  if (o.rope.table.empty()) o.rope = MakeRope(indexer, o.tokens);
  arguments.q = memory_.PutNumbers(o.q, config.input, {o.tokens, heads, indexer.dim()},
                                   {o.token_stride, o.head_stride});
  arguments.w = memory_.PutNumbers(o.w, config.weight, {o.tokens, heads}, {o.weight_stride});
  arguments.rope = PutRope(memory_, indexer, o.rope);
  arguments.values = memory_.Poisoned(DType::kU8, {o.tokens, heads, indexer.row().values});
  arguments.scales =
      NoneIfEmpty(memory_.Poisoned(DType::kU8, {o.tokens, heads, indexer.row().query_scales}));
  arguments.weights = memory_.Poisoned(DType::kF32, {o.tokens, heads});
  const auto kind = KernelKind::kQuantizeQuery;
  expected = ir::EvaluateQuantizeQuery(indexer.Module(kind), indexer.Kernel(kind), config.heads,
                                       o.q, o.w, ViewOfRope(o.rope));
}

void QueryCase::Check() {
  ExpectOk(indexer_->QuantizeQuery(arguments));
  EXPECT_TRUE(SameBytes(memory_.Read<std::uint8_t>(arguments.values), expected.rows.values));
  if (IsGiven(arguments.scales)) {
    EXPECT_TRUE(SameBytes(memory_.Read<std::uint8_t>(arguments.scales), expected.rows.scales));
  }
  EXPECT_TRUE(SameBits(memory_.Read<float>(arguments.weights), expected.weights));
}

WriteCase::WriteCase(TestIndexer& indexer, WriteOptions o)
    : indexer_(indexer),
      memory_(indexer.device()),
      slab_(indexer.device(), (o.page_count - 1) * std::max(o.page_stride, indexer->page_bytes()) +
                                  indexer->page_bytes()) {
  const std::int64_t page = indexer.config().page;
  const std::int64_t stride = std::max(o.page_stride, indexer->page_bytes());
  const auto tokens = static_cast<std::int64_t>(o.slots.size());
  if (o.k.empty()) o.k = RandomRows(tokens, indexer.dim(), 5);
  if (o.rope.table.empty()) o.rope = MakeRope(indexer, tokens);
  arguments.k =
      memory_.PutNumbers(o.k, indexer.config().input, {tokens, indexer.dim()}, {o.token_stride});
  arguments.slots = memory_.Put(o.slots, {tokens});
  arguments.rope = PutRope(memory_, indexer, o.rope);
  arguments.pool = indexer->Pool(slab_.address(), stride, o.page_count);

  std::set<std::int64_t> touched;
  for (const std::int64_t slot : o.slots) {
    for (const std::int64_t near : {slot / page - 1, slot / page, slot / page + 1}) {
      if (slot >= 0 && near >= 0 && near < o.page_count) touched.insert(near);
    }
  }
  touched_.assign(touched.begin(), touched.end());
  if (static_cast<std::int64_t>(slab_.host().size()) <= kWholePoolBytes) {
    slab_.Poison(0, static_cast<std::int64_t>(slab_.host().size()));
  }
  for (const std::int64_t p : touched_) slab_.Poison(p * stride, indexer->page_bytes());
  const auto kind = KernelKind::kWriteCache;
  ir::EvaluateWriteCache(indexer.Module(kind), indexer.Kernel(kind), o.k, o.slots,
                         {slab_.host(), stride, o.page_count}, ViewOfRope(o.rope));
}

void WriteCase::Check() {
  ExpectOk(indexer_->WriteCache(arguments));
  const auto bytes = static_cast<std::int64_t>(slab_.host().size());
  if (bytes <= kWholePoolBytes) {
    EXPECT_TRUE(slab_.IsSame(0, bytes));
    return;
  }
  for (const std::int64_t page : touched_) {
    EXPECT_TRUE(slab_.IsSame(page * arguments.pool.page_stride, indexer_->page_bytes()))
        << "page " << page;
  }
}

std::span<const std::uint8_t> WriteCase::Page(std::int64_t page) {
  return slab_.host().subspan(Size(page * arguments.pool.page_stride),
                              Size(indexer_->page_bytes()));
}

GatherCase::GatherCase(TestCache& cache, GatherOptions o)
    : cache_(cache), memory_(cache.indexer().device()), cu_seq_lens_(std::move(o.cu_seq_lens)) {
  TestIndexer& indexer = cache.indexer();
  if (cu_seq_lens_.empty()) {
    cu_seq_lens_.push_back(0);
    for (const int length : cache.lengths()) cu_seq_lens_.push_back(cu_seq_lens_.back() + length);
  }
  const std::int64_t rows = o.rows < 0 ? cu_seq_lens_.back() : o.rows;
  arguments.pool = cache.pool();
  arguments.block_table = cache.block_table();
  arguments.cu_seq_lens =
      memory_.Put(cu_seq_lens_, {static_cast<std::int64_t>(cu_seq_lens_.size())});
  arguments.values = memory_.Poisoned(DType::kU8, {rows, indexer.row().values});
  arguments.scales = NoneIfEmpty(memory_.Poisoned(DType::kU8, {rows, indexer.row().key_scales}));
}

void GatherCase::Check() {
  ExpectOk(cache_.indexer()->GatherCache(arguments));
  const auto kind = KernelKind::kGatherCache;
  TestIndexer& indexer = cache_.indexer();
  ir::EvaluatedRows expected = ir::EvaluateGatherCache(
      indexer.Module(kind), indexer.Kernel(kind), cache_.pages(), cache_.table(), cu_seq_lens_);
  // Rows beyond the outputs are dropped; rows beyond the requests keep what they held.
  const auto rows = Size(arguments.values.shape[0]);
  expected.values.resize(rows * Size(indexer.row().values), kPoison);
  expected.scales.resize(rows * Size(indexer.row().key_scales), kPoison);
  EXPECT_TRUE(SameBytes(memory_.Read<std::uint8_t>(arguments.values), expected.values));
  if (IsGiven(arguments.scales)) {
    EXPECT_TRUE(SameBytes(memory_.Read<std::uint8_t>(arguments.scales), expected.scales));
  }
}

ScoringCase::ScoringCase(TestIndexer& indexer, ScoringOptions options, std::int64_t rows)
    : indexer_(indexer),
      memory_(indexer.device()),
      options_(std::move(options)),
      rows_(rows),
      w_(options_.w) {
  std::vector<float>& numbers = options_.q;
  if (numbers.empty()) {
    numbers = RandomRows(rows * indexer.heads(), indexer.dim(), options_.seed);
  }
  if (w_.empty()) w_ = RandomRows(rows, indexer.heads(), options_.seed + 1);
  q_ = indexer.EncodeQueries(numbers);
  if (!options_.q_scales.empty()) q_.scales = options_.q_scales;
  weights_ = memory_.Put(w_, {rows, indexer.heads()}, {options_.weight_stride});
}

Tensor ScoringCase::Queries(const std::vector<std::uint8_t>& bytes, int row_bytes,
                            std::int64_t next_n) {
  if (row_bytes == 0) return kNoTensor;
  if (next_n == 0) return memory_.Put(bytes, {rows_, indexer_.heads(), row_bytes});
  return memory_.Put(bytes, {rows_ / next_n, next_n, indexer_.heads(), row_bytes});
}

void ScoringCase::MakeOutput(std::int64_t width) {
  out_ = memory_.Poisoned(DType::kF32, {rows_, width}, options_.out_stride);
}

void ScoringCase::Compare(const Status& status, std::vector<float> logits) {
  ExpectOk(status);
  expected_ = std::move(logits);
  if (options_.tail == Tail::kKeep) {
    std::replace(expected_.begin(), expected_.end(), -kInfinity, PoisonNumber());
  }
  got_ = Output();
  EXPECT_TRUE(SameBits(got_, expected_));
  EXPECT_TRUE(memory_.GapsArePoisoned(out_));
}

PagedCase::PagedCase(TestCache& cache, PagedOptions o)
    : ScoringCase(cache.indexer(), o.scoring, cache.requests() * o.next_n),
      cache_(cache),
      paged_(std::move(o)) {
  if (paged_.lengths.empty()) {
    paged_.lengths.assign(cache.lengths().begin(), cache.lengths().end());
  }
  const std::int64_t next_n = paged_.next_n;
  arguments.q_values = Queries(q_.values, indexer_.row().values, next_n);
  arguments.q_scales = Queries(q_.scales, indexer_.row().query_scales, next_n);
  arguments.pool = cache.pool();
  arguments.block_table = cache.block_table();
  arguments.context_lens =
      paged_.row_lengths.empty()
          ? memory_.Put(paged_.lengths, {cache.requests()}, paged_.length_strides)
          : memory_.Put(paged_.row_lengths, {cache.requests(), next_n}, paged_.length_strides);
  arguments.ratio = paged_.ratio;
  arguments.weights = weights_;
  std::int64_t width = options_.width;
  if (width < 0) {
    width = 1;
    for (const std::int64_t visible : Visible()) width = std::max(width, visible);
  }
  MakeOutput(width);
  arguments.out = out_;
  arguments.tail = options_.tail;
}

std::vector<std::int64_t> PagedCase::Visible() const {
  std::vector<std::int64_t> visible;
  for (std::int64_t row = 0; row < rows_; ++row) {
    const auto j = static_cast<int>(row % paged_.next_n);
    visible.push_back(paged_.row_lengths.empty()
                          ? ir::VisibleKeys(paged_.lengths[Size(row / paged_.next_n)],
                                            paged_.next_n, j, paged_.ratio)
                          : paged_.row_lengths[Size(row)]);
  }
  return visible;
}

void PagedCase::Check() {
  const auto kind = KernelKind::kLogitsPaged;
  Compare(indexer_->LogitsPaged(arguments),
          ir::EvaluateLogitsPaged(indexer_.Module(kind), indexer_.Kernel(kind),
                                  {q_.values, q_.scales}, paged_.next_n, cache_.pages(),
                                  cache_.table(), w_, Visible(), out_.shape[1]));
}

RaggedCase::RaggedCase(TestIndexer& indexer, RaggedOptions o)
    : ScoringCase(indexer, o.scoring, static_cast<std::int64_t>(o.starts.size())),
      ragged_(std::move(o)) {
  std::vector<float>& keys = ragged_.k;
  if (keys.empty()) keys = RandomRows(ragged_.keys, indexer.dim(), options_.seed + 2);
  k_ = indexer.EncodeKeys(keys);
  arguments.q_values = Queries(q_.values, indexer.row().values, 0);
  arguments.q_scales = Queries(q_.scales, indexer.row().query_scales, 0);
  arguments.k_values = memory_.Put(k_.values, {ragged_.keys, indexer.row().values});
  arguments.k_scales =
      NoneIfEmpty(memory_.Put(k_.scales, {ragged_.keys, indexer.row().key_scales}));
  arguments.weights = weights_;
  arguments.starts = memory_.Put(ragged_.starts, {rows_});
  arguments.ends = memory_.Put(ragged_.ends, {rows_});
  MakeOutput(options_.width < 0 ? std::max<std::int64_t>(ragged_.keys, 1) : options_.width);
  arguments.out = out_;
  arguments.tail = options_.tail;
}

void RaggedCase::Check() {
  const auto kind = KernelKind::kLogitsRagged;
  Compare(indexer_->LogitsRagged(arguments),
          ir::EvaluateLogitsRagged(indexer_.Module(kind), indexer_.Kernel(kind),
                                   {q_.values, q_.scales}, {k_.values, k_.scales}, w_,
                                   ragged_.starts, ragged_.ends, out_.shape[1]));
}

TopKCase::TopKCase(TestIndexer& indexer, TopKOptions o)
    : indexer_(indexer), memory_(indexer.device()) {
  if (o.columns == 0) o.columns = static_cast<std::int64_t>(o.logits.size());
  const std::int64_t rows = o.columns == 0 ? static_cast<std::int64_t>(o.ends.size())
                                           : static_cast<std::int64_t>(o.logits.size()) / o.columns;
  if (o.ends.empty()) o.ends.assign(Size(rows), static_cast<std::int32_t>(o.columns));
  arguments.logits = memory_.Put(o.logits, {rows, o.columns}, {o.logits_stride});
  if (!o.starts.empty()) arguments.starts = memory_.Put(o.starts, {rows});
  arguments.ends = memory_.Put(o.ends, {rows});
  arguments.k = o.k;
  arguments.indices = memory_.Poisoned(DType::kI32, {rows, o.k}, o.indices_stride);
  if (o.starts.empty()) o.starts.assign(Size(rows), 0);
  const auto kind = KernelKind::kTopK;
  expected = ir::EvaluateTopK(indexer.Module(kind), indexer.Kernel(kind),
                              {o.logits, o.columns, o.columns}, o.starts, o.ends, o.k);
}

void TopKCase::Check() {
  ExpectOk(indexer_->TopK(arguments));
  got = memory_.Read<std::int32_t>(arguments.indices);
  EXPECT_EQ(got, expected);
  EXPECT_TRUE(memory_.GapsArePoisoned(arguments.indices));
}

}  // namespace lijit::tests
