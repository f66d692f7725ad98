// SPDX-License-Identifier: Apache-2.0
#include "lijit/indexer.h"

#include <fmt/format.h>

#include "lijit/targets.h"
#include "runtime/compile/choose_way.h"
#include "runtime/compile/compilers.h"
#include "runtime/indexer/check.h"
#include "runtime/indexer/launcher.h"

namespace lijit {

using ir::KernelKind;
using runtime::CheckAbsent;
using runtime::CheckOutputRows;
using runtime::CheckPool;
using runtime::CheckRange;
using runtime::CheckTensor;
using runtime::kAnySize;

namespace {

constexpr std::int64_t kMaxRows = std::int64_t{1} << 40;
constexpr int kMaxNextN = 8;
constexpr int kMaxTopK = 4096;

std::uint64_t Bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::int64_t Size(const Tensor& tensor, int dimension) {
  return tensor.shape[static_cast<std::size_t>(dimension)];
}
std::uint64_t Stride(const Tensor& tensor, int dimension) {
  return Bits(tensor.stride[static_cast<std::size_t>(dimension)]);
}

}  // namespace

struct Indexer::Impl {
  IndexerConfig config;
  runtime::Launcher launcher;

  const ir::Format& format() const { return launcher.modules().format(); }
  int heads() const { return config.heads; }
  int dim() const { return config.head_dim; }
  int value_bytes() const { return format().ValueBytes(dim()); }
  int query_scale_bytes() const { return format().BlockScaleBytes(dim()); }
  int key_scale_bytes() const { return format().ScaleBytes(dim()); }
  std::int64_t page_bytes() const { return launcher.modules().layout().PageBytes(format(), dim()); }

  // A tensor of scales, or none if the format stores none there.
  Status CheckScales(const Tensor& tensor, const runtime::TensorRule& rule, int bytes) const {
    if (bytes > 0) return CheckTensor(tensor, rule);
    return CheckAbsent(tensor, rule.name, fmt::format("{} stores no scales there", config.format));
  }

  Status CheckRope(const RopeArguments& rope, std::int64_t tokens) const {
    if (!config.rotation) {
      LIJIT_TRY(CheckAbsent(rope.positions, "positions", "the indexer has no rotation"));
      return CheckAbsent(rope.table, "table", "the indexer has no rotation");
    }
    LIJIT_TRY(CheckTensor(rope.positions, {"positions", DType::kI64, {tokens}}));
    return CheckTensor(rope.table, {"table", DType::kF32, {kAnySize, config.rotation->rope_dim}});
  }

  // One length a request, or one a row.
  Status CheckLengths(const Tensor& lengths, std::string_view name, std::int64_t batch,
                      std::int64_t next_n, int ratio) const {
    LIJIT_TRY(CheckRange("ratio", ratio, 1, 1 << 20));
    if (lengths.rank == 2) {
      return CheckTensor(lengths, {name, DType::kI32, {batch, next_n}, /*contiguous=*/0});
    }
    return CheckTensor(lengths, {name, DType::kI32, {batch}, /*contiguous=*/0});
  }
};

Indexer::Indexer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Indexer::~Indexer() = default;

Result<std::unique_ptr<Indexer>> Indexer::Create(std::shared_ptr<Runtime> runtime,
                                                 const IndexerConfig& config) {
  LIJIT_ASSIGN(runtime::KernelModules modules, runtime::KernelModules::Create(config));
  const std::string target_name = runtime->device().info().target;
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(target_name));
  runtime::Launcher::Ways ways;
  for (const ir::KernelKindRow& row : ir::AllKernelKinds()) {
    LIJIT_ASSIGN(const ir::Module module, modules.Extract(row.kind));
    LIJIT_ASSIGN(ways[static_cast<std::size_t>(row.kind)],
                 runtime::ChooseWay({.schedule = config.schedule,
                                     .backend = config.backend,
                                     .image = runtime->device().image_kind(),
                                     .format = config.format,
                                     .is_shipped_format = modules.is_shipped_format()},
                                    module, target));
  }
  // Launcher holds a mutex and cannot move, so it is made in place.
  return std::unique_ptr<Indexer>(new Indexer(std::unique_ptr<Impl>(new Impl{
      config, runtime::Launcher(std::move(runtime), std::move(modules), std::move(ways))})));
}

const IndexerConfig& Indexer::config() const { return impl_->config; }
std::string Indexer::schedule() const { return std::string(impl_->launcher.schedule()); }
std::string Indexer::backend() const { return std::string(impl_->launcher.backend()); }
std::vector<cache::Event> Indexer::events() const { return impl_->launcher.events(); }
std::int64_t Indexer::page_bytes() const { return impl_->page_bytes(); }

