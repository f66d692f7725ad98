// SPDX-License-Identifier: Apache-2.0
#include "lijit/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>

#include "compiler/ir/evaluator.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/run/buffer.h"
#include "runtime/run/inputs.h"
#include "runtime/run/metrics.h"

namespace lijit {
namespace {

using ir::KernelKind;
using runtime::Buffer;
using runtime::RunInputs;

constexpr std::uint8_t kPoison = 0xcd;
constexpr int kTimedLaunches = 20;

// One run: inputs, device tensors, and beside them what the evaluator says.
class Runner {
 public:
  Runner(const RunRequest& request, std::shared_ptr<Runtime> runtime,
         std::unique_ptr<Indexer> indexer, runtime::KernelModules modules, RunInputs inputs)
      : request_(request),
        runtime_(std::move(runtime)),
        device_(runtime_->device()),
        indexer_(std::move(indexer)),
        modules_(std::move(modules)),
        inputs_(std::move(inputs)),
        config_(indexer_->config()),
        row_bytes_(indexer_->row_bytes()) {}

  Result<RunReport> Run() {
    Describe();
    LIJIT_TRY(CheckScratch());
    const Status status = RunSteps();
    report_.findings = device_.findings();
    // Findings are an answer, all else that fails is an error.
    if (!status.ok() && report_.findings.empty()) return status.error();
    if (!status.ok()) report_.problems.push_back(status.error().message);
    AddCacheOutcome();
    report_.ok = report_.problems.empty();
    return std::move(report_);
  }

 private:
  bool paged() const { return request_.op == "paged"; }
  std::int64_t heads() const { return config_.heads; }
  std::int64_t dim() const { return config_.head_dim; }

  void Describe() {
    const DeviceInfo& info = device_.info();
    report_.device = info.name;
    report_.target = info.target;
    report_.backend = indexer_->backend();
    report_.schedule = indexer_->schedule();
    report_.format = config_.format;
    report_.op = request_.op;
    report_.heads = config_.heads;
    report_.head_dim = config_.head_dim;
    report_.page = config_.page;
    report_.bytes_per_token = row_bytes_.total();
    report_.rows = inputs_.rows;
    report_.keys = inputs_.keys();
    report_.width = std::max<std::int64_t>(inputs_.context, 1);
    report_.top_k = request_.top_k;
    pages_a_request_ = (inputs_.context + config_.page - 1) / config_.page;
    page_count_ = pages_a_request_ * inputs_.requests + 1;  // one that nobody uses
    page_stride_ = request_.page_stride > 0 ? request_.page_stride : indexer_->page_bytes();
  }

  std::int64_t PoolBytes() const {
    return (page_count_ - 1) * page_stride_ + indexer_->page_bytes();
  }

  Status CheckScratch() const {
    if (page_stride_ < indexer_->page_bytes()) {
      return InvalidArgument(fmt::format("page_stride {}; accepted are {} bytes or more",
                                         page_stride_, indexer_->page_bytes()));
    }
    const double pool = static_cast<double>(page_count_) * static_cast<double>(page_stride_);
    const double rest = static_cast<double>(inputs_.rows) * static_cast<double>(report_.width) * 4 +
                        static_cast<double>(inputs_.k.size() + inputs_.q.size()) * 5;
    if (pool + rest <= static_cast<double>(request_.scratch_limit)) return {};
    return InvalidArgument(
        fmt::format("this run needs {:.0f} MiB; the limit is {} MiB: use fewer or shorter requests",
                    (pool + rest) / (1 << 20), request_.scratch_limit >> 20));
  }

  Status RunSteps() {
    LIJIT_TRY(Quantize());
    LIJIT_TRY(Write());
    if (!paged()) LIJIT_TRY(Gather());
    LIJIT_TRY(paged() ? ScorePaged() : ScoreRagged());
    LIJIT_TRY(Select());
    return {};
  }

  void Expect(bool holds, std::string problem) {
    if (!holds) report_.problems.push_back(std::move(problem));
  }

  template <typename T>
  void ExpectBytes(const std::vector<T>& got, const std::vector<T>& wanted, std::string_view what) {
    const auto differing = [&] {
      std::size_t count = 0;
      for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
        count += std::memcmp(&got[i], &wanted[i], sizeof(T)) != 0 ? 1 : 0;
      }
      return count;
    };
    const std::size_t count = got.size() == wanted.size() ? differing() : got.size();
    report_.writers_equal = report_.writers_equal && count == 0;
    Expect(count == 0, fmt::format("{} differ from the evaluator's in {} of {} places", what, count,
                                   wanted.size()));
  }

