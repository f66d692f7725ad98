// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace lijit::sass {
namespace {

enum class Flow { kNext, kBranch, kCall, kIndirect, kEnd, kReconverge };

struct FlowRow {
  std::string_view opcode;
  Flow flow;
};
constexpr FlowRow kFlows[] = {{"BRA", Flow::kBranch},    {"JMP", Flow::kBranch},
                              {"CALL", Flow::kCall},     {"BRX", Flow::kIndirect},
                              {"JMX", Flow::kIndirect},  {"BRXU", Flow::kIndirect},
                              {"JMXU", Flow::kIndirect}, {"EXIT", Flow::kEnd},
                              {"RET", Flow::kEnd},       {"BSYNC", Flow::kReconverge}};

Flow FlowOf(const Instruction& instruction) {
  for (const FlowRow& row : kFlows) {
    if (row.opcode == instruction.opcode()) return row.flow;
  }
  return Flow::kNext;
}

// "BRA P1, `(.L)" and "BRA.U UP0, `(.L)" have conditions of their own.
bool IsConditional(const Instruction& branch) {
  return !branch.guard.empty() || branch.operands.size() > branch.labels.size();
}

struct Edges {
  std::vector<std::size_t> targets;  // instructions
  bool falls_through = true;
  bool ends_block = false;
};

class EdgeFinder {
 public:
  EdgeFinder(const Function& function, std::vector<std::string>& problems)
      : function_(function), problems_(problems) {}

  Edges Of(std::size_t index) {
    const Instruction& instruction = function_.instructions[index];
    const Flow flow = FlowOf(instruction);
    Edges edges{{}, true, flow != Flow::kNext};
    switch (flow) {
      case Flow::kNext:
        break;
      case Flow::kEnd:
        edges.falls_through = !instruction.guard.empty();
        break;
      case Flow::kReconverge:
        Reconverge(index, edges);
        break;
      case Flow::kCall:
        if (IsOwnLabel(instruction)) Branch(instruction, edges);
        break;
      case Flow::kBranch:
        if (!instruction.HasModifier("DIV")) Branch(instruction, edges);
        break;
      case Flow::kIndirect:
        if (instruction.labels.empty()) Say(instruction, "goes nobody knows where");
        Branch(instruction, edges);
        edges.falls_through = !instruction.guard.empty();
        break;
    }
    return edges;
  }

 private:
  void Say(const Instruction& instruction, std::string_view what) {
    problems_.push_back(fmt::format("{} at {:#x} {}", instruction.name, instruction.address, what));
  }

  bool IsOwnLabel(const Instruction& call) const {
    return !call.labels.empty() && call.labels[0].starts_with(".L");
  }

  void Branch(const Instruction& branch, Edges& edges) {
    edges.falls_through = IsConditional(branch);
    for (const std::string& label : branch.labels) {
      const auto found = function_.labels.find(label);
      const bool is_here =
          found != function_.labels.end() && found->second < function_.instructions.size();
      is_here ? edges.targets.push_back(found->second)
              : Say(branch, fmt::format("goes to {}, which is not in {}", label, function_.name));
    }
  }

  // To where the last BSSY of the same barrier says; that is nearly always the next instruction.
  void Reconverge(std::size_t index, Edges& edges) {
    const Instruction& sync = function_.instructions[index];
    for (std::size_t i = index; i-- > 0 && !sync.operands.empty();) {
      const Instruction& set = function_.instructions[i];
      const bool matches = set.opcode() == "BSSY" && !set.labels.empty() && !set.operands.empty() &&
                           set.operands[0] == sync.operands[0];
      if (!matches) continue;
      const auto found = function_.labels.find(set.labels[0]);
      if (found == function_.labels.end() || found->second == index + 1) return;
      if (found->second >= function_.instructions.size()) return;
      edges.targets.push_back(found->second);
      edges.falls_through = !sync.guard.empty();
      return;
    }
  }

