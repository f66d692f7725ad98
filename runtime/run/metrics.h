// SPDX-License-Identifier: Apache-2.0
// How near two sets of scores are to each other.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/format.h"
#include "lijit/run.h"
#include "runtime/run/inputs.h"

namespace lijit::runtime {

// 1 - 2<x,y> / (<x,x> + <y,y>) over the columns that are finite in both; 0 if both are zero.
double CalcDiff(std::span<const double> x, std::span<const double> y);

// What docs/numerics.md promises of logits: those of FP8 rows from tensor cores are this near...
inline constexpr double kMaxCalcDiff = 5e-6;
// ...and all others equal to the evaluator's in every bit.
bool IsExact(const ir::Format& format, std::string_view schedule);

// Whether all numbers have the same bits; NaN equals NaN.
bool BitwiseEqual(std::span<const float> x, std::span<const float> y);

// Scores of the unquantized inputs in f64, [rows, width], -inf beyond a row's `visible` keys: sum
// over heads of w * relu(q . k), times head_dim^-0.5 * heads^-0.5.
std::vector<double> UnquantizedScores(const RunInputs& inputs, const IndexerConfig& config,
                                      std::span<const std::int64_t> visible, std::int64_t width);

// Share of the k largest scores of each row that are among `indices` [rows, k]; 1 without any.
double Recall(std::span<const double> scores, std::int64_t width,
              std::span<const std::int32_t> indices, int k);

}  // namespace lijit::runtime
