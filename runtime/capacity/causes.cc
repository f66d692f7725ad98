// SPDX-License-Identifier: Apache-2.0
#include "runtime/capacity/causes.h"

#include <fmt/format.h>

#include <algorithm>

namespace lijit::capacity {
namespace {

Variant Changed(const Plan& plan, std::string detail) {
  return {.request = plan.request, .indexer = plan.indexer, .detail = std::move(detail)};
}

std::vector<Variant> OtherMemory(const Plan& plan, const Observed& observed) {
  if (!observed.cache_bytes) return {};
  const ObservedRange range = *observed.cache_bytes;
  Variant variant =
      Changed(plan, range.low == range.high
                        ? fmt::format("the engine had {} bytes for its cache", Grouped(range.low))
                        : fmt::format("the engine had {} to {} bytes for its cache",
                                      Grouped(range.low), Grouped(range.high)));
  variant.request.memory = {.cache_bytes = {range.low}};
  return {variant};
}

std::vector<Variant> OtherLength(const Plan& plan, const Observed& observed) {
  if (!observed.max_model_len) return {};
  Variant variant = Changed(
      plan, fmt::format("the engine's max model length is {}", Grouped(*observed.max_model_len)));
  variant.request.max_model_len = *observed.max_model_len;
  return {variant};
}

std::vector<Variant> OtherIndexer(const Plan& plan, const Observed&) {
  std::vector<Variant> variants;
  for (const IndexerFormat format : kIndexerFormats) {
    if (format == plan.indexer) continue;
    variants.push_back(
        Changed(plan, fmt::format("the engine's indexer cache is {}", IndexerFormatName(format))));
    variants.back().indexer = format;
  }
  return variants;
}

std::vector<Variant> OtherLayout(const Plan& plan, const Observed&) {
  std::vector<Variant> variants;
  for (const Layout& layout : Layouts()) {
    if (layout.name == plan.request.layout->name) continue;
    Variant variant = Changed(
        plan, fmt::format("the engine pads pages as {} does: latents to {}, "
                          "indexer to {}, windows to {}, states to {}",
                          layout.name, layout.latent, layout.indexer, layout.window, layout.state));
    variant.request.layout = layout;
    variants.push_back(variant);
    if (layout.latent_format.empty()) continue;
    variant.request.latent_format = layout.latent_format;
    variant.detail += fmt::format(", with a main cache of {}", layout.latent_format);
    variants.push_back(std::move(variant));
  }
  return variants;
}

std::vector<Variant> OtherPool(const Plan& plan, const Observed&) {
  std::vector<Variant> variants;
  for (const Pool pool : {Pool::kOverlay, Pool::kBuckets}) {
    if (pool == plan.request.pool) continue;
    variants.push_back(Changed(
        plan, fmt::format("the engine lays its pool out by the rule '{}'", PoolName(pool))));
    variants.back().request.pool = pool;
  }
  return variants;
}

std::vector<Variant> OtherLatent(const Plan& plan, const Observed&) {
  std::vector<Variant> variants;
  for (const LatentFormat& format : LatentFormats()) {
    variants.push_back(Changed(plan, fmt::format("the engine's main cache is {}", format.name)));
    variants.back().request.latent_format = format.name;
    variants.back().request.latent_row_bytes = 0;
  }
  return variants;
}

std::vector<Variant> OtherCharge(const Plan& plan, const Observed&) {
  std::vector<Variant> variants;
  variants.push_back(Changed(plan, "the engine charges a request nothing for tokens in flight"));
  variants.back().request.batched_tokens = 0;
  const std::int64_t most = std::max<std::int64_t>(2, plan.request.pipeline_ranks + 1);
  for (std::int64_t batches = 1; batches <= most; ++batches) {
    if (batches == plan.request.concurrent_batches) continue;
    variants.push_back(Changed(
        plan, fmt::format("the engine charges a request for {} batches of {} tokens in flight",
                          batches, Grouped(plan.request.batched_tokens))));
    variants.back().request.concurrent_batches = batches;
  }
  return variants;
}

std::vector<Variant> OtherBatchedTokens(const Plan& plan, const Observed&) {
  std::vector<Variant> variants;
  for (std::int64_t tokens = 512; tokens <= 65536; tokens *= 2) {
    if (tokens == plan.request.batched_tokens) continue;
    variants.push_back(Changed(plan, fmt::format("the engine batches {} tokens", Grouped(tokens))));
    variants.back().request.batched_tokens = tokens;
  }
  return variants;
}

std::vector<Variant> NullBlock(const Plan& plan, const Observed&) {
  Variant variant = Changed(plan, "the engine does not count the block that it keeps for padding");
  variant.missing_blocks = 1;
  return {variant};
}

std::vector<Variant> OtherDraftLayers(const Plan& plan, const Observed&) {
  std::vector<Variant> variants;
  for (int layers = 0; layers <= 3; ++layers) {
    if (layers == plan.request.draft_layers) continue;
    variants.push_back(
        Changed(plan, fmt::format("the engine has caches for {} speculative layers", layers)));
    variants.back().request.draft_layers = layers;
  }
  return variants;
}

// The layers of the first latent cache of the whole context.
std::vector<Variant> NoSharing(const Plan& plan, const Observed&) {
  for (const Cache& cache : plan.request.model.caches) {
    if (cache.role != Role::kLatent || cache.window != 0) continue;
    Result<Model> model = WithIndexerLayers(plan.request.model, cache.layers);
    if (!model) return {};
    Variant variant = Changed(
        plan, fmt::format("the engine keeps an indexer cache in {} layers", cache.layers.size()));
    variant.request.model = std::move(model).value();
    return {variant};
  }
  return {};
}

std::vector<Variant> OtherIndexerRows(const Plan& plan, const Observed&) {
  std::vector<Variant> variants;
  const auto add = [&](std::int64_t row_bytes, std::string_view what) {
    variants.push_back(Changed(
        plan, fmt::format("the engine counts {} bytes for an indexer row: {}", row_bytes, what)));
    for (Cache& cache : variants.back().request.model.caches) {
      if (cache.role == Role::kIndexer) cache.row_bytes = row_bytes;
    }
  };
  const std::int64_t dim = plan.request.model.indexer_head_dim;
  for (const Page& page : plan.pages) {
    if (plan.request.model.caches[page.cache].role != Role::kIndexer) continue;
    add(plan.indexer == IndexerFormat::kFp8 ? dim : dim / 2, "it leaves the scales out");
    add(page.row_bytes * 2, "it counts keys and values, but there are only keys");
    break;
  }
  return variants;
}

std::vector<Variant> OtherPipeline(const Plan& plan, const Observed&) {
  std::vector<Variant> variants;
  for (const int ranks : {1, 2, 4, 8}) {
    if (ranks == plan.request.pipeline_ranks || ranks > plan.request.model.layers) continue;
    if (plan.request.memory.cache_bytes.size() > 1) continue;
    // With the batches that such an engine has in flight, or with ours.
    for (const std::int64_t batches : {std::int64_t{0}, plan.request.concurrent_batches}) {
      variants.push_back(Changed(plan, fmt::format("the engine has {} pipeline ranks", ranks)));
      variants.back().request.pipeline_ranks = ranks;
      variants.back().request.concurrent_batches = batches;
    }
  }
  return variants;
}

std::vector<Variant> FloatingPoint(const Plan& plan, const Observed&) {
  Variant variant = Changed(plan, "the engine's tokens went through a floating-point quotient");
  variant.floating_point = true;
  return {variant};
}

}  // namespace

const std::vector<Cause>& Causes() {
  static const std::vector<Cause> causes = {
#define CAUSE(name, function) {name, function},
#include "runtime/capacity/causes.def"
  };
  return causes;
}

}  // namespace lijit::capacity
