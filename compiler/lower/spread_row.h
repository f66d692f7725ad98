// SPDX-License-Identifier: Apache-2.0
// A row of numbers spread over the lanes of a warp: lane l holds elements l*n .. l*n+n-1. What
// needs neighbours (block maxima, rotations, transforms) is done with shuffles. Inside of lower/.
#pragma once

#include <vector>

#include "compiler/lower/simt.h"

namespace lijit::lower {

// How a row of `dim` elements is spread. At least two elements a lane, so that pairs of codes stay
// in one lane; rows below 64 leave lanes idle, which hold zeros.
struct Spread {
  int dim = 0;
  int per_lane = 0;
  int lanes = 0;     // lanes that hold elements
  ValueId lane = 0;  // this lane's number, i32

  static Spread Of(int dim, ValueId lane);
};

// This lane's elements.
using LaneElements = std::vector<ValueId>;

// A row as it is stored, spread likewise.
struct SpreadCodes {
  ir::FormatId format = -1;
  std::vector<ValueId> words;  // this lane's codes, i32 each, low bits first
  ValueId block_code = -1;     // code of the lane's block scale; -1 without block scales
  ValueId row_scale = -1;      // f32, 1.0 without a row scale
};

SpreadCodes EncodeSpread(ir::Builder& b, const ir::Module& module, const Spread& spread,
                         ir::FormatId format, const LaneElements& x);

// Stores values at pointer + values_at, block scales and (if `with_row_scale`) the row scale at
// pointer + scales_at; the pointers may be the same.
struct StoredPlace {
  ValueId values = -1;
  ValueId values_at = -1;
  ValueId scales = -1;
  ValueId scales_at = -1;
  bool with_row_scale = false;
};
void StoreSpread(ir::Builder& b, const ir::Module& module, const Spread& spread,
                 const SpreadCodes& codes, const StoredPlace& place);

// Rotary embedding by the table row at `table` + `table_at` (bytes).
LaneElements RopeSpread(ir::Builder& b, const Spread& spread, const LaneElements& x, int rotary_dim,
                        ir::RopeStyle style, ir::RopePlace place, ValueId table, ValueId table_at);
// Why RopeSpread cannot do these dimensions; empty if it can.
std::string RopeProblem(int dim, int rotary_dim, ir::RopePlace place);

LaneElements HadamardSpread(ir::Builder& b, const Spread& spread, LaneElements x);

}  // namespace lijit::lower
