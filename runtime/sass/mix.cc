// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/sass/control_flow.h"
#include "runtime/sass/slice.h"

namespace lijit::sass {
namespace {

constexpr int kLanes = 32;
constexpr std::string_view kScalarProduct = "FFMA";  // where there are no tensor instructions

std::int64_t Total(const Counts& counts) {
  std::int64_t total = 0;
  for (const std::int64_t macs : counts.macs) total += macs;
  return total;
}

class MixFinder {
 public:
  MixFinder(const Function& function, const MixRequest& request)
      : function_(function), request_(request), flow_(FindControlFlow(function)) {
    mix_.problems = flow_.problems;
  }

  Mix Find() {
    const int hot = HotLoop();
    if (hot < 0) {
      mix_.problems.push_back(fmt::format("no loop of {} has tensor instructions or {}",
                                          function_.name, kScalarProduct));
      return std::move(mix_);
    }
    FindLevels(hot);
    mix_.unknown.assign(unknown_.begin(), unknown_.end());
    for (const std::string& opcode : unknown_) {
      mix_.problems.push_back(fmt::format("opcode {} is not in opcodes.def", opcode));
    }
    AddUp();
    return std::move(mix_);
  }

 private:
  using Blocks = std::vector<int>;

  const Loop& LoopAt(int index) const { return flow_.loops[static_cast<std::size_t>(index)]; }
  const Block& BlockAt(int index) const { return flow_.blocks[static_cast<std::size_t>(index)]; }

  template <typename Visit>
  void ForEach(const Blocks& blocks, Visit visit) const {
    for (const int block : blocks) {
      for (std::size_t i = BlockAt(block).begin; i < BlockAt(block).end; ++i) {
        visit(function_.instructions[i]);
      }
    }
  }

  // Blocks of a loop that are in no loop within it.
  Blocks OwnBlocks(int loop) const {
    Blocks own;
    for (const int block : LoopAt(loop).blocks) {
      const bool inner = std::any_of(flow_.loops.begin(), flow_.loops.end(), [&](const Loop& l) {
        return l.parent == loop && l.Contains(block);
      });
      if (!inner) own.push_back(block);
    }
    return own;
  }

  // Multiplications an instruction of the loop's own; 0 if it has none.
  double Density(int loop, bool tensor) const {
    double macs = 0, instructions = 0;
    ForEach(OwnBlocks(loop), [&](const Instruction& instruction) {
      ++instructions;
      if (const auto op = TensorOpOf(instruction); tensor && op) macs += double(op->macs());
      if (!tensor && instruction.opcode() == kScalarProduct) macs += kLanes;
    });
    return instructions > 0 ? macs / instructions : 0;
  }

  int HotLoop() {
    for (const bool tensor : {true, false}) {
      int hot = -1;
      double most = 0;
      for (int i = 0; i < static_cast<int>(flow_.loops.size()); ++i) {
        const double density = Density(i, tensor);
        if (density > 0 && !tensor) is_scalar_ = true;
        if (density <= most) continue;
        most = density;
        hot = i;
      }
      if (hot >= 0) {
        NoteOthers(hot, tensor);
        return hot;
      }
    }
    return -1;
  }

  void NoteOthers(int hot, bool tensor) {
    for (int i = 0; i < static_cast<int>(flow_.loops.size()); ++i) {
      if (i == hot || Density(i, tensor) <= 0 || LoopAt(i).Contains(LoopAt(hot).header)) continue;
      mix_.notes.push_back(
          fmt::format("the loop at {:#x} multiplies, too, with more instructions", AddressOf(i)));
    }
  }

  std::uint64_t AddressOf(int loop) const {
    return function_.instructions[BlockAt(LoopAt(loop).header).begin].address;
  }

  // Blocks of `loop` that an iteration may pass which also passes `inner`.
  Blocks BlocksThrough(int loop, int inner) const {
    const Loop& outer = LoopAt(loop);
    std::set<int> through = Reach(outer, LoopAt(inner), &Block::successors);
    through.merge(Reach(outer, LoopAt(inner), &Block::predecessors));
    Blocks blocks;
    for (const int block : outer.blocks) {
      if (through.contains(block) && !LoopAt(inner).Contains(block)) blocks.push_back(block);
    }
    return blocks;
  }

  // What can be walked to from `inner` without leaving `outer` or passing its header.
  std::set<int> Reach(const Loop& outer, const Loop& inner,
                      std::vector<int> Block::*next_blocks) const {
    std::set<int> reached(inner.blocks.begin(), inner.blocks.end());
    Blocks work = inner.blocks;
    const bool forward = next_blocks == &Block::successors;
    while (!work.empty()) {
      const int block = work.back();
      work.pop_back();
      if (!forward && block == outer.header) continue;
      for (const int next : BlockAt(block).*next_blocks) {
        if (!outer.Contains(next) || (forward && next == outer.header)) continue;
        if (reached.insert(next).second) work.push_back(next);
      }
    }
    return reached;
  }

  Counts Count(const Blocks& blocks) {
    Counts counts;
    ForEach(blocks, [&](const Instruction& instruction) {
      ++counts.instructions;
      const std::optional<Pipe> pipe = PipeOf(instruction);
      if (!pipe) {
        unknown_.emplace(instruction.opcode());
        return;
      }
      counts.slots[IndexOf(*pipe)] += SlotsOf(instruction, *pipe);
      if (const auto op = TensorOpOf(instruction)) {
        counts.macs[static_cast<std::size_t>(op->kind)] += op->macs();
      } else if (*pipe == Pipe::kTensor) {
        mix_.problems.push_back(fmt::format("{} has a shape that is not known", instruction.name));
      }
      NoteCall(instruction);
    });
    return counts;
  }

