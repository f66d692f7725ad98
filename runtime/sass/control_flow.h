// SPDX-License-Identifier: Apache-2.0
// Basic blocks and natural loops of a function.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/sass/parse.h"

namespace lijit::sass {

struct Block {
  std::size_t begin = 0, end = 0;  // instructions
  std::vector<int> successors, predecessors;
};

struct Loop {
  int header = 0;           // a block
  std::vector<int> blocks;  // ascending, those of inner loops included
  int parent = -1;          // the smallest loop around it
  int depth = 1;            // 1: no loop around it

  bool Contains(int block) const;
};

struct ControlFlow {
  std::vector<Block> blocks;          // by address; the first is the entry
  std::vector<Loop> loops;            // by the address of the header
  std::vector<std::string> problems;  // what could not be followed, a sentence each
};

// Guarded branches go both ways. Calls come back; a CALL to a label of the function's own, which
// ptxas writes for some exits of loops, is a branch. BRA.DIV, which only warps take whose lanes
// have diverged, is as if never taken. A BRX without its list of targets and a cycle that can be
// entered at two places are problems.
ControlFlow FindControlFlow(const Function& function);

}  // namespace lijit::sass
