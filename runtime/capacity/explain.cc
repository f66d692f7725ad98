// SPDX-License-Identifier: Apache-2.0
// Every intermediate of a plan, in the order in which it arises.
#include <fmt/format.h>

#include "lijit/capacity.h"

namespace lijit::capacity {
namespace {

// Appends one line.
template <typename... Args>
void Line(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  text += '\n';
}

void ExplainRequest(const Plan& plan, std::string& text) {
  const Request& request = plan.request;
  Line(text, "model {}: {} layers and {} speculative; {}", request.model.name, request.model.layers,
       request.draft_layers, request.model.source);
  Line(text, "indexer {}, latent {}, layout {}, pool {}", IndexerFormatName(plan.indexer),
       request.latent_row_bytes != 0 ? fmt::format("of {} bytes", request.latent_row_bytes)
                                     : request.latent_format,
       request.layout->name, PoolName(request.pool));
}

void ExplainPages(const Plan& plan, std::string& text) {
  Line(text, "\npages");
  for (const Page& page : plan.pages) {
    const Cache& cache = plan.request.model.caches[page.cache];
    Line(text, "  {}: {} tokens / {} = {} rows * {} = {} -> multiple of {}: {}", cache.name,
         cache.block_tokens, cache.ratio, page.rows, page.row_bytes, Grouped(page.natural_bytes),
         page.alignment, Grouped(page.bytes));
  }
}

void ExplainGroup(const Plan& plan, const Group& group, std::string& text) {
  Line(text, "  {}", group.name);
  for (const Group::Member& member : group.members) {
    Line(text, "    {} layers * {} ({})", member.layers.size(),
         Grouped(plan.pages[member.cache].bytes), plan.request.model.caches[member.cache].name);
  }
  const Request& request = plan.request;
  const std::string charged =
      group.window == 0
          ? fmt::format("{}", Grouped(request.max_model_len))
          : fmt::format("min({} - 1 + {}, {}) = {}", group.window, Grouped(plan.in_flight_tokens),
                        Grouped(request.max_model_len), Grouped(group.charged_tokens));
  Line(text, "    bytes {}; a request: ceil({} / {}){} = {} blocks, {} with nothing in flight",
       Grouped(group.page_bytes), charged, group.block_tokens, group.window == 0 ? "" : " + 1",
       Grouped(group.request_blocks), Grouped(group.steady_blocks));
}

void ExplainGroups(const Plan& plan, std::string& text) {
  const Request& request = plan.request;
  Line(text, "\ngroups (of at most {} layers of a page size, except those that are not balanced)",
       plan.repeats);
  Line(text, "  tokens in flight: {} batches * {} = {}", request.concurrent_batches,
       Grouped(request.batched_tokens), Grouped(plan.in_flight_tokens));
  for (const Group& group : plan.groups) ExplainGroup(plan, group, text);
}

void ExplainRanks(const Plan& plan, std::string& text) {
  Line(text, "\nranks ({} tensor ranks hold the same)", plan.request.tensor_ranks);
  for (const Rank& rank : plan.ranks) {
    std::string groups;
    for (const std::int64_t bytes : rank.group_bytes) {
      groups += (groups.empty() ? "" : ", ") + Grouped(bytes);
    }
    Line(text, "  layers {} to {}: block of {} bytes from groups of {}", rank.first_layer,
         rank.first_layer + rank.layers - 1, Grouped(rank.block_bytes), groups);
    Line(text, "    {} bytes / {} = {} blocks; {} bytes unused", Grouped(rank.cache_bytes),
         Grouped(rank.block_bytes), Grouped(rank.blocks), Grouped(rank.spare_bytes));
  }
}

void ExplainTokens(const Plan& plan, std::string& text) {
  const Request& request = plan.request;
  Line(text, "\ntokens");
  Line(text, "  {} blocks * {} / {} blocks a request = {} tokens", Grouped(plan.blocks),
       Grouped(request.max_model_len), Grouped(plan.request_blocks), Grouped(plan.tokens));
  Line(text, "  one block is kept for padding; then {} requests of {} tokens fit at once",
       Grouped(plan.full_requests), Grouped(request.max_model_len));
  Line(text, "  longest context that memory holds: {} tokens", Grouped(plan.longest_context));
  Line(text, "  caches of the whole context cost {} bytes for {} tokens, the indexer {} of them",
       Grouped(plan.full_group_bytes), Grouped(plan.span_tokens), Grouped(plan.indexer_bytes));
}

void ExplainTransients(const Transients& transients, std::string& text) {
  for (const Phase& phase : transients.phases) {
    Line(text, "\n{} needs besides {} bytes, {} with fused selection", phase.name,
         Grouped(phase.bytes), Grouped(phase.fused_bytes));
    for (const Buffer& buffer : phase.buffers) {
      Line(text, "  {}: {} = {}, fused {}", buffer.name, buffer.formula, Grouped(buffer.bytes),
           Grouped(buffer.fused_bytes));
    }
  }
  if (!transients.tile) return;
  const Tile& tile = *transients.tile;
  Line(text, "\ntile of a budget of {} bytes: ({} - {}) / {} = {} rows, {} tiles",
       Grouped(tile.budget), Grouped(tile.budget), Grouped(tile.fixed_bytes),
       Grouped(tile.row_bytes), Grouped(tile.rows), Grouped(tile.tiles));
}

}  // namespace

std::string Explain(const Plan& plan, const Transients& transients) {
  std::string text;
  ExplainRequest(plan, text);
  ExplainPages(plan, text);
  ExplainGroups(plan, text);
  ExplainRanks(plan, text);
  ExplainTokens(plan, text);
  ExplainTransients(transients, text);
  return text;
}

}  // namespace lijit::capacity
