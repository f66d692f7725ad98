// SPDX-License-Identifier: Apache-2.0
// `lijit plan`: what a cache holds, before the engine starts and after.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "lijit/capacity.h"
#include "tools/capacity_files.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/render_plan.h"
#include "tools/text_table.h"

namespace lijit::tools {
namespace {

using capacity::IndexerFormat;
using capacity::Observed;
using capacity::Request;

struct Options {
  Request request;
  std::string model, indexer = "fp8", layout, pool = "overlay", latent, indexer_layers;
  std::int64_t page_align = 0;
  std::string memory, fraction = "1", weights = "0", reserve = "0", transient_budget = "0";
  std::vector<std::string> cache_memory;
  std::string observed, svg;
  bool explain = false, markdown = false;
};

Result<std::int64_t> ParseSize(std::string_view option, const std::string& text) {
  Result<std::int64_t> bytes = capacity::ParseBytes(text);
  if (!bytes) return InvalidArgument(fmt::format("{}: {}", option, bytes.error().message));
  return bytes;
}

Result<capacity::Model> LoadModel(const Options& options) {
  if (!options.model.ends_with(".json") && options.model != "-") {
    return capacity::FindModel(options.model);
  }
  LIJIT_ASSIGN(const std::string text, ReadFile(options.model));
  return ParseModelFile(text, options.model);
}

Status ApplyModel(const Options& options, Request& request) {
  LIJIT_ASSIGN(request.model, LoadModel(options));
  if (options.indexer_layers.empty()) return {};
  LIJIT_ASSIGN(const std::vector<int> layers, capacity::ParseLayers(options.indexer_layers));
  LIJIT_ASSIGN(request.model, capacity::WithIndexerLayers(std::move(request.model), layers));
  return {};
}

Status ApplyLayout(const Options& options, Request& request) {
  if (!options.layout.empty()) {
    LIJIT_ASSIGN(request.layout, capacity::FindLayout(options.layout));
  }
  if (options.page_align != 0) {
    const std::int64_t align = options.page_align;
    request.layout = capacity::Layout{"custom", align, align, align, align, "", "--page-align"};
  }
  LIJIT_ASSIGN(request.pool, capacity::ParsePool(options.pool));
  request.latent_format = options.latent;
  return {};
}

// An engine's own memory and length stand in for those that are not given.
void ApplyObserved(const std::optional<Observed>& observed, Request& request) {
  if (!observed) return;
  if (request.memory.total_bytes == 0 && request.memory.cache_bytes.empty() &&
      observed->cache_bytes) {
    request.memory.cache_bytes = {observed->cache_bytes->low};
  }
  if (request.max_model_len == 0 && observed->max_model_len) {
    request.max_model_len = *observed->max_model_len;
  }
}

Status ApplyMemory(const Options& options, Request& request) {
  capacity::Memory& memory = request.memory;
  if (!options.memory.empty()) {
    LIJIT_ASSIGN(memory.total_bytes, ParseSize("--memory", options.memory));
  }
  LIJIT_ASSIGN(memory.fraction_millionths, capacity::ParseFraction(options.fraction));
  LIJIT_ASSIGN(memory.weights_bytes, ParseSize("--weights", options.weights));
  LIJIT_ASSIGN(memory.reserved_bytes, ParseSize("--reserve", options.reserve));
  LIJIT_ASSIGN(request.transient_budget, ParseSize("--transient-budget", options.transient_budget));
  for (const std::string& text : options.cache_memory) {
    LIJIT_ASSIGN(const std::int64_t bytes, ParseSize("--cache-memory", text));
    memory.cache_bytes.push_back(bytes);
  }
  return {};
}

Result<std::optional<Observed>> LoadObserved(const Options& options) {
  if (options.observed.empty()) return std::optional<Observed>();
  LIJIT_ASSIGN(const std::string text, ReadFile(options.observed));
  LIJIT_ASSIGN(Observed observed, ParseObservedFile(text, options.observed));
  return std::optional<Observed>(std::move(observed));
}

Result<Request> MakeRequest(const Options& options, const std::optional<Observed>& observed) {
  Request request = options.request;
  LIJIT_TRY(ApplyModel(options, request));
  LIJIT_TRY(ApplyLayout(options, request));
  LIJIT_TRY(ApplyMemory(options, request));
  ApplyObserved(observed, request);
  if (request.memory.total_bytes == 0 && request.memory.cache_bytes.empty()) {
    return InvalidArgument(
        "no memory is given; give a device's by --memory 24GiB, or the cache's by --cache-memory "
        "8GiB");
  }
  return request;
}

Result<PlanResult> MakeResult(const Request& request, IndexerFormat of_engine,
                              const std::optional<Observed>& observed) {
  PlanResult result;
  result.plans.reserve(std::size(capacity::kIndexerFormats));
  result.transients.reserve(std::size(capacity::kIndexerFormats));
  for (const IndexerFormat format : capacity::kIndexerFormats) {
    LIJIT_ASSIGN(result.plans.emplace_back(), capacity::MakePlan(request, format));
    LIJIT_ASSIGN(result.transients.emplace_back(), capacity::MakeTransients(result.plans.back()));
    if (!observed || format != of_engine) continue;
    LIJIT_ASSIGN(result.reconciliation, capacity::Reconcile(result.plans.back(), *observed));
  }
  return result;
}

std::string RenderText(const Options& options, const PlanResult& result, IndexerFormat of_engine) {
  if (options.markdown) {
    return capacity::MarkdownReport(result.plans, result.transients,
                                    result.reconciliation ? &*result.reconciliation : nullptr);
  }
  std::string text = PlanText(result);
  for (std::size_t i = 0; options.explain && i < result.plans.size(); ++i) {
    if (result.plans[i].indexer != of_engine) continue;
    text += "\n" + Printable(capacity::Explain(result.plans[i], result.transients[i]));
  }
  return text;
}

// Up to the memory of the rank that has most.
Status WritePlot(const Options& options, const PlanResult& result) {
  if (options.svg.empty()) return {};
  std::int64_t high = 1;
  for (const capacity::Rank& rank : result.plans[0].ranks) {
    high = std::max(high, rank.cache_bytes);
  }
  LIJIT_ASSIGN(const std::string svg, capacity::PlotSvg(result.plans[0].request, high));
  return WriteFile(options.svg, svg);
}

Result<Report> DoPlan(const Options& options) {
  LIJIT_ASSIGN(const IndexerFormat of_engine, capacity::ParseIndexerFormat(options.indexer));
  LIJIT_ASSIGN(const std::optional<Observed> observed, LoadObserved(options));
  LIJIT_ASSIGN(const Request request, MakeRequest(options, observed));
  LIJIT_ASSIGN(const PlanResult result, MakeResult(request, of_engine, observed));
  LIJIT_TRY(WritePlot(options, result));
  return Report{
      .json = PlanJson(result), .text = RenderText(options, result, of_engine), .ok = result.ok()};
}

template <typename Table>
std::string Names(const Table& table) {
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const auto& row : table) names.emplace_back(row.name);
  return Join(names);
}

void AddModelOptions(CLI::App& app, Options& options) {
  Request& request = options.request;
  app.add_option("--model", options.model, Names(capacity::Models()) + "; or FILE.json")
      ->required();
  app.add_option("--indexer", options.indexer,
                 "fp8 or mxfp4: what the engine runs;\nboth are planned")
      ->capture_default_str();
  app.add_option("--indexer-layers", options.indexer_layers,
                 "layers with an indexer of their own, 0-2,6-74:4;\nthe others share its choice");
  auto* const layout = app.add_option("--layout", options.layout,
                                      Names(capacity::Layouts()) + " (default: the model's)");
  app.add_option("--page-align", options.page_align, "pad all pages to this multiple of bytes")
      ->check(CLI::PositiveNumber)
      ->excludes(layout);
  app.add_option("--pool", options.pool, "overlay, or buckets as before vLLM #48993")
      ->capture_default_str();
  app.add_option("--latent", options.latent,
                 "main cache: " + Names(capacity::LatentFormats()) + " (default: the model's)");
  app.add_option("--latent-row-bytes", request.latent_row_bytes,
                 "bytes of a row, for a main cache that is not listed");
  app.add_option("--draft-layers", request.draft_layers, "speculative (MTP) layers")
      ->capture_default_str();
}

void AddMemoryOptions(CLI::App& app, Options& options) {
  app.add_option("--memory", options.memory, "of a device, for example 24GiB");
  app.add_option("--fraction", options.fraction, "of --memory that may be used")
      ->capture_default_str();
  app.add_option("--weights", options.weights, "bytes of weights on a device")
      ->capture_default_str();
  app.add_option("--reserve", options.reserve, "bytes for activations, graphs and libraries")
      ->capture_default_str();
  app.add_option("--cache-memory", options.cache_memory,
                 "in place of --memory: the cache's own,\none size, or one a pipeline rank")
      ->delimiter(',');
  app.add_option("--tensor-ranks", options.request.tensor_ranks, "each holds the whole cache")
      ->capture_default_str();
  app.add_option("--pipeline-ranks", options.request.pipeline_ranks,
                 "each holds its layers' caches")
      ->capture_default_str();
}

void AddLoadOptions(CLI::App& app, Options& options) {
  Request& request = options.request;
  app.add_option("--max-model-len", request.max_model_len, "tokens (default: the model's)");
  app.add_option("--batched-tokens", request.batched_tokens, "of a scheduler step")
      ->capture_default_str();
  app.add_option("--concurrent-batches", request.concurrent_batches,
                 "in flight (default: 2, or one more than pipeline ranks)");
  app.add_option("--concurrency", request.concurrency, "requests that decode at once")
      ->capture_default_str();
  app.add_option("--next-n", request.next_n, "query rows of each in a step")->capture_default_str();
  app.add_option("--gather-contexts", request.gather_contexts,
                 "longest contexts that prefill gathers at once")
      ->capture_default_str();
  app.add_option("--transient-budget", options.transient_budget,
                 "choose a tile of prefill rows that fits")
      ->capture_default_str();
}

}  // namespace

Action AddPlan(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  AddModelOptions(app, *options);
  AddMemoryOptions(app, *options);
  AddLoadOptions(app, *options);
  app.add_option("--observed", options->observed,
                 "compare with this log or JSON of an engine, - is stdin");
  app.add_flag("--explain", options->explain, "show every intermediate");
  app.add_flag("--markdown", options->markdown, "print a report in Markdown");
  app.add_option("--svg", options->svg, "write a plot of tokens against memory");
  app.footer(
      "Exact integers; docs/capacity.md walks one case from flags to bytes. With --observed the\n"
      "exit code is 0 if the numbers agree or one cause explains the difference exactly, else 1.\n"
      "Example:\n"
      "  lijit plan --model deepseek-v4-flash --memory 80GiB --fraction 0.92 --weights 40GiB \\\n"
      "    --max-model-len 131072");
  return [options](Progress&) { return DoPlan(*options); };
}

}  // namespace lijit::tools
