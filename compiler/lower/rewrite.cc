// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/rewrite.h"

#include <utility>

namespace lijit::lower {
namespace {

class Rewriter {
 public:
  Rewriter(ir::Kernel& kernel, const Replace& replace) : kernel_(kernel), replace_(replace) {}

  void Run(ir::Block& block) {
    std::vector<ir::Op> ops = std::exchange(block.ops, {});
    for (ir::Op& op : ops) {
      for (ir::ValueId& id : op.operands) id = Current(id);
      for (ir::Block& region : op.regions) Run(region);
      std::vector<ir::ValueId> results;
      ir::Builder builder(kernel_);
      if (!replace_(op, builder, results)) {
        block.ops.push_back(std::move(op));
        continue;
      }
      LIJIT_CHECK(results.size() == op.results.size());
      for (std::size_t i = 0; i < results.size(); ++i) Map(op.results[i], results[i]);
      for (ir::Op& emitted : builder.TakeOps(results)) block.ops.push_back(std::move(emitted));
    }
  }

 private:
  ir::ValueId Current(ir::ValueId id) const {
    const auto index = static_cast<std::size_t>(id);
    return index < map_.size() && map_[index] >= 0 ? map_[index] : id;
  }

  void Map(ir::ValueId from, ir::ValueId to) {
    const auto index = static_cast<std::size_t>(from);
    if (index >= map_.size()) map_.resize(index + 1, -1);
    map_[index] = to;
  }

  ir::Kernel& kernel_;
  const Replace& replace_;
  std::vector<ir::ValueId> map_;
};

}  // namespace

void RewriteOps(ir::Kernel& kernel, const Replace& replace) {
  Rewriter(kernel, replace).Run(kernel.body);
}

}  // namespace lijit::lower
