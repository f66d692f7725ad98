// SPDX-License-Identifier: Apache-2.0
// Every number that a case wrote against the evaluator's.
#pragma once

#include <cstdint>
#include <string>

#include "lijit/result.h"
#include "runtime/bench/score_case.h"

namespace lijit::runtime {

// What outputs hold before the calls: a NaN with bits that no kernel writes.
inline constexpr std::uint8_t kUnwritten = 0xff;

struct Verification {
  bool complete = true;  // visible columns are, the others are -inf or (Tail::kKeep) untouched
  bool bitwise_equal = true;
  double calc_diff = 0;
  std::int64_t compared = 0;
  std::string first_problem;  // "set 0, row 3, column 17: ...", or ""
};

// Reads the outputs of all sets.
Result<Verification> VerifyOutputs(Device& device, const ScoreCase& score,
                                   const BenchReference& reference, Tail tail);

}  // namespace lijit::runtime