  const Function& function_;
  std::vector<std::string>& problems_;
};

std::vector<Block> FindBlocks(const Function& function, std::vector<std::string>& problems) {
  const std::size_t count = function.instructions.size();
  EdgeFinder finder(function, problems);
  std::vector<Edges> edges;
  std::set<std::size_t> starts = {0};
  for (const auto& [label, index] : function.labels) starts.insert(index);
  for (std::size_t i = 0; i < count; ++i) {
    edges.push_back(finder.Of(i));
    starts.insert(edges.back().targets.begin(), edges.back().targets.end());
    if (edges.back().ends_block) starts.insert(i + 1);
  }
  starts.erase(starts.lower_bound(count), starts.end());
  std::vector<Block> blocks;
  std::map<std::size_t, int> block_at;
  for (const std::size_t start : starts) {
    if (!blocks.empty()) blocks.back().end = start;
    block_at[start] = static_cast<int>(blocks.size());
    blocks.push_back({start, count, {}, {}});
  }
  for (Block& block : blocks) {
    if (block.begin == block.end) continue;  // an empty function
    std::set<int> successors;
    for (const std::size_t target : edges[block.end - 1].targets) {
      successors.insert(block_at[target]);
    }
    if (edges[block.end - 1].falls_through && block.end < count) {
      successors.insert(block_at[block.end]);
    }
    block.successors.assign(successors.begin(), successors.end());
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (const int to : blocks[i].successors) {
      blocks[static_cast<std::size_t>(to)].predecessors.push_back(static_cast<int>(i));
    }
  }
  return blocks;
}

// Immediate dominators (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001).
class Dominators {
 public:
  explicit Dominators(const std::vector<Block>& blocks)
      : blocks_(blocks), number_(blocks.size(), -1), dominator_(blocks.size(), -1) {
    PostOrder();
    dominator_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto block = order_.rbegin(); block != order_.rend(); ++block) {
        changed = (*block != 0 && Update(*block)) || changed;
      }
    }
  }

  bool IsReached(int block) const { return number_[Index(block)] >= 0; }
  // Whether the edge goes to a block that was entered before it in a depth-first walk.
  bool IsRetreating(int from, int to) const { return number_[Index(from)] <= number_[Index(to)]; }
  bool Dominates(int dominator, int block) const {
    while (block != dominator && block != 0) block = dominator_[Index(block)];
    return block == dominator;
  }

 private:
  static std::size_t Index(int block) { return static_cast<std::size_t>(block); }

  void PostOrder() {
    std::vector<std::pair<int, std::size_t>> stack = {{0, 0}};
    std::vector<bool> seen(blocks_.size());
    seen[0] = true;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const std::vector<int>& successors = blocks_[Index(block)].successors;
      if (next == successors.size()) {
        number_[Index(block)] = static_cast<int>(order_.size());
        order_.push_back(block);
        stack.pop_back();
        continue;
      }
      const int to = successors[next++];
      if (seen[Index(to)]) continue;
      seen[Index(to)] = true;
      stack.emplace_back(to, 0);
    }
  }

  bool Update(int block) {
    int meet = -1;
    for (const int from : blocks_[Index(block)].predecessors) {
      if (!IsReached(from) || dominator_[Index(from)] < 0) continue;
      meet = meet < 0 ? from : Meet(meet, from);
    }
    if (dominator_[Index(block)] == meet) return false;
    dominator_[Index(block)] = meet;
    return true;
  }

  int Meet(int a, int b) const {
    while (a != b) {
      while (number_[Index(a)] < number_[Index(b)]) a = dominator_[Index(a)];
      while (number_[Index(b)] < number_[Index(a)]) b = dominator_[Index(b)];
    }
    return a;
  }

  const std::vector<Block>& blocks_;
  std::vector<int> order_;      // of blocks that are reached
  std::vector<int> number_;     // in it
  std::vector<int> dominator_;  // the immediate one
};

// The blocks from which `latch` is reached without passing the header.
void AddBody(const std::vector<Block>& blocks, int latch, int header, std::set<int>& body) {
  body.insert(header);
  std::vector<int> work = {latch};
  while (!work.empty()) {
    const int block = work.back();
    work.pop_back();
    if (!body.insert(block).second) continue;
    const std::vector<int>& from = blocks[static_cast<std::size_t>(block)].predecessors;
    work.insert(work.end(), from.begin(), from.end());
  }
}

void Nest(std::vector<Loop>& loops) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    std::size_t smallest = SIZE_MAX;
    for (std::size_t j = 0; j < loops.size(); ++j) {
      if (i == j || !loops[j].Contains(loops[i].header)) continue;
      ++loops[i].depth;
      if (loops[j].blocks.size() >= smallest) continue;
      smallest = loops[j].blocks.size();
      loops[i].parent = static_cast<int>(j);
    }
  }
}

}  // namespace

bool Loop::Contains(int block) const {
  return std::binary_search(blocks.begin(), blocks.end(), block);
}

ControlFlow FindControlFlow(const Function& function) {
  ControlFlow flow;
  if (function.instructions.empty()) return flow;
  flow.blocks = FindBlocks(function, flow.problems);
  const Dominators dominators(flow.blocks);
  std::map<int, std::set<int>> bodies;  // by header
  for (std::size_t i = 0; i < flow.blocks.size(); ++i) {
    const int from = static_cast<int>(i);
    if (!dominators.IsReached(from)) continue;
    for (const int to : flow.blocks[i].successors) {
      if (dominators.Dominates(to, from)) {
        AddBody(flow.blocks, from, to, bodies[to]);
      } else if (dominators.IsRetreating(from, to)) {
        flow.problems.push_back(fmt::format(
            "the cycle at {:#x} can be entered at two places and is no loop here",
            function.instructions[flow.blocks[static_cast<std::size_t>(to)].begin].address));
      }
    }
  }
  for (const auto& [header, body] : bodies) {
    std::vector<int> reached;
    std::copy_if(body.begin(), body.end(), std::back_inserter(reached),
                 [&](int block) { return dominators.IsReached(block); });
    flow.loops.push_back({header, std::move(reached), -1, 1});
  }
  Nest(flow.loops);
  return flow;
}

}  // namespace lijit::sass
