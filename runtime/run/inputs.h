// SPDX-License-Identifier: Apache-2.0
// The numbers of a run: the user's, or random ones, rounded to the indexer's input types.
#pragma once

#include <cstdint>
#include <vector>

#include "lijit/run.h"

namespace lijit::runtime {

struct RunInputs {
  std::int64_t requests = 1;              // B
  int next_n = 1;                         // rows a request (paged); ragged: 1
  std::int64_t rows = 0;                  // T: query rows of all requests
  std::int64_t context = 0;               // keys a request
  std::vector<float> q;                   // [rows, H, D]
  std::vector<float> w;                   // [rows, H]
  std::vector<float> k;                   // [requests * context, D]
  std::vector<std::int32_t> ends;         // ragged: [rows]
  std::vector<std::int64_t> q_positions;  // [rows], of indexers with a rotation
  std::vector<std::int64_t> k_positions;  // [requests * context]
  std::vector<float> rope_table;          // [positions, rope_dim]
  std::int64_t rope_rows = 0;

  std::int64_t keys() const { return requests * context; }
};

// Fixes `config` where the user's arrays do. InvalidArgument: arrays that do not fit together.
Result<RunInputs> MakeInputs(const RunRequest& request, IndexerConfig& config);

// `data` rounded to nearest even in `dtype`, as bytes of that type, and as f32 again.
std::vector<std::uint8_t> EncodeInput(std::vector<float>& data, DType dtype);

}  // namespace lijit::runtime
