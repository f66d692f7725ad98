// SPDX-License-Identifier: Apache-2.0
// What a score kernel executes for a pair of one query and one key, read from its SASS alone.
//
// The hot loop is, of the innermost loops with tensor instructions, the one with the most
// multiplications an instruction; without any, the innermost loop with the most FFMA. A pair is
// heads * head_dim multiplications. Keys are the rows of A (docs/numerics.md): a loop that does not
// load what A is made from goes over heads, and when those are done, over query rows; the one that
// does goes over keys, and is the last that is counted.
//
// Of an outer loop count the instructions on a way through the inner one that is counted, both
// sides of a branch: too many rather than too few. Loops beside it count once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sass/opcodes.h"
#include "runtime/sass/parse.h"

namespace lijit::sass {

// Of one warp.
struct Counts {
  int instructions = 0;
  std::array<int, kPipes> slots{};     // by pipe
  std::array<std::int64_t, 4> macs{};  // by TensorKind
};

struct Level {
  std::uint64_t address = 0;  // of the loop's first instruction
  int depth = 0;              // 1: no loop around it
  std::string over;           // "heads", "query rows", "keys"
  double pairs = 0;           // of a warp's iteration; a part of one where the loop is over heads
  double iterations = 0;      // a pair and warp
  Counts counts;              // of an iteration, without the level within
};

struct MixRequest {
  int heads = 64;
  int head_dim = 128;
  int rows = 1;  // query rows that go over the same keys
};

struct Mix {
  std::vector<Level> levels;  // the hot loop first
  // A pair: instructions and slots of single lanes, multiplications.
  double instructions = 0;
  std::array<double, kPipes> slots{};
  std::array<double, 4> macs{};
  std::vector<std::string> unknown;   // opcodes
  std::vector<std::string> notes;     // what was not counted
  std::vector<std::string> problems;  // why numbers may be wrong
};

// The mix of the function; with problems, and maybe no levels, where that cannot be told.
Mix FindMix(const Function& function, const MixRequest& request);

}  // namespace lijit::sass
