// SPDX-License-Identifier: Apache-2.0
// Removes what changes nothing: products with 1.0, and ops whose results nobody uses.
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/rewrite.h"
#include "compiler/support/float_text.h"

namespace lijit::lower {
namespace {

using ir::Op;
using ir::OpCode;
using ir::ValueId;

bool HasEffect(OpCode code) {
  switch (code) {
    case OpCode::kStore:
    case OpCode::kStoreShared:
    case OpCode::kAtomicAddShared:
    case OpCode::kBarrier:
    case OpCode::kShuffleXor:  // all lanes take part, whether they need the result or not
    case OpCode::kBallot:
    case OpCode::kTileScores:
    case OpCode::kFor:
    case OpCode::kIf:
    case OpCode::kYield:
      return true;
    default:
      return false;
  }
}

// x * 1.0 is x in every bit, but for the payload of a NaN, which no format keeps.
void RemoveUnitFactors(ir::Kernel& kernel) {
  std::vector<bool> is_one;
  RewriteOps(kernel, [&](const Op& op, ir::Builder&, std::vector<ValueId>& results) {
    is_one.resize(kernel.values.size());
    if (op.code == OpCode::kConst && kernel.TypeOf(op.results[0]).IsF32()) {
      is_one[static_cast<std::size_t>(op.results[0])] = op.constant == BitsOfFloat(1.0f);
    }
    if (op.code != OpCode::kMul) return false;
    for (int i = 0; i < 2; ++i) {
      if (is_one[static_cast<std::size_t>(op.operands[static_cast<std::size_t>(i)])]) {
        results = {op.operands[static_cast<std::size_t>(1 - i)]};
        return true;
      }
    }
    return false;
  });
}

// Keeps the ops that have an effect or a used result; last op first, so that one walk is enough.
void RemoveDead(ir::Block& block, std::vector<bool>& used) {
  std::vector<Op> kept;
  for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) {
    bool live = HasEffect(op->code);
    for (const ValueId id : op->results) live = live || used[static_cast<std::size_t>(id)];
    if (!live) continue;
    for (ir::Block& region : op->regions) RemoveDead(region, used);
    for (const ValueId id : op->operands) used[static_cast<std::size_t>(id)] = true;
    kept.push_back(std::move(*op));
  }
  block.ops.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

}  // namespace

Status Simplify(ir::Module& module, const target::Target&) {
  for (ir::Kernel& kernel : module.kernels) {
    if (!kernel.is_entry) continue;
    RemoveUnitFactors(kernel);
    std::vector<bool> used(kernel.values.size());
    RemoveDead(kernel.body, used);
  }
  return {};
}

}  // namespace lijit::lower