Indexer::RowBytes Indexer::row_bytes() const {
  return {impl_->value_bytes(), impl_->query_scale_bytes(), impl_->key_scale_bytes()};
}

CachePool Indexer::Pool(DeviceAddress data, std::int64_t page_stride,
                        std::int64_t page_count) const {
  return {data, page_stride, page_count, impl_->config.format};
}

Status Indexer::Prepare() {
  for (const ir::KernelKindRow& row : ir::AllKernelKinds()) {
    LIJIT_TRY(impl_->launcher.Prepare(row.kind));
  }
  return {};
}

Status Indexer::QuantizeQuery(const QuantizeQueryArguments& a, Stream stream) {
  const Impl& m = *impl_;
  const std::int64_t tokens = Size(a.q, 0);
  LIJIT_TRY(CheckTensor(a.q, {"q", m.config.input, {kAnySize, m.heads(), m.dim()}}));
  LIJIT_TRY(CheckRange("tokens", tokens, 0, kMaxRows));
  LIJIT_TRY(CheckTensor(a.w, {"w", m.config.weight, {tokens, m.heads()}}));
  LIJIT_TRY(CheckTensor(a.values, {"values", DType::kU8, {tokens, m.heads(), m.value_bytes()}, 3}));
  LIJIT_TRY(m.CheckScales(a.scales,
                          {"scales", DType::kU8, {tokens, m.heads(), m.query_scale_bytes()}, 3},
                          m.query_scale_bytes()));
  LIJIT_TRY(CheckTensor(a.weights, {"weights", DType::kF32, {tokens, m.heads()}, 2}));
  LIJIT_TRY(m.CheckRope(a.rope, tokens));

  lower::QuantizeQueryParameters p;
  p.x = a.q.data;
  p.x_token_stride = Stride(a.q, 0);
  p.x_head_stride = Stride(a.q, 1);
  p.w = a.w.data;
  p.w_token_stride = Stride(a.w, 0);
  p.values = a.values.data;
  p.scales = a.scales.data;
  p.weights = a.weights.data;
  p.tokens = Bits(tokens);
  p.heads = Bits(m.heads());
  p.positions = a.rope.positions.data;
  p.table = a.rope.table.data;
  p.table_stride = Stride(a.rope.table, 0);
  p.table_rows = Bits(Size(a.rope.table, 0));
  return impl_->launcher.Launch(KernelKind::kQuantizeQuery, tokens * m.heads(), 1, p, stream);
}

Status Indexer::WriteCache(const WriteCacheArguments& a, Stream stream) {
  const Impl& m = *impl_;
  const std::int64_t tokens = Size(a.k, 0);
  LIJIT_TRY(CheckTensor(a.k, {"k", m.config.input, {kAnySize, m.dim()}}));
  LIJIT_TRY(CheckRange("tokens", tokens, 0, kMaxRows));
  LIJIT_TRY(CheckTensor(a.slots, {"slots", DType::kI64, {tokens}}));
  LIJIT_TRY(CheckPool(a.pool, m.config.format, m.page_bytes()));
  LIJIT_TRY(m.CheckRope(a.rope, tokens));

  lower::WriteCacheParameters p;
  p.x = a.k.data;
  p.x_token_stride = Stride(a.k, 0);
  p.slots = a.slots.data;
  p.pool = a.pool.data;
  p.page_stride = Bits(a.pool.page_stride);
  p.page_count = Bits(a.pool.page_count);
  p.tokens = Bits(tokens);
  p.positions = a.rope.positions.data;
  p.table = a.rope.table.data;
  p.table_stride = Stride(a.rope.table, 0);
  p.table_rows = Bits(Size(a.rope.table, 0));
  return impl_->launcher.Launch(KernelKind::kWriteCache, tokens, 1, p, stream);
}

