// SPDX-License-Identifier: Apache-2.0
// Pages, and the groups of layers that share block ids (vLLM's v1/core/kv_cache_utils.py, as of
// #48993).
#pragma once

#include "lijit/capacity.h"

namespace lijit::capacity {

// One page a cache, padded by the layout and the pool's rule. The request is resolved.
Result<std::vector<Page>> MakePages(const Request& request, IndexerFormat indexer);

struct Grouping {
  std::int64_t repeats = 0;
  std::vector<Group> groups;
};
// Caches of the same window and block size are a bucket. A bucket is balanced if it has as many
// layers of each page size; `repeats` is the number of layers of a size that wastes least when the
// balanced buckets are cut into groups of it; a bucket that is not balanced stays whole.
Result<Grouping> MakeGroups(const Request& request, const std::vector<Page>& pages);

struct BlockSize {
  std::int64_t bytes = 0;
  std::vector<std::int64_t> group_bytes;  // by group
};
// Of a block on a rank that has the layers from `first` up to `end`.
Result<BlockSize> SizeOfBlock(const Request& request, const std::vector<Page>& pages,
                              const std::vector<Group>& groups, int first, int end);

}  // namespace lijit::capacity