  // The kernel of a kind with its module, for the evaluator.
  Result<ir::Module> Kernel(KernelKind kind) const { return modules_.Extract(kind); }

  Result<RopeArguments> RopeFor(const std::vector<std::int64_t>& positions, Buffer& buffer) {
    if (!config_.rotation) return RopeArguments{};
    if (table_.address() == 0) {
      LIJIT_ASSIGN(table_, Buffer::Of<float>(device_, inputs_.rope_table, "rope table"));
    }
    LIJIT_ASSIGN(buffer, Buffer::Of<std::int64_t>(device_, positions, "positions"));
    const auto rows = static_cast<std::int64_t>(positions.size());
    return RopeArguments{Tensor::Contiguous(buffer.address(), DType::kI64, {rows}),
                         Tensor::Contiguous(table_.address(), DType::kF32,
                                            {inputs_.rope_rows, config_.rotation->rope_dim})};
  }

  ir::RopeTable RopeOf(const std::vector<std::int64_t>& positions) const {
    if (!config_.rotation) return {};
    return {inputs_.rope_table, positions};
  }

  Status Quantize() {
    const std::vector<std::uint8_t> q = runtime::EncodeInput(inputs_.q, config_.input);
    const std::vector<std::uint8_t> w = runtime::EncodeInput(inputs_.w, config_.weight);
    LIJIT_ASSIGN(const Buffer q_buffer, Buffer::Of<std::uint8_t>(device_, q, "q"));
    LIJIT_ASSIGN(const Buffer w_buffer, Buffer::Of<std::uint8_t>(device_, w, "w"));
    const std::int64_t rows = inputs_.rows * heads();
    LIJIT_ASSIGN(q_values_, Buffer::CreateRaw(device_, rows * row_bytes_.values, "q_values"));
    LIJIT_ASSIGN(q_scales_, Buffer::CreateRaw(device_, rows * row_bytes_.query_scales, "q_scales"));
    LIJIT_ASSIGN(weights_, Buffer::CreateRaw(device_, rows * 4, "weights"));
    Buffer positions;
    QuantizeQueryArguments a;
    a.q = Tensor::Contiguous(q_buffer.address(), config_.input, {inputs_.rows, heads(), dim()});
    a.w = Tensor::Contiguous(w_buffer.address(), config_.weight, {inputs_.rows, heads()});
    a.values = QueryValues(1);
    a.scales = QueryScales(1);
    a.weights = Weights();
    LIJIT_ASSIGN(a.rope, RopeFor(inputs_.q_positions, positions));
    LIJIT_TRY(indexer_->QuantizeQuery(a));
    LIJIT_TRY(device_.Synchronize());

    LIJIT_ASSIGN(const ir::Module module, Kernel(KernelKind::kQuantizeQuery));
    query_ = ir::EvaluateQuantizeQuery(module, module.kernels[0], config_.heads, inputs_.q,
                                       inputs_.w, RopeOf(inputs_.q_positions));
    report_.writers_equal = true;
    LIJIT_ASSIGN(const auto values, q_values_.Read<std::uint8_t>(rows * row_bytes_.values));
    LIJIT_ASSIGN(const auto scales, q_scales_.Read<std::uint8_t>(rows * row_bytes_.query_scales));
    LIJIT_ASSIGN(const auto weights, weights_.Read<float>(rows));
    ExpectBytes(values, query_.rows.values, "query values");
    ExpectBytes(scales, query_.rows.scales, "query scales");
    ExpectBytes(weights, query_.weights, "folded weights");
    return {};
  }

  // Three-dimensional [T, H, bytes] for ragged, [B, next_n, H, bytes] for paged.
  Tensor QueryRows(const Buffer& buffer, int bytes, std::int64_t next_n, bool four) const {
    if (bytes == 0) return kNoTensor;
    if (!four) {
      return Tensor::Contiguous(buffer.address(), DType::kU8, {inputs_.rows, heads(), bytes});
    }
    return Tensor::Contiguous(buffer.address(), DType::kU8,
                              {inputs_.rows / next_n, next_n, heads(), bytes});
  }
  Tensor QueryValues(std::int64_t next_n, bool four = false) const {
    return QueryRows(q_values_, row_bytes_.values, next_n, four);
  }
  Tensor QueryScales(std::int64_t next_n, bool four = false) const {
    return QueryRows(q_scales_, row_bytes_.query_scales, next_n, four);
  }
  Tensor Weights() const {
    return Tensor::Contiguous(weights_.address(), DType::kF32, {inputs_.rows, heads()});
  }