Status Indexer::GatherCache(const GatherCacheArguments& a, Stream stream) {
  const Impl& m = *impl_;
  const std::int64_t batch = Size(a.block_table, 0);
  const std::int64_t rows = Size(a.values, 0);
  LIJIT_TRY(CheckPool(a.pool, m.config.format, m.page_bytes()));
  LIJIT_TRY(CheckTensor(a.block_table, {"block_table", DType::kI32, {kAnySize, kAnySize}}));
  LIJIT_TRY(CheckTensor(a.cu_seq_lens, {"cu_seq_lens", DType::kI32, {batch + 1}}));
  LIJIT_TRY(CheckTensor(a.values, {"values", DType::kU8, {kAnySize, m.value_bytes()}, 2}));
  LIJIT_TRY(m.CheckScales(a.scales, {"scales", DType::kU8, {rows, m.key_scale_bytes()}, 2},
                          m.key_scale_bytes()));
  if (batch == 0) return {};

  lower::GatherCacheParameters p;
  p.pool = a.pool.data;
  p.page_stride = Bits(a.pool.page_stride);
  p.page_count = Bits(a.pool.page_count);
  p.block_table = a.block_table.data;
  p.table_stride = Stride(a.block_table, 0);
  p.table_width = Bits(Size(a.block_table, 1));
  p.starts = a.cu_seq_lens.data;
  p.batch = Bits(batch);
  p.values = a.values.data;
  p.scales = a.scales.data;
  p.rows = Bits(rows);
  return impl_->launcher.Launch(KernelKind::kGatherCache, rows, 1, p, stream);
}

Status Indexer::LogitsRagged(const LogitsRaggedArguments& a, Stream stream) {
  const Impl& m = *impl_;
  const std::int64_t rows = Size(a.q_values, 0);
  const std::int64_t keys = Size(a.k_values, 0);
  const std::int64_t width = Size(a.out, 1);
  const int aligned = m.launcher.code_alignment(KernelKind::kLogitsRagged);
  LIJIT_TRY(CheckTensor(
      a.q_values, {"q_values", DType::kU8, {kAnySize, m.heads(), m.value_bytes()}, 3, aligned}));
  LIJIT_TRY(m.CheckScales(a.q_scales,
                          {"q_scales", DType::kU8, {rows, m.heads(), m.query_scale_bytes()}, 3},
                          m.query_scale_bytes()));
  LIJIT_TRY(
      CheckTensor(a.k_values, {"k_values", DType::kU8, {kAnySize, m.value_bytes()}, 2, aligned}));
  LIJIT_TRY(m.CheckScales(a.k_scales,
                          {"k_scales", DType::kU8, {keys, m.key_scale_bytes()}, 2, aligned},
                          m.key_scale_bytes()));
  LIJIT_TRY(CheckTensor(a.weights, {"weights", DType::kF32, {rows, m.heads()}}));
  LIJIT_TRY(CheckTensor(a.starts, {"starts", DType::kI32, {rows}}));
  LIJIT_TRY(CheckTensor(a.ends, {"ends", DType::kI32, {rows}}));
  LIJIT_TRY(CheckOutputRows(a.out, {"out", DType::kF32, {rows, kAnySize}}));
  LIJIT_TRY(CheckRange("width of out", width, keys, kMaxRows));

  lower::LogitsRaggedParameters p;
  p.q_values = a.q_values.data;
  p.q_scales = a.q_scales.data;
  p.k_values = a.k_values.data;
  p.k_scales = a.k_scales.data;
  p.weights = a.weights.data;
  p.weight_stride = Stride(a.weights, 0);
  p.starts = a.starts.data;
  p.ends = a.ends.data;
  p.out = a.out.data;
  p.out_stride = Stride(a.out, 0);
  p.rows = Bits(rows);
  p.keys = Bits(keys);
  p.width = Bits(width);
  p.keep_tail = a.tail == Tail::kKeep ? 1 : 0;
  LIJIT_ASSIGN(const std::int64_t block_columns,
               impl_->launcher.BlockColumns(KernelKind::kLogitsRagged, rows, width));
  p.block_columns = Bits(block_columns);
  return impl_->launcher.Launch(KernelKind::kLogitsRagged, rows, width, p, stream);
}

