// SPDX-License-Identifier: Apache-2.0
#include "tools/render_plan.h"

#include <fmt/format.h>

#include "tools/text_table.h"

namespace lijit::tools {
namespace {

using capacity::Grouped;
using capacity::Plan;
using capacity::Reconciliation;
using capacity::Transients;
using nlohmann::json;

// For fields that are quotients: 708.75 bytes a token.
double Quotient(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

json PagesJson(const Plan& plan) {
  json pages = json::array();
  for (const capacity::Page& page : plan.pages) {
    const capacity::Cache& cache = plan.request.model.caches[page.cache];
    pages.push_back({{"cache", cache.name},
                     {"role", capacity::RoleName(cache.role)},
                     {"layers", cache.layers.size()},
                     {"block_tokens", cache.block_tokens},
                     {"rows", page.rows},
                     {"row_bytes", page.row_bytes},
                     {"natural_bytes", page.natural_bytes},
                     {"alignment", page.alignment},
                     {"bytes", page.bytes}});
  }
  return pages;
}

json GroupsJson(const Plan& plan) {
  json groups = json::array();
  for (const capacity::Group& group : plan.groups) {
    json layers = json::object();
    for (const auto& member : group.members) {
      layers[plan.request.model.caches[member.cache].name] = member.layers.size();
    }
    groups.push_back({{"name", group.name},
                      {"block_tokens", group.block_tokens},
                      {"window", group.window},
                      {"layers", layers},
                      {"bytes", group.page_bytes},
                      {"charged_tokens", group.charged_tokens},
                      {"request_blocks", group.request_blocks},
                      {"steady_blocks", group.steady_blocks}});
  }
  return groups;
}

json RanksJson(const Plan& plan) {
  json ranks = json::array();
  for (const capacity::Rank& rank : plan.ranks) {
    ranks.push_back({{"first_layer", rank.first_layer},
                     {"layers", rank.layers},
                     {"group_bytes", rank.group_bytes},
                     {"block_bytes", rank.block_bytes},
                     {"cache_bytes", rank.cache_bytes},
                     {"blocks", rank.blocks},
                     {"spare_bytes", rank.spare_bytes}});
  }
  return ranks;
}

json TileJson(const Transients& transients) {
  if (!transients.tile) return nullptr;
  const capacity::Tile& tile = *transients.tile;
  return {{"budget", tile.budget},
          {"fixed_bytes", tile.fixed_bytes},
          {"row_bytes", tile.row_bytes},
          {"rows", tile.rows},
          {"tiles", tile.tiles}};
}

json TransientsJson(const Transients& transients) {
  json phases = json::object();
  for (const capacity::Phase& phase : transients.phases) {
    json buffers = json::object();
    for (const capacity::Buffer& buffer : phase.buffers) {
      buffers[buffer.name] = {{"bytes", buffer.bytes}, {"fused_bytes", buffer.fused_bytes}};
    }
    phases[phase.name] = {
        {"bytes", phase.bytes}, {"fused_bytes", phase.fused_bytes}, {"buffers", buffers}};
  }
  return {{"peak_bytes", transients.peak_bytes},
          {"fused_peak_bytes", transients.fused_peak_bytes},
          {"peak_phase", transients.peak_phase},
          {"phases", phases},
          {"tile", TileJson(transients)}};
}

json FormatJson(const Plan& plan, const Transients& transients) {
  return {
      {"block_bytes", plan.block_bytes},
      {"indexer_bytes_per_token", Quotient(plan.indexer_bytes, plan.span_tokens)},
      {"indexer_bytes_per_token_unpadded", Quotient(plan.indexer_unpadded_bytes, plan.span_tokens)},
      {"bytes_per_token", Quotient(plan.full_group_bytes, plan.span_tokens)},
      {"blocks", plan.blocks},
      {"tokens", plan.tokens},
      {"request_blocks", plan.request_blocks},
      {"steady_blocks", plan.steady_blocks},
      {"full_requests", plan.full_requests},
      {"longest_context", plan.longest_context},
      {"starts", plan.starts},
      {"fits", plan.fits},
      {"pages", PagesJson(plan)},
      {"groups", GroupsJson(plan)},
      {"ranks", RanksJson(plan)},
      {"transients", TransientsJson(transients)}};
}

json ReconciledJson(const Reconciliation& reconciliation) {
  json comparisons = json::array(), explanations = json::array();
  for (const capacity::Comparison& each : reconciliation.comparisons) {
    comparisons.push_back({{"quantity", each.quantity},
                           {"planned", each.ours},
                           {"observed", each.theirs},
                           {"agrees", each.agrees}});
  }
  for (const capacity::Explanation& each : reconciliation.explanations) {
    explanations.push_back({{"cause", each.cause}, {"detail", each.detail}});
  }
  return {{"agrees", reconciliation.agrees},
          {"comparisons", comparisons},
          {"explanations", explanations},
          {"unexplained_bytes", reconciliation.unexplained_bytes}};
}

// One row: what, then its value in each plan.
template <typename Value>
TextRow Row(std::string label, const std::vector<Plan>& plans, Value value) {
  TextRow row = {std::move(label)};
  for (const Plan& plan : plans) row.push_back(value(plan));
  return row;
}

std::string TotalsText(const PlanResult& result) {
  TextRow headers = {""};
  for (const Plan& plan : result.plans) {
    headers.push_back(">" + std::string(capacity::IndexerFormatName(plan.indexer)));
  }
  const auto number = [&](std::string label, auto member) {
    return Row(std::move(label), result.plans,
               [member](const Plan& plan) { return Grouped(plan.*member); });
  };
  std::vector<TextRow> rows;
  rows.push_back(number("bytes of a block", &Plan::block_bytes));
  rows.push_back(Row("indexer bytes of a token", result.plans, [](const Plan& plan) {
    return fmt::format("{:.2f}", Quotient(plan.indexer_bytes, plan.span_tokens));
  }));
  rows.push_back(number("blocks", &Plan::blocks));
  rows.push_back(number("blocks of a request", &Plan::request_blocks));
  rows.push_back(number("tokens", &Plan::tokens));
  rows.push_back(number("requests at once", &Plan::full_requests));
  rows.push_back(number("longest context", &Plan::longest_context));
  TextRow peak = {"transient bytes"}, fused = {"with fused selection"};
  for (const Transients& transients : result.transients) {
    peak.push_back(Grouped(transients.peak_bytes));
    fused.push_back(Grouped(transients.fused_peak_bytes));
  }
  rows.push_back(peak);
  rows.push_back(fused);
  return TextTable(headers, rows);
}

std::string GainText(const PlanResult& result) {
  const std::int64_t fp8 = result.plans[0].tokens, mxfp4 = result.plans[1].tokens;
  if (fp8 == 0) return "";
  return fmt::format("mxfp4 holds {} tokens more, {:.4f} times as many\n", Grouped(mxfp4 - fp8),
                     Quotient(mxfp4, fp8));
}

std::string StartText(const PlanResult& result) {
  std::string text;
  for (const Plan& plan : result.plans) {
    const std::string_view format = capacity::IndexerFormatName(plan.indexer);
    if (!plan.starts) {
      text += fmt::format("With {} no request of {} tokens fits; at most {} do\n", format,
                          Grouped(plan.request.max_model_len), Grouped(plan.longest_context));
    } else if (!plan.fits) {
      text += fmt::format("With {} {} requests of {} tokens fit at once, not {}\n", format,
                          Grouped(plan.full_requests), Grouped(plan.request.max_model_len),
                          Grouped(plan.request.concurrency));
    }
  }
  return text;
}

std::string ReconciledText(const Reconciliation& reconciliation) {
  std::vector<TextRow> rows;
  for (const capacity::Comparison& each : reconciliation.comparisons) {
    rows.push_back({each.quantity, each.ours, each.theirs, std::string(YesNo(each.agrees))});
  }
  std::string text = "\n" + TextTable({"", ">planned", ">observed", "agrees"}, rows);
  for (const capacity::Explanation& each : reconciliation.explanations) {
    text += fmt::format("Explained exactly by {}: {}\n", each.cause, each.detail);
  }
  if (!reconciliation.agrees && reconciliation.explanations.empty()) {
    text += fmt::format("No single cause explains it; {} bytes remain\n",
                        Grouped(reconciliation.unexplained_bytes));
  }
  return text;
}

}  // namespace

json PlanJson(const PlanResult& result) {
  json formats = json::object();
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    formats[std::string(capacity::IndexerFormatName(result.plans[i].indexer))] =
        FormatJson(result.plans[i], result.transients[i]);
  }
  const capacity::Request& request = result.plans[0].request;
  const std::int64_t fp8 = result.plans[0].tokens, mxfp4 = result.plans[1].tokens;
  return {{"ok", result.ok()},
          {"model", request.model.name},
          {"layout", request.layout->name},
          {"pool", capacity::PoolName(request.pool)},
          {"latent_format", request.latent_format},
          {"max_model_len", request.max_model_len},
          {"in_flight_tokens", result.plans[0].in_flight_tokens},
          {"formats", formats},
          {"gain", fp8 == 0 ? json() : json(Quotient(mxfp4, fp8))},
          {"reconciled", result.reconciliation ? ReconciledJson(*result.reconciliation) : json()}};
}

std::string PlanText(const PlanResult& result) {
  const capacity::Request& request = result.plans[0].request;
  std::string text = fmt::format("{}, {} tokens a request, layout {}, pool {}\n\n",
                                 Printable(request.model.name), Grouped(request.max_model_len),
                                 request.layout->name, capacity::PoolName(request.pool));
  text += TotalsText(result) + "\n" + GainText(result) + StartText(result);
  if (result.reconciliation) text += ReconciledText(*result.reconciliation);
  return text;
}

}  // namespace lijit::tools
