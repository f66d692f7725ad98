// SPDX-License-Identifier: Apache-2.0
// The report in Markdown.
#include <fmt/format.h>

#include "lijit/capacity.h"

namespace lijit::capacity {
namespace {

// One row of a table; what would end a cell or the row is replaced.
void Row(std::string& text, const std::vector<std::string>& cells) {
  text += "|";
  for (const std::string& cell : cells) {
    text += " ";
    for (const char c : cell)
      text += c == '|' ? std::string("\\|") : std::string(1, c < ' ' && c >= 0 ? ' ' : c);
    text += " |";
  }
  text += "\n";
}

void Header(std::string& text, const std::vector<std::string>& cells) {
  Row(text, cells);
  text += "|";
  for (std::size_t i = 0; i < cells.size(); ++i) text += i == 0 ? "---|" : "---:|";
  text += "\n";
}

template <typename Value>
std::vector<std::string> Cells(std::string label, const std::vector<Plan>& plans, Value value) {
  std::vector<std::string> cells = {std::move(label)};
  for (const Plan& plan : plans) cells.push_back(Grouped(value(plan)));
  return cells;
}

void Totals(const std::vector<Plan>& plans, std::string& text) {
  std::vector<std::string> header = {""};
  for (const Plan& plan : plans) {
    header.push_back("indexer " + std::string(IndexerFormatName(plan.indexer)));
  }
  Header(text, header);
  Row(text, Cells("bytes of a block", plans, [](const Plan& p) { return p.block_bytes; }));
  Row(text, Cells("blocks", plans, [](const Plan& p) { return p.blocks; }));
  Row(text, Cells("blocks of a request", plans, [](const Plan& p) { return p.request_blocks; }));
  Row(text, Cells("**tokens**", plans, [](const Plan& p) { return p.tokens; }));
  Row(text, Cells("requests at once", plans, [](const Plan& p) { return p.full_requests; }));
  Row(text, Cells("longest context", plans, [](const Plan& p) { return p.longest_context; }));
}

void Pages(const std::vector<Plan>& plans, std::string& text) {
  text += "\n## Pages\n\n";
  std::vector<std::string> header = {"cache", "layers", "tokens", "rows"};
  for (const Plan& plan : plans) {
    header.push_back(fmt::format("bytes, {}", IndexerFormatName(plan.indexer)));
  }
  Header(text, header);
  for (std::size_t i = 0; i < plans.front().pages.size(); ++i) {
    const Page& page = plans.front().pages[i];
    const Cache& cache = plans.front().request.model.caches[page.cache];
    std::vector<std::string> cells = {cache.name, fmt::format("{}", cache.layers.size()),
                                      Grouped(cache.block_tokens), Grouped(page.rows)};
    for (const Plan& plan : plans) cells.push_back(Grouped(plan.pages[i].bytes));
    Row(text, cells);
  }
}

void Groups(const Plan& plan, std::string& text) {
  text += fmt::format("\n## Groups with indexer {}\n\n", IndexerFormatName(plan.indexer));
  Header(text, {"group", "bytes", "blocks of a request", "with nothing in flight"});
  for (const Group& group : plan.groups) {
    Row(text, {group.name, Grouped(group.page_bytes), Grouped(group.request_blocks),
               Grouped(group.steady_blocks)});
  }
}

void TransientTable(const Plan& plan, const Transients& transients, std::string& text) {
  text += fmt::format("\n## Transients with indexer {}\n\n", IndexerFormatName(plan.indexer));
  Header(text, {"buffer", "bytes", "with fused selection"});
  for (const Phase& phase : transients.phases) {
    for (const Buffer& buffer : phase.buffers) {
      Row(text, {fmt::format("{}: {} ({})", phase.name, buffer.name, buffer.formula),
                 Grouped(buffer.bytes), Grouped(buffer.fused_bytes)});
    }
    Row(text, {"**" + phase.name + "**", Grouped(phase.bytes), Grouped(phase.fused_bytes)});
  }
}

void ReconciliationTable(const Reconciliation& reconciliation, std::string& text) {
  text += "\n## Reconciliation\n\n";
  Header(text, {"quantity", "planned", "observed", "agrees"});
  for (const Comparison& each : reconciliation.comparisons) {
    Row(text, {each.quantity, each.ours, each.theirs, each.agrees ? "yes" : "**no**"});
  }
  text += "\n";
  for (const Explanation& each : reconciliation.explanations) {
    text += fmt::format("Explained exactly by {}: {}.\n", each.cause, each.detail);
  }
  if (reconciliation.agrees) {
    text += "All numbers agree.\n";
  } else if (reconciliation.explanations.empty()) {
    text += fmt::format("No single cause explains it; {} bytes remain.\n",
                        Grouped(reconciliation.unexplained_bytes));
  }
}

}  // namespace

std::string MarkdownReport(const std::vector<Plan>& plans,
                           const std::vector<Transients>& transients,
                           const Reconciliation* reconciliation) {
  LIJIT_CHECK(!plans.empty() && plans.size() == transients.size());
  const Request& request = plans.front().request;
  std::string text = fmt::format("# Capacity of {}\n\n", request.model.name);
  text += fmt::format(
      "Layout {}, pool {}, {} tokens a request, {} tokens in flight, {} tensor and {} pipeline "
      "ranks.\n\n",
      request.layout->name, PoolName(request.pool), Grouped(request.max_model_len),
      Grouped(plans.front().in_flight_tokens), request.tensor_ranks, request.pipeline_ranks);
  Totals(plans, text);
  Pages(plans, text);
  for (const Plan& plan : plans) Groups(plan, text);
  for (std::size_t i = 0; i < plans.size(); ++i) TransientTable(plans[i], transients[i], text);
  if (reconciliation != nullptr) ReconciliationTable(*reconciliation, text);
  return text;
}

}  // namespace lijit::capacity