  // Pages in an order that is none, so that a kernel which forgets the block table is found out.
  void AssignPages() {
    std::vector<std::int32_t> pages(static_cast<std::size_t>(page_count_));
    std::iota(pages.begin(), pages.end(), 0);
    std::mt19937_64 random(request_.seed + 1);
    std::shuffle(pages.begin(), pages.end(), random);
    table_width_ = std::max<std::int64_t>(pages_a_request_, 1);
    block_table_.assign(static_cast<std::size_t>(inputs_.requests * table_width_), -1);
    for (std::int64_t b = 0; b < inputs_.requests; ++b) {
      for (std::int64_t i = 0; i < pages_a_request_; ++i) {
        block_table_[static_cast<std::size_t>(b * table_width_ + i)] =
            pages[static_cast<std::size_t>(b * pages_a_request_ + i)];
      }
    }
    for (std::int64_t key = 0; key < inputs_.keys(); ++key) {
      const std::int64_t b = key / inputs_.context;
      const std::int64_t n = key % inputs_.context;
      const std::int64_t page =
          block_table_[static_cast<std::size_t>(b * table_width_ + n / config_.page)];
      slots_.push_back(page * config_.page + n % config_.page);
    }
  }

  CachePool Pool() const { return indexer_->Pool(pool_.address(), page_stride_, page_count_); }
  ir::ConstPages ReferencePages() const { return {reference_pool_, page_stride_, page_count_}; }
  ir::BlockTable ReferenceTable() const { return {block_table_, table_width_, table_width_}; }
  Tensor BlockTable() const {
    return Tensor::Contiguous(table_buffer_.address(), DType::kI32,
                              {inputs_.requests, table_width_});
  }

  Status Write() {
    AssignPages();
    const std::vector<std::uint8_t> k = runtime::EncodeInput(inputs_.k, config_.input);
    LIJIT_ASSIGN(const Buffer k_buffer, Buffer::Of<std::uint8_t>(device_, k, "k"));
    LIJIT_ASSIGN(const Buffer slots, Buffer::Of<std::int64_t>(device_, slots_, "slots"));
    LIJIT_ASSIGN(table_buffer_, Buffer::Of<std::int32_t>(device_, block_table_, "block_table"));
    LIJIT_ASSIGN(pool_, Buffer::Create(device_, PoolBytes(), "pool", kPoison));
    Buffer positions;
    WriteCacheArguments a;
    a.k = Tensor::Contiguous(k_buffer.address(), config_.input, {inputs_.keys(), dim()});
    a.slots = Tensor::Contiguous(slots.address(), DType::kI64, {inputs_.keys()});
    a.pool = Pool();
    LIJIT_ASSIGN(a.rope, RopeFor(inputs_.k_positions, positions));
    LIJIT_TRY(indexer_->WriteCache(a));
    LIJIT_TRY(device_.Synchronize());

    LIJIT_ASSIGN(const ir::Module module, Kernel(KernelKind::kWriteCache));
    reference_pool_.assign(static_cast<std::size_t>(PoolBytes()), kPoison);
    ir::EvaluateWriteCache(module, module.kernels[0], inputs_.k, slots_,
                           {reference_pool_, page_stride_, page_count_},
                           RopeOf(inputs_.k_positions));
    LIJIT_ASSIGN(const auto pool, pool_.Read<std::uint8_t>(PoolBytes()));
    ExpectBytes(pool, reference_pool_, "cache pages");
    return {};
  }

  Status Gather() {
    const std::vector<std::int32_t> bounds = {0, static_cast<std::int32_t>(inputs_.keys())};
    LIJIT_ASSIGN(const Buffer starts, Buffer::Of<std::int32_t>(device_, bounds, "cu_seq_lens"));
    const std::int64_t keys = inputs_.keys();
    LIJIT_ASSIGN(k_values_, Buffer::CreateRaw(device_, keys * row_bytes_.values, "k_values"));
    LIJIT_ASSIGN(k_scales_, Buffer::CreateRaw(device_, keys * row_bytes_.key_scales, "k_scales"));
    GatherCacheArguments a;
    a.pool = Pool();
    a.block_table = BlockTable();
    a.cu_seq_lens = Tensor::Contiguous(starts.address(), DType::kI32, {2});
    a.values = KeyRows(k_values_, row_bytes_.values);
    a.scales = KeyRows(k_scales_, row_bytes_.key_scales);
    LIJIT_TRY(indexer_->GatherCache(a));
    LIJIT_TRY(device_.Synchronize());

    LIJIT_ASSIGN(const ir::Module module, Kernel(KernelKind::kGatherCache));
    gathered_ = ir::EvaluateGatherCache(module, module.kernels[0], ReferencePages(),
                                        ReferenceTable(), bounds);
    LIJIT_ASSIGN(const auto values, k_values_.Read<std::uint8_t>(keys * row_bytes_.values));
    LIJIT_ASSIGN(const auto scales, k_scales_.Read<std::uint8_t>(keys * row_bytes_.key_scales));
    ExpectBytes(values, gathered_.values, "gathered values");
    ExpectBytes(scales, gathered_.scales, "gathered scales");
    return {};
  }

