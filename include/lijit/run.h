// SPDX-License-Identifier: Apache-2.0
// The main job, end to end, checked at each step: quantize the queries, write the cache, score,
// select, and compare all of it with the reference evaluator and with unquantized f64 scores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lijit/indexer.h"
#include "lijit/result.h"

namespace lijit {

// Numbers given by the user, row-major; empty: random ones.
struct HostArray {
  std::vector<std::int64_t> shape;
  std::vector<float> data;
};

struct RunRequest {
  RuntimeOptions runtime;
  IndexerConfig indexer;
  std::string op = "paged";  // "paged" or "ragged"
  int batch = 1;
  int next_n = 1;
  std::int64_t context = 512;  // keys a request
  int queries = 0;             // ragged: query rows; 0: 4
  int top_k = 64;
  std::uint64_t seed = 0;
  std::int64_t page_stride = 0;                        // bytes; 0: the page's own size
  std::int64_t scratch_limit = std::int64_t{4} << 30;  // refuse to allocate more than this
  HostArray q;  // [T, H, D]; fixes queries, heads and head_dim (ragged)
  HostArray k;  // [N, D]; fixes context
  HostArray w;  // [T, H]
};

struct RunReport {
  bool ok = false;             // every check held
  bool bitwise_equal = false;  // the logits equal the evaluator's in every bit (NaN equals NaN)
  bool writers_equal = false;  // so do stored queries, weights, cache pages and gathered keys
  double calc_diff = 0;        // 1 - 2<x,y> / (<x,x> + <y,y>) of the valid logits against it
  bool topk_equal = false;     // so do the selected columns
  double recall = 0;           // share of the unquantized f64 top-k that was selected
  double calc_diff_unquantized = 0;
  std::string device, target, backend, schedule, format, op;
  int heads = 0, head_dim = 0, page = 0, bytes_per_token = 0;
  std::int64_t rows = 0, keys = 0;
  std::string cache;  // "hit" if every kernel was, else "miss"
  double compile_ms = 0;
  std::vector<Finding> findings;
  std::optional<std::uint64_t> instructions;  // emulated thread-instructions
  std::optional<double> kernel_us;            // of the logits kernel, on a GPU
  std::vector<std::string> problems;          // which checks did not hold, a sentence each
  std::vector<cache::Event> events;
  std::vector<float> logits;          // [rows, width], -inf where not valid
  std::vector<std::int32_t> indices;  // [rows, top_k]
  std::int64_t width = 0;
  int top_k = 0;
};

Result<RunReport> Run(const RunRequest& request);

}  // namespace lijit
