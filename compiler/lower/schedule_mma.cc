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

constexpr int kMmaThreads = 128;
constexpr int kKeysPerPass = 128;
// Elements of queries in shared memory: as bytes or halves they take 32 KiB, which leaves room for
// the weights below the 48 KiB of every target.
constexpr int kSharedBytes = 32 * 1024;
constexpr int kMaxRows = 4;

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

std::string FormatProblem(MmaKind kind, const ir::Format& format) {
  const ir::ElementFormat& e = format.element;
  if (kind == MmaKind::kS8) {
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

Status LowerMma(MmaKind kind, const ir::Module& module, const ir::Kernel& kernel,
                ir::Kernel& entry) {
  const ir::Type query = kernel.TypeOf(kernel.body.arguments[0]);
  const Score score = MatchScore(kernel);
  const int element_bytes = kind == MmaKind::kS8 ? 1 : 2;
  const int rows =
      std::clamp(kSharedBytes / (query.heads * query.dim * element_bytes), 1, kMaxRows);
  entry.threads = kMmaThreads;
  // Requests share no keys, so a block of paged rows may be as small as one row.
  entry.tile_rows = kernel.kind == ir::KernelKind::kLogitsPaged ? 1 : rows;
  entry.tile_columns = kKeysPerPass;
  Builder b(entry);
  const EntryParameters p(b, kernel.kind);
  b.TileScores(
      {{ir::AttributeKey::kFormat, query.format},
       {ir::AttributeKey::kHeads, query.heads},
       {ir::AttributeKey::kDim, query.dim},
       {ir::AttributeKey::kRows, rows}},
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

Status ScheduleMma(MmaKind kind, ir::Module& module) {
  for (ir::Kernel& kernel : module.kernels) {
    const bool is_logits =
        kernel.kind == ir::KernelKind::kLogitsRagged || kernel.kind == ir::KernelKind::kLogitsPaged;
    if (kernel.is_entry || !is_logits) continue;
    if (std::string problem = MmaProblem(kind, module); !problem.empty()) {
      return Refused(fmt::format("tensor cores cannot do kernel @{}: {}", kernel.name, problem));
    }
    ir::Kernel entry;
    entry.name = kernel.name;
    entry.kind = kernel.kind;
    entry.layout = kernel.layout;
    entry.location = kernel.location;
    entry.is_entry = true;
    LIJIT_TRY(LowerMma(kind, module, kernel, entry));
    kernel = std::move(entry);
  }
  return {};
}

}  // namespace

std::string MmaProblem(MmaKind kind, const ir::Module& module) {
  for (const ir::Kernel& kernel : module.kernels) {
    if (kernel.kind != ir::KernelKind::kLogitsRagged &&
        kernel.kind != ir::KernelKind::kLogitsPaged) {
      continue;
    }
    const Score score = MatchScore(kernel);
    if (!score.problem.empty()) return score.problem;
    if (kind == MmaKind::kS8 && !IsHomogeneous(score)) {
      return "between dot product and sum it has more than a relu, through which scales cannot be "
             "moved";
    }
    const ir::Type query = kernel.TypeOf(kernel.body.arguments[0]);
    if (query.dim != 64 && query.dim != 128) {
      return fmt::format("head_dim is 64 or 128 there, not {}", query.dim);
    }
    if (std::string problem = FormatProblem(kind, module.FormatOf(query.format));
        !problem.empty()) {
      return problem;
    }
  }
  return {};
}

Status ScheduleMmaS8(ir::Module& module, const target::Target&) {
  return ScheduleMma(MmaKind::kS8, module);
}

Status ScheduleMmaF16(ir::Module& module, const target::Target&) {
  return ScheduleMma(MmaKind::kF16, module);
}

}  // namespace lijit::lower
