// SPDX-License-Identifier: Apache-2.0
// A few distinct queries and keys, and the logit of every pair of them by the evaluator. A bench
// repeats them to its size, so that every number which a kernel writes has a known value.
#pragma once

#include <cstdint>
#include <vector>

#include "lijit/indexer.h"
#include "lijit/result.h"

namespace lijit::runtime {

struct BenchReference {
  std::int64_t queries = 0;                      // distinct query rows
  std::int64_t pages = 0;                        // distinct pages
  std::int64_t keys = 0;                         // pages * tokens a page
  std::vector<std::uint8_t> q_values, q_scales;  // [queries, H, bytes]
  std::vector<float> weights;                    // [queries, H]
  std::vector<std::uint8_t> page_bytes;          // [pages, bytes of a page]
  std::vector<std::uint8_t> k_values, k_scales;  // [keys, bytes]
  std::vector<float> logits;                     // [queries, keys]
};

// Random rows whose magnitudes differ, stored as the evaluator stores them. `page_bytes` as
// Indexer::page_bytes. The logits are computed by all threads of the machine.
Result<BenchReference> MakeBenchReference(const IndexerConfig& config, std::int64_t page_bytes,
                                          std::int64_t queries, std::int64_t pages,
                                          std::uint64_t seed);

}  // namespace lijit::runtime