Status Indexer::LogitsPaged(const LogitsPagedArguments& a, Stream stream) {
  const Impl& m = *impl_;
  const std::int64_t batch = Size(a.q_values, 0);
  const std::int64_t next_n = Size(a.q_values, 1);
  const std::int64_t width = Size(a.out, 1);
  const int aligned = m.launcher.code_alignment(KernelKind::kLogitsPaged);
  LIJIT_TRY(CheckTensor(
      a.q_values,
      {"q_values", DType::kU8, {kAnySize, kAnySize, m.heads(), m.value_bytes()}, 4, aligned}));
  LIJIT_TRY(CheckRange("next_n", next_n, 1, kMaxNextN));
  LIJIT_TRY(m.CheckScales(
      a.q_scales, {"q_scales", DType::kU8, {batch, next_n, m.heads(), m.query_scale_bytes()}, 4},
      m.query_scale_bytes()));
  LIJIT_TRY(CheckPool(a.pool, m.config.format, m.page_bytes(), aligned));
  LIJIT_TRY(CheckTensor(a.block_table, {"block_table", DType::kI32, {batch, kAnySize}}));
  LIJIT_TRY(m.CheckLengths(a.context_lens, "context_lens", batch, next_n, a.ratio));
  LIJIT_TRY(CheckTensor(a.weights, {"weights", DType::kF32, {batch * next_n, m.heads()}}));
  LIJIT_TRY(CheckOutputRows(a.out, {"out", DType::kF32, {batch * next_n, kAnySize}}));
  LIJIT_TRY(CheckRange("width of out", width, 0, kMaxRows));

  lower::LogitsPagedParameters p;
  p.q_values = a.q_values.data;
  p.q_scales = a.q_scales.data;
  p.pool = a.pool.data;
  p.page_stride = Bits(a.pool.page_stride);
  p.page_count = Bits(a.pool.page_count);
  p.block_table = a.block_table.data;
  p.table_stride = Stride(a.block_table, 0);
  p.table_width = Bits(Size(a.block_table, 1));
  p.lengths = a.context_lens.data;
  p.length_stride = Stride(a.context_lens, 0);
  p.length_per_row = a.context_lens.rank == 2 ? 1 : 0;
  p.length_row_stride = a.context_lens.rank == 2 ? Stride(a.context_lens, 1) : 0;
  p.ratio = Bits(a.ratio);
  p.weights = a.weights.data;
  p.weight_stride = Stride(a.weights, 0);
  p.out = a.out.data;
  p.out_stride = Stride(a.out, 0);
  p.batch = Bits(batch);
  p.next_n = Bits(next_n);
  p.width = Bits(width);
  p.keep_tail = a.tail == Tail::kKeep ? 1 : 0;
  LIJIT_ASSIGN(const std::int64_t block_columns,
               impl_->launcher.BlockColumns(KernelKind::kLogitsPaged, batch * next_n, width));
  p.block_columns = Bits(block_columns);
  return impl_->launcher.Launch(KernelKind::kLogitsPaged, batch * next_n, width, p, stream);
}

Status Indexer::TopK(const TopKArguments& a, Stream stream) {
  const Impl& m = *impl_;
  const std::int64_t rows = Size(a.logits, 0);
  LIJIT_TRY(CheckTensor(a.logits, {"logits", DType::kF32, {kAnySize, kAnySize}}));
  LIJIT_TRY(CheckRange("k", a.k, 1, kMaxTopK));
  LIJIT_TRY(CheckRange("next_n", a.next_n, 1, kMaxNextN));
  if (IsGiven(a.starts)) LIJIT_TRY(CheckTensor(a.starts, {"starts", DType::kI32, {rows}}));
  // [rows] without next_n says where each row ends; with it, and in the 2-D form, the lengths are
  // those of logits.paged.
  const bool per_row = a.ends.rank == 2 || (a.next_n == 1 && a.ratio == 1);
  const std::int64_t next_n = a.ends.rank == 2 ? Size(a.ends, 1) : a.next_n;
  LIJIT_TRY(CheckRange("columns of ends", next_n, 1, kMaxNextN));
  if (rows % next_n != 0) {
    return InvalidArgument(fmt::format(
        "logits has {} rows; accepted are multiples of next_n, which is {}", rows, next_n));
  }
  LIJIT_TRY(m.CheckLengths(a.ends, "ends", rows / next_n, next_n, a.ratio));
  LIJIT_TRY(CheckOutputRows(a.indices, {"indices", DType::kI32, {rows, a.k}}));

  lower::TopKParameters p;
  p.logits = a.logits.data;
  p.logits_stride = Stride(a.logits, 0);
  p.starts = a.starts.data;
  p.lengths = a.ends.data;
  p.length_stride = Stride(a.ends, 0);
  p.length_row_stride = a.ends.rank == 2 ? Stride(a.ends, 1) : 0;
  p.length_per_row = per_row ? 1 : 0;
  p.ratio = Bits(a.ratio);
  p.next_n = Bits(next_n);
  p.rows = Bits(rows);
  p.columns = Bits(Size(a.logits, 1));
  p.k = Bits(a.k);
  p.indices = a.indices.data;
  p.indices_stride = Stride(a.indices, 0);
  return impl_->launcher.Launch(KernelKind::kTopK, rows, 1, p, stream);
}

}  // namespace lijit
