// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/schedule_mma.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/builder.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/simt.h"
#include "compiler/support/float_text.h"

namespace lijit::lower {
namespace {

using ir::Builder;
using ir::Op;
using ir::OpCode;

// What the formats must be: MXFP4, whose sums are integers, or FP8.
enum class Operand { kMxfp4, kFp8 };

struct MmaSchedule {
  std::string_view name;
  ir::MatrixUnit unit;
  Operand operand;
  int element_bytes;  // of a decoded query element in shared memory
};

constexpr MmaSchedule kMmaSchedules[] = {
    {"mma_s8", ir::MatrixUnit::kMma, Operand::kMxfp4, 1},
    {"mma_f16", ir::MatrixUnit::kMma, Operand::kFp8, 2},
    {"wgmma_s8", ir::MatrixUnit::kWgmma, Operand::kMxfp4, 1},
    {"wgmma_e4m3", ir::MatrixUnit::kWgmma, Operand::kFp8, 1},
};

const MmaSchedule& ScheduleNamed(std::string_view name) {
  const auto* row = std::find_if(std::begin(kMmaSchedules), std::end(kMmaSchedules),
                                 [&](const MmaSchedule& s) { return s.name == name; });
  LIJIT_CHECK(row != std::end(kMmaSchedules));
  return *row;
}

// How a template uses a block; it says the same (templates/mma_logits.cu, wgmma_logits.cu).
struct Block {
  int threads;
  int tile_columns;
  int query_bytes;  // of decoded query rows that share a pass, at most
  int max_rows;
};

constexpr Block BlockOf(ir::MatrixUnit unit) {
  // Below the 48 KiB that every target has, with room for the weights; of wgmma, which holds two
  // groups of rows, below the 227 KiB of sm_90a.
  if (unit == ir::MatrixUnit::kMma) return {128, 128, 32 * 1024, 4};
  return {5 * 128, 64, 64 * 1024, 8};
}

// What wgmma_logits.cu has in shared memory.
constexpr int kWgmmaSharedBytes = 227 * 1024;
constexpr int kStageKeys = 64;
constexpr int kMaxStages = 16;
constexpr int kWarpgroups = 4;  // which take stages in turn

int StagesOf(int shared_bytes, int stage_bytes) {
  return std::clamp(shared_bytes / stage_bytes / kWarpgroups * kWarpgroups, kWarpgroups,
                    kMaxStages);
}

// A score that the template can compute: w summed with head(dot(q, k)), then finish.
struct Score {
  std::vector<const Op*> head;    // from the dot product to the sum
  std::vector<const Op*> finish;  // after the sum
  ir::ValueId dot = -1, summed = -1, sum = -1;
  std::string problem;
};

Score MatchScore(const ir::Kernel& kernel) {
  Score score;
  for (const Op& op : kernel.body.ops) {
    const bool after = score.sum >= 0;
    if (op.code == OpCode::kDot && score.dot < 0) {
      score.dot = op.results[0];
    } else if (op.code == OpCode::kWeightedSum && !after && score.dot >= 0) {
      const bool by_weights = op.operands[1] == kernel.body.arguments[2];
      if (!by_weights) score.problem = "the sum is not weighted with the weights as they are given";
      score.summed = op.operands[0];
      score.sum = op.results[0];
    } else if (IsElementwise(op.code) || op.code == OpCode::kConst) {
      (after ? score.finish : score.head).push_back(&op);
    } else if (op.code == OpCode::kRowScale) {
      score.finish.push_back(&op);
    } else if (op.code != OpCode::kYield) {
      score.problem = fmt::format("its body has a second {}", ir::RowOf(op.code).mnemonic);
    }
  }
  if (score.sum < 0) score.problem = "its body has no weighted sum of dot products";
  return score;
}

// Folding moves powers of two through head, which only a positively homogeneous one allows.
bool IsHomogeneous(const Score& score) {
  return score.head.empty() || (score.head.size() == 1 && score.head[0]->code == OpCode::kRelu);
}

std::string FormatProblem(Operand operand, const ir::Format& format) {
  const ir::ElementFormat& e = format.element;
  if (operand == Operand::kMxfp4) {
    const bool e2m1 = e.exponent == 2 && e.mantissa == 1 && e.bias == 1 &&
                      e.special == ir::Special::kNone && e.packing == ir::Packing::kLowFirst;
    const bool scaled = format.block_scale && format.block_scale->size == 32 &&
                        format.block_scale->code == ir::ScaleCode::kUe8m0 && !format.row_scale;
    if (e2m1 && scaled) return {};
    return fmt::format("@{} is not E2M1 with a UE8M0 scale per 32, whose sums are small integers",
                       format.name);
  }
  const bool e4m3 =
      e.exponent == 4 && e.mantissa == 3 && e.bias == 7 && e.special == ir::Special::kNan;
  if (e4m3 && !format.block_scale && format.row_scale) return {};
  return fmt::format("@{} is not E4M3 with one f32 scale a row", format.name);
}

// Keys are read 8 or 16 bytes at a time.
std::string LayoutProblem(const ir::Layout& layout, const ir::Format& format, int dim) {
  const bool aligned = layout.ValueStride(format, dim) % 16 == 0 &&
                       layout.ScaleBase(format, dim) % 16 == 0 && layout.tokens % 16 == 0;
  if (aligned && layout.ScaleStride(format, dim) == 4) return {};
  return "its layout does not keep values and scales of 16 tokens apart, at multiples of 16 bytes";
}

// Copies ops into a region; values outside of it are those of `known`.
class RegionCopy {
 public:
  RegionCopy(Builder& b, const ir::Kernel& kernel) : b_(b), values_(kernel.values.size(), -1) {}