  Tensor KeyRows(const Buffer& buffer, int bytes) const {
    return bytes == 0 ? kNoTensor
                      : Tensor::Contiguous(buffer.address(), DType::kU8, {inputs_.keys(), bytes});
  }

  Result<Tensor> MakeOut() {
    LIJIT_ASSIGN(out_, Buffer::Create(device_, inputs_.rows * report_.width * 4, "out", kPoison));
    return Tensor::Contiguous(out_.address(), DType::kF32, {inputs_.rows, report_.width});
  }

  Status ScorePaged() {
    const std::vector<std::int32_t> lengths(static_cast<std::size_t>(inputs_.requests),
                                            static_cast<std::int32_t>(inputs_.context));
    LIJIT_ASSIGN(const Buffer lens, Buffer::Of<std::int32_t>(device_, lengths, "context_lens"));
    LogitsPagedArguments a;
    a.q_values = QueryValues(inputs_.next_n, true);
    a.q_scales = QueryScales(inputs_.next_n, true);
    a.pool = Pool();
    a.block_table = BlockTable();
    a.context_lens = Tensor::Contiguous(lens.address(), DType::kI32, {inputs_.requests});
    a.weights = Weights();
    LIJIT_ASSIGN(a.out, MakeOut());
    LIJIT_TRY(indexer_->LogitsPaged(a));
    LIJIT_TRY(device_.Synchronize());
    LIJIT_TRY(Time([&] { return indexer_->LogitsPaged(a); }));
    for (std::int64_t row = 0; row < inputs_.rows; ++row) {
      const int j = static_cast<int>(row % inputs_.next_n);
      visible_.push_back(ir::VisibleKeys(inputs_.context, inputs_.next_n, j, 1));
    }
    LIJIT_ASSIGN(const ir::Module module, Kernel(KernelKind::kLogitsPaged));
    return CompareLogits(ir::EvaluateLogitsPaged(
        module, module.kernels[0], {query_.rows.values, query_.rows.scales}, inputs_.next_n,
        ReferencePages(), ReferenceTable(), query_.weights, visible_, report_.width));
  }

  Status ScoreRagged() {
    const std::vector<std::int32_t> begins(inputs_.ends.size(), 0);
    LIJIT_ASSIGN(const Buffer starts, Buffer::Of<std::int32_t>(device_, begins, "starts"));
    LIJIT_ASSIGN(const Buffer ends, Buffer::Of<std::int32_t>(device_, inputs_.ends, "ends"));
    LogitsRaggedArguments a;
    a.q_values = QueryValues(1);
    a.q_scales = QueryScales(1);
    a.k_values = KeyRows(k_values_, row_bytes_.values);
    a.k_scales = KeyRows(k_scales_, row_bytes_.key_scales);
    a.weights = Weights();
    a.starts = Tensor::Contiguous(starts.address(), DType::kI32, {inputs_.rows});
    a.ends = Tensor::Contiguous(ends.address(), DType::kI32, {inputs_.rows});
    LIJIT_ASSIGN(a.out, MakeOut());
    LIJIT_TRY(indexer_->LogitsRagged(a));
    LIJIT_TRY(device_.Synchronize());
    LIJIT_TRY(Time([&] { return indexer_->LogitsRagged(a); }));
    visible_.assign(inputs_.ends.begin(), inputs_.ends.end());
    LIJIT_ASSIGN(const ir::Module module, Kernel(KernelKind::kLogitsRagged));
    return CompareLogits(ir::EvaluateLogitsRagged(
        module, module.kernels[0], {query_.rows.values, query_.rows.scales},
        {gathered_.values, gathered_.scales}, query_.weights, begins, inputs_.ends, report_.width));
  }

  // Microseconds a launch, on a GPU: an estimate from the host's clock over many launches; `lijit
  // bench` measures.
  template <typename Launch>
  Status Time(Launch launch) {
    if (device_.info().kind != DeviceKind::kCuda) return {};
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimedLaunches; ++i) LIJIT_TRY(launch());
    LIJIT_TRY(device_.Synchronize());
    const std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - begin;
    report_.kernel_us = elapsed.count() / kTimedLaunches;
    return {};
  }

