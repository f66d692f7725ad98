// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/slice.h"

#include <compare>
#include <set>
#include <vector>

#include "runtime/sass/opcodes.h"

namespace lijit::sass {
namespace {

bool IsLoad(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode();
  return opcode.starts_with("LD") && opcode != "LDL" && opcode != "LDC" && opcode != "LDGDEPBAR";
}

bool Writes(const Instruction& instruction, int reg) {
  const RegisterRange range = WrittenBy(instruction);
  return reg >= range.first && reg < range.first + range.count;
}

class Slice {
 public:
  Slice(const Function& function, const ControlFlow& flow, const Loop& loop)
      : function_(function), flow_(flow), loop_(loop) {}

  // Asks for the value that `reg` has before instruction `end` of the block.
  void Add(int block, std::size_t end, int reg) {
    if (reg >= 0 && asked_.insert({block, end, reg}).second) work_.push_back({block, end, reg});
  }

  // Whether a load is among what the values are made from.
  bool HasLoad() {
    while (!work_.empty() && !has_load_) {
      const Value value = work_.back();
      work_.pop_back();
      Follow(value);
    }
    return has_load_;
  }

 private:
  struct Value {
    int block;
    std::size_t end;
    int reg;
    auto operator<=>(const Value&) const = default;
  };

  void Follow(const Value& value) {
    const Block& at = flow_.blocks[static_cast<std::size_t>(value.block)];
    for (std::size_t i = value.end; i-- > at.begin;) {
      const Instruction& instruction = function_.instructions[i];
      if (!Writes(instruction, value.reg)) continue;
      has_load_ = has_load_ || IsLoad(instruction);
      for (std::size_t j = 1; j < instruction.operands.size(); ++j) {
        Add(value.block, i, RegisterOf(instruction.operands[j]));
      }
      if (instruction.guard.empty()) return;
    }
    for (const int from : at.predecessors) {
      if (!loop_.Contains(from)) continue;
      Add(from, flow_.blocks[static_cast<std::size_t>(from)].end, value.reg);
    }
  }

  const Function& function_;
  const ControlFlow& flow_;
  const Loop& loop_;
  bool has_load_ = false;
  std::set<Value> asked_;
  std::vector<Value> work_;
};

}  // namespace

bool LoadsOperands(const Function& function, const ControlFlow& flow, const Loop& loop,
                   const Loop& user) {
  Slice slice(function, flow, loop);
  for (const int block : user.blocks) {
    const Block& at = flow.blocks[static_cast<std::size_t>(block)];
    for (std::size_t i = at.begin; i < at.end; ++i) {
      const auto op = TensorOpOf(function.instructions[i]);
      if (!op || op->a_register < 0) continue;
      for (int j = 0; j < op->a_registers; ++j) slice.Add(block, i, op->a_register + j);
    }
  }
  return slice.HasLoad();
}

}  // namespace lijit::sass
