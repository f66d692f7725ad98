// SPDX-License-Identifier: Apache-2.0
// From a request to blocks and tokens.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lijit/capacity.h"
#include "runtime/capacity/checked.h"
#include "runtime/capacity/groups.h"
#include "runtime/capacity/limits.h"
#include "runtime/capacity/validate.h"

namespace lijit::capacity {
namespace {

// Tokens that a request of `length` may hold in a group while `in_flight` are scheduled.
std::int64_t ChargedTokens(const Group& group, std::int64_t length, std::int64_t in_flight) {
  return group.window == 0 ? length : std::min(group.window - 1 + in_flight, length);
}

// A window may begin inside of a block, which costs one more.
std::int64_t BlocksOf(const Group& group, std::int64_t length, std::int64_t in_flight) {
  return CeilDivide(ChargedTokens(group, length, in_flight), group.block_tokens) +
         (group.window == 0 ? 0 : 1);
}

std::int64_t RequestBlocks(const std::vector<Group>& groups, std::int64_t length,
                           std::int64_t in_flight) {
  std::int64_t blocks = 0;
  for (const Group& group : groups) blocks += BlocksOf(group, length, in_flight);
  return blocks;
}

void ChargeGroups(const Request& request, std::int64_t in_flight, std::vector<Group>& groups) {
  for (Group& group : groups) {
    group.charged_tokens = ChargedTokens(group, request.max_model_len, in_flight);
    group.request_blocks = BlocksOf(group, request.max_model_len, in_flight);
    group.steady_blocks = BlocksOf(group, request.max_model_len, 0);
  }
}

// What is left over goes to the ranks before the last, which has the output head to carry
// (vLLM, distributed/utils.py).
std::vector<int> LayersOfRanks(int layers, int ranks) {
  std::vector<int> counts(static_cast<std::size_t>(ranks), layers / ranks);
  for (int i = 0; i < layers % ranks; ++i) ++counts[static_cast<std::size_t>(ranks - 2 - i)];
  return counts;
}

Result<std::int64_t> CacheBytes(const Memory& memory, std::size_t rank) {
  if (!memory.cache_bytes.empty()) {
    return memory.cache_bytes[memory.cache_bytes.size() == 1 ? 0 : rank];
  }
  LIJIT_ASSIGN(const std::int64_t usable,
               MultiplyDivide(memory.total_bytes, memory.fraction_millionths, 1'000'000, "memory"));
  LIJIT_ASSIGN(const std::int64_t taken,
               (Checked(memory.weights_bytes) + memory.reserved_bytes).Get("weights and reserve"));
  if (taken <= usable) return usable - taken;
  return InvalidArgument(
      fmt::format("weights of {} and a reserve of {} bytes exceed the usable {} of {} bytes; give "
                  "more memory, a larger fraction or more ranks",
                  Grouped(memory.weights_bytes), Grouped(memory.reserved_bytes), Grouped(usable),
                  Grouped(memory.total_bytes)));
}

Result<Rank> MakeRank(const Plan& plan, std::size_t index, int first, int layers) {
  Rank rank;
  rank.first_layer = first;
  rank.layers = layers;
  LIJIT_ASSIGN(BlockSize size,
               SizeOfBlock(plan.request, plan.pages, plan.groups, first, first + layers));
  rank.block_bytes = size.bytes;
  rank.group_bytes = std::move(size.group_bytes);
  if (rank.block_bytes == 0) {
    return InvalidArgument(
        fmt::format("pipeline rank {} has layers {} to {}, none with a cache; give fewer pipeline "
                    "ranks",
                    index, first, first + layers - 1));
  }
  LIJIT_ASSIGN(rank.cache_bytes, CacheBytes(plan.request.memory, index));
  rank.blocks = rank.cache_bytes / rank.block_bytes;
  return rank;
}

bool IsTighter(const Rank& a, const Rank& b) {
  return a.blocks != b.blocks ? a.blocks < b.blocks : a.block_bytes > b.block_bytes;
}

Status MakeRanks(Plan& plan) {
  const Request& request = plan.request;
  const std::vector<int> layers = LayersOfRanks(request.model.layers, request.pipeline_ranks);
  int first = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const int draft = i + 1 == layers.size() ? request.draft_layers : 0;
    LIJIT_ASSIGN(Rank rank, MakeRank(plan, i, first, layers[i] + draft));
    plan.ranks.push_back(std::move(rank));
    first += layers[i];
  }
  for (std::size_t i = 1; i < plan.ranks.size(); ++i) {
    if (IsTighter(plan.ranks[i], plan.ranks[plan.tightest])) plan.tightest = i;
  }
  plan.blocks = plan.ranks[plan.tightest].blocks;
  plan.block_bytes = plan.ranks[plan.tightest].block_bytes;
  for (Rank& rank : plan.ranks) {
    rank.spare_bytes = rank.cache_bytes - plan.blocks * rank.block_bytes;
  }
  return {};
}

// The longest context whose blocks number at most `blocks`.
std::int64_t LongestContext(const Plan& plan, std::int64_t blocks) {
  std::int64_t low = 0, high = kMaxTokens;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (RequestBlocks(plan.groups, middle, plan.in_flight_tokens) <= blocks) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

Status CountTokens(Plan& plan) {
  const std::int64_t length = plan.request.max_model_len;
  plan.request_blocks = RequestBlocks(plan.groups, length, plan.in_flight_tokens);
  plan.steady_blocks = RequestBlocks(plan.groups, length, 0);
  LIJIT_ASSIGN(plan.tokens, MultiplyDivide(plan.blocks, length, plan.request_blocks, "tokens"));
  // Engines keep one block for padding entries of block tables.
  const std::int64_t usable = std::max<std::int64_t>(plan.blocks - 1, 0);
  plan.full_requests = usable / plan.request_blocks;
  plan.longest_context = LongestContext(plan, usable);
  plan.starts = plan.full_requests >= 1;
  plan.fits = plan.full_requests >= plan.request.concurrency;
  return {};
}

std::int64_t LayersIn(const std::vector<Group>& groups, std::size_t cache) {
  std::int64_t layers = 0;
  for (const Group& group : groups) {
    for (const Group::Member& member : group.members) {
      if (member.cache == cache) layers += static_cast<std::int64_t>(member.layers.size());
    }
  }
  return layers;
}

// Bytes that a span of text costs in caches of the whole context.
Status CountCosts(Plan& plan) {
  for (const Cache& cache : plan.request.model.caches) {
    if (cache.window != 0) continue;
    plan.span_tokens = std::lcm(plan.span_tokens, cache.block_tokens);
    if (plan.span_tokens > kMaxTokens) {
      return InvalidArgument("block sizes have no common multiple below 2^40; give related ones");
    }
  }
  Checked full, indexer, unpadded;
  for (const Page& page : plan.pages) {
    const Cache& cache = plan.request.model.caches[page.cache];
    if (cache.window != 0) continue;
    const Checked pages =
        Checked(plan.span_tokens / cache.block_tokens) * LayersIn(plan.groups, page.cache);
    full += pages * page.bytes;
    if (cache.role != Role::kIndexer) continue;
    indexer += pages * page.bytes;
    unpadded += pages * page.natural_bytes;
  }
  LIJIT_ASSIGN(plan.full_group_bytes, full.Get("bytes of a span"));
  LIJIT_ASSIGN(plan.indexer_bytes, indexer.Get("indexer bytes of a span"));
  LIJIT_ASSIGN(plan.indexer_unpadded_bytes, unpadded.Get("indexer bytes of a span"));
  return {};
}

}  // namespace

Result<Plan> MakePlan(const Request& request, IndexerFormat indexer) {
  Plan plan;
  plan.indexer = indexer;
  LIJIT_ASSIGN(plan.request, Resolve(request));
  LIJIT_ASSIGN(plan.pages, MakePages(plan.request, indexer));
  LIJIT_ASSIGN(Grouping grouping, MakeGroups(plan.request, plan.pages));
  plan.repeats = grouping.repeats;
  plan.groups = std::move(grouping.groups);
  LIJIT_ASSIGN(plan.in_flight_tokens,
               (Checked(plan.request.concurrent_batches) * plan.request.batched_tokens)
                   .Get("tokens in flight"));
  ChargeGroups(plan.request, plan.in_flight_tokens, plan.groups);
  LIJIT_TRY(MakeRanks(plan));
  LIJIT_TRY(CountTokens(plan));
  LIJIT_TRY(CountCosts(plan));
  return plan;
}

}  // namespace lijit::capacity