  Status CompareLogits(const std::vector<float>& reference) {
    LIJIT_ASSIGN(report_.logits, out_.Read<float>(inputs_.rows * report_.width));
    report_.bitwise_equal = runtime::BitwiseEqual(report_.logits, reference);
    const std::vector<double> got(report_.logits.begin(), report_.logits.end());
    const std::vector<double> wanted(reference.begin(), reference.end());
    report_.calc_diff = runtime::CalcDiff(got, wanted);
    Expect(report_.bitwise_equal || !runtime::IsExact(modules_.format(), report_.schedule),
           "the logits differ from the evaluator's");
    Expect(report_.calc_diff < runtime::kMaxCalcDiff,
           fmt::format("calc_diff of the logits is {}, the limit {}", report_.calc_diff,
                       runtime::kMaxCalcDiff));
    unquantized_ = runtime::UnquantizedScores(inputs_, config_, visible_, report_.width);
    report_.calc_diff_unquantized = runtime::CalcDiff(got, unquantized_);
    return {};
  }

  Status Select() {
    const std::vector<std::int32_t> ends(visible_.begin(), visible_.end());
    LIJIT_ASSIGN(const Buffer ends_buffer, Buffer::Of<std::int32_t>(device_, ends, "ends"));
    const std::int64_t count = inputs_.rows * request_.top_k;
    LIJIT_ASSIGN(const Buffer indices, Buffer::Create(device_, count * 4, "indices", kPoison));
    TopKArguments a;
    a.logits = Tensor::Contiguous(out_.address(), DType::kF32, {inputs_.rows, report_.width});
    a.ends = Tensor::Contiguous(ends_buffer.address(), DType::kI32, {inputs_.rows});
    a.k = request_.top_k;
    a.indices = Tensor::Contiguous(indices.address(), DType::kI32, {inputs_.rows, request_.top_k});
    LIJIT_TRY(indexer_->TopK(a));
    LIJIT_TRY(device_.Synchronize());
    LIJIT_ASSIGN(report_.indices, indices.Read<std::int32_t>(count));
    LIJIT_ASSIGN(const ir::Module module, Kernel(KernelKind::kTopK));
    const std::vector<std::int32_t> begins(ends.size(), 0);
    report_.topk_equal =
        report_.indices == ir::EvaluateTopK(module, module.kernels[0],
                                            {report_.logits, report_.width, report_.width}, begins,
                                            ends, request_.top_k);
    Expect(report_.topk_equal, "the selected columns differ from the evaluator's");
    report_.recall = runtime::Recall(unquantized_, report_.width, report_.indices, request_.top_k);
    return {};
  }

  void AddCacheOutcome() {
    report_.events = indexer_->events();
    report_.cache = "hit";
    for (const cache::Event& event : report_.events) {
      if (!cache::IsHit(event.outcome)) report_.cache = "miss";
      report_.compile_ms += event.times.compile;
    }
    if (device_.info().kind == DeviceKind::kEmulated) {
      report_.instructions = device_.instructions();
    }
  }

  const RunRequest& request_;
  std::shared_ptr<Runtime> runtime_;
  Device& device_;
  std::unique_ptr<Indexer> indexer_;
  runtime::KernelModules modules_;
  RunInputs inputs_;
  const IndexerConfig config_;
  const Indexer::RowBytes row_bytes_;
  RunReport report_;

  std::int64_t pages_a_request_ = 0, page_count_ = 0, page_stride_ = 0, table_width_ = 0;
  std::vector<std::int32_t> block_table_;
  std::vector<std::int64_t> slots_;
  std::vector<std::int64_t> visible_;  // keys that each row sees
  Buffer q_values_, q_scales_, weights_, table_, pool_, table_buffer_, k_values_, k_scales_, out_;
  ir::EvaluatedQuery query_;
  std::vector<std::uint8_t> reference_pool_;
  ir::EvaluatedRows gathered_;
  std::vector<double> unquantized_;
};

}  // namespace

Result<RunReport> Run(const RunRequest& request) {
  IndexerConfig config = request.indexer;
  LIJIT_ASSIGN(RunInputs inputs, runtime::MakeInputs(request, config));
  LIJIT_ASSIGN(std::shared_ptr<Runtime> runtime, Runtime::Create(request.runtime));
  LIJIT_ASSIGN(std::unique_ptr<Indexer> indexer, Indexer::Create(runtime, config));
  LIJIT_ASSIGN(runtime::KernelModules modules, runtime::KernelModules::Create(config));
  return Runner(request, std::move(runtime), std::move(indexer), std::move(modules),
                std::move(inputs))
      .Run();
}

}  // namespace lijit
