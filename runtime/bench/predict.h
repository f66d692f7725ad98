// SPDX-License-Identifier: Apache-2.0
// How fast a GPU could execute a mix of instructions, by published rates. Everything is assumed to
// overlap and nothing to wait: an upper bound, and a statement of what would have to shrink first.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runtime/bench/limits.h"
#include "runtime/sass/mix.h"

namespace lijit::runtime {

struct PipeTime {
  std::string_view pipe;  // "instructions", or a name of pipes.def
  double rate = 0;        // lanes a clock; multiplications for "tensor"
  double clocks = 0;      // of a multiprocessor, a pair
};

struct Prediction {
  std::vector<PipeTime> pipes;  // those that the mix uses and that have a rate
  double memory_gpairs = 0;     // what memory alone would allow
  double gpairs = 0;            // the least of all
  std::string_view bound;       // the pipe whose that is, or "memory"
};

// nullopt: no rates are known for the GPU's compute capability, or for what its tensor cores are
// given.
std::optional<Prediction> Predict(const sass::Mix& mix, const GpuLimits& gpu, double bytes_a_pair);

}  // namespace lijit::runtime