  void Know(ir::ValueId from, ir::ValueId to) { values_[static_cast<std::size_t>(from)] = to; }
  ir::ValueId Get(ir::ValueId from) const { return values_[static_cast<std::size_t>(from)]; }

  void Copy(const Op& op) {
    if (op.code == OpCode::kConst) {
      Know(op.results[0], b_.F32(FloatFromBits(static_cast<std::uint32_t>(op.constant))));
      return;
    }
    std::vector<ir::ValueId> operands;
    for (const ir::ValueId id : op.operands) operands.push_back(Get(id));
    Know(op.results[0], EmitElementwise(b_, op, operands));
  }

 private:
  Builder& b_;
  std::vector<ir::ValueId> values_;
};

ir::Layout LayoutOf(const ir::Module& module, const ir::Kernel& kernel) {
  // Gathered rows lie like a page of one token.
  if (kernel.layout < 0) return {};
  return module.layouts[static_cast<std::size_t>(kernel.layout)];
}

Status LowerMma(const MmaSchedule& schedule, const ir::Module& module, const ir::Kernel& kernel,
                ir::Kernel& entry) {
  const ir::Type query = kernel.TypeOf(kernel.body.arguments[0]);
  const Score score = MatchScore(kernel);
  const Block block = BlockOf(schedule.unit);
  const int row_bytes = query.heads * query.dim * schedule.element_bytes;
  // Decoding has few rows a request, and wants the shared memory for keys on their way.
  const bool paged = kernel.kind == ir::KernelKind::kLogitsPaged;
  const int most = paged ? std::min(block.max_rows, 4) : block.max_rows;
  const int rows = std::clamp(block.query_bytes / row_bytes, 1, most);
  entry.threads = block.threads;
  // Requests share no keys, so a block of paged rows may be as small as one row.
  entry.tile_rows = kernel.kind == ir::KernelKind::kLogitsPaged ? 1 : rows;
  entry.tile_columns = block.tile_columns;
  std::vector<ir::Attribute> attributes = {
      {ir::AttributeKey::kFormat, query.format},
      {ir::AttributeKey::kHeads, query.heads},
      {ir::AttributeKey::kDim, query.dim},
      {ir::AttributeKey::kRows, rows},
      {ir::AttributeKey::kUnit, static_cast<std::int64_t>(schedule.unit)}};
  if (schedule.unit == ir::MatrixUnit::kWgmma) {
    const ir::Format& format = module.FormatOf(query.format);
    const int stage = kStageKeys * (query.dim * format.element.Bits() / 8 + 4);
    // Weights, as they are and folded, and what else is held of two groups of rows.
    const int others = 2 * rows * (query.heads * 12 + 256) + 4096;
    const int stages = StagesOf(kWgmmaSharedBytes - 2 * rows * row_bytes - others, stage);
    entry.shared_bytes = 2 * rows * row_bytes + others + stages * stage;
    attributes.push_back({ir::AttributeKey::kStages, stages});
  }
  Builder b(entry);
  const EntryParameters p(b, kernel.kind);
  b.TileScores(
      std::move(attributes),
      [&](ir::ValueId x) {
        RegionCopy copy(b, kernel);
        copy.Know(score.dot, x);
        for (const Op* op : score.head) copy.Copy(*op);
        return copy.Get(score.summed);
      },
      [&](ir::ValueId sum, ir::ValueId row_scale) {
        RegionCopy copy(b, kernel);
        copy.Know(score.sum, sum);
        const bool has_scale = module.FormatOf(query.format).row_scale.has_value();
        const ir::ValueId scale = has_scale ? row_scale : b.F32(1.0f);
        // Constants may stand before the sum and be used after it.
        for (const Op* op : score.head) {
          if (op->code == OpCode::kConst) copy.Copy(*op);
        }
        for (const Op* op : score.finish) {
          op->code == OpCode::kRowScale ? copy.Know(op->results[0], scale) : copy.Copy(*op);
        }
        return copy.Get(kernel.body.ops.back().operands[0]);
      });
  b.Yield({});
  b.Finish();
  return {};
}

Status ScheduleMma(std::string_view name, ir::Module& module) {
  for (ir::Kernel& kernel : module.kernels) {
    const bool is_logits =
        kernel.kind == ir::KernelKind::kLogitsRagged || kernel.kind == ir::KernelKind::kLogitsPaged;
    if (kernel.is_entry || !is_logits) continue;
    if (std::string problem = MmaProblem(name, module); !problem.empty()) {
      return Refused(fmt::format("tensor cores cannot do kernel @{}: {}", kernel.name, problem));
    }
    ir::Kernel entry = StartEntry(kernel);
    LIJIT_TRY(LowerMma(ScheduleNamed(name), module, kernel, entry));
    kernel = std::move(entry);
  }
  return {};
}

}  // namespace

std::string MmaProblem(std::string_view name, const ir::Module& module) {
  const MmaSchedule& schedule = ScheduleNamed(name);
  for (const ir::Kernel& kernel : module.kernels) {
    if (kernel.kind != ir::KernelKind::kLogitsRagged &&
        kernel.kind != ir::KernelKind::kLogitsPaged) {
      continue;
    }
    const Score score = MatchScore(kernel);
    if (!score.problem.empty()) return score.problem;
    if (schedule.operand == Operand::kMxfp4 && !IsHomogeneous(score)) {
      return "between dot product and sum it has more than a relu, through which scales cannot be "
             "moved";
    }
    const ir::Type query = kernel.TypeOf(kernel.body.arguments[0]);
    if (query.dim != 64 && query.dim != 128) {
      return fmt::format("head_dim is 64 or 128 there, not {}", query.dim);
    }
    const ir::Format& format = module.FormatOf(query.format);
    for (std::string problem :
         {FormatProblem(schedule.operand, format),
          kernel.layout < 0 ? std::string()
                            : LayoutProblem(LayoutOf(module, kernel), format, query.dim)}) {
      if (!problem.empty()) return problem;
    }
  }
  return {};
}

#define LIJIT_MMA_PASS(function, name) \
  Status function(ir::Module& module, const target::Target&) { return ScheduleMma(name, module); }
LIJIT_MMA_PASS(ScheduleMmaS8, "mma_s8")
LIJIT_MMA_PASS(ScheduleMmaF16, "mma_f16")
LIJIT_MMA_PASS(ScheduleWgmmaS8, "wgmma_s8")
LIJIT_MMA_PASS(ScheduleWgmmaE4m3, "wgmma_e4m3")
#undef LIJIT_MMA_PASS

}  // namespace lijit::lower