  void NoteCall(const Instruction& instruction) {
    const bool calls = instruction.opcode() == "CALL" && !instruction.labels.empty() &&
                       !instruction.labels[0].starts_with(".L");
    if (!calls) return;
    mix_.notes.push_back(fmt::format("what {} executes, called at {:#x}, is not counted",
                                     instruction.labels[0], instruction.address));
  }

  // How many keys the A operands of the loop hold, if all are in registers.
  void FindOperands(const Blocks& blocks) {
    std::set<int> first_registers;
    ForEach(blocks, [&](const Instruction& instruction) {
      const auto op = TensorOpOf(instruction);
      if (!op) return;
      in_registers_ = in_registers_ && op->a_register >= 0;
      if (!first_registers.insert(op->a_register).second) return;
      keys_ += double(op->m) * op->k / request_.head_dim;
    });
  }

  bool Loads(int loop) const { return LoadsOperands(function_, flow_, LoopAt(loop), LoopAt(hot_)); }

  Level MakeLevel(int loop, const Blocks& blocks, std::string over, double pairs) {
    return {AddressOf(loop), LoopAt(loop).depth, std::move(over), pairs, 1 / pairs, Count(blocks)};
  }

  // The loop around; -1 with a problem if there is none.
  int Around(int loop, std::string_view what) {
    const int parent = LoopAt(loop).parent;
    if (parent < 0) {
      mix_.problems.push_back(
          fmt::format("the loop at {:#x} has no loop over {} around it", AddressOf(loop), what));
    }
    return parent;
  }

  void FindLevels(int hot) {
    const double pair_macs = double(request_.heads) * request_.head_dim;
    const Blocks& blocks = LoopAt(hot).blocks;
    hot_ = hot;
    FindOperands(blocks);
    Level level = MakeLevel(hot, blocks, "keys", 1);
    if (is_scalar_) {
      ForEach(blocks, [&](const Instruction& i) { scalar_ += i.opcode() == kScalarProduct; });
    }
    const double macs = double(is_scalar_ ? scalar_ * kLanes : Total(level.counts));
    level.pairs = macs / pair_macs;
    level.iterations = 1 / level.pairs;
    if (!in_registers_ || keys_ == 0 || Loads(hot)) {
      mix_.levels = {level};
      return NoteAround(hot);
    }
    const double rows = std::max(1.0, std::floor(level.pairs / keys_));
    const bool over_heads = level.pairs < keys_;
    level.over = over_heads ? "heads" : "query rows";
    mix_.levels = {level};
    over_heads ? AddRowLevel(hot, macs, pair_macs) : AddKeyLevel(hot, std::max(rows, Rows()));
  }

  double Rows() const { return request_.rows; }

  // The loop around one over heads: over query rows, or over keys at once.
  void AddRowLevel(int inner, double inner_macs, double pair_macs) {
    const int loop = Around(inner, "query rows or keys");
    if (loop < 0) return;
    const Blocks blocks = BlocksThrough(loop, inner);
    const bool loads = Loads(loop);
    Level level = MakeLevel(loop, blocks, loads ? "keys" : "query rows", keys_);
    // What was peeled off the inner loop is done here.
    const double trips = (keys_ * pair_macs - double(Total(level.counts))) / inner_macs;
    if (trips < 1 || trips != std::floor(trips)) {
      mix_.problems.push_back(fmt::format("the loop at {:#x} would run {:.3g} times for {} heads",
                                          AddressOf(inner), trips, request_.heads));
    }
    mix_.levels[0].iterations = trips / keys_;
    mix_.levels.push_back(std::move(level));
    loads ? NoteAround(loop) : AddKeyLevel(loop, Rows());
  }

  void AddKeyLevel(int inner, double rows) {
    const int loop = Around(inner, "keys");
    if (loop < 0) return;
    if (!Loads(loop)) {
      mix_.problems.push_back(
          fmt::format("it is not known how often the loop at {:#x} runs", AddressOf(inner)));
    }
    mix_.levels.push_back(MakeLevel(loop, BlocksThrough(loop, inner), "keys", keys_ * rows));
    NoteAround(loop);
  }

  void NoteAround(int loop) {
    if (LoopAt(loop).parent < 0) return;
    mix_.notes.push_back(
        fmt::format("loops around the one at {:#x} are not counted", AddressOf(loop)));
  }

  void AddUp() {
    for (const Level& level : mix_.levels) {
      const double lanes = kLanes * level.iterations;
      mix_.instructions += lanes * level.counts.instructions;
      for (std::size_t i = 0; i < kPipes; ++i) mix_.slots[i] += lanes * level.counts.slots[i];
      for (std::size_t i = 0; i < mix_.macs.size(); ++i) {
        mix_.macs[i] += level.iterations * double(level.counts.macs[i]);
      }
    }
  }

  const Function& function_;
  const MixRequest request_;
  const ControlFlow flow_;
  Mix mix_;
  std::set<std::string> unknown_;
  int hot_ = -1;
  bool in_registers_ = true;  // the A operands
  double keys_ = 0;           // that they hold, a warp
  bool is_scalar_ = false;
  std::int64_t scalar_ = 0;
};

}  // namespace

Mix FindMix(const Function& function, const MixRequest& request) {
  return MixFinder(function, request).Find();
}

}  // namespace lijit::sass
