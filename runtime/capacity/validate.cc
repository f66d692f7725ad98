// SPDX-License-Identifier: Apache-2.0
#include "runtime/capacity/validate.h"

#include <fmt/format.h>

#include "runtime/capacity/limits.h"

namespace lijit::capacity {
namespace {

Status CheckRange(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return {};
  return InvalidArgument(fmt::format("{} is {}; accepted is {} to {}", what, value, low, high));
}

Status CheckLayers(const Model& model, const Cache& cache) {
  const std::string what = fmt::format("layers of cache '{}' of '{}'", cache.name, model.name);
  if (cache.layers.empty()) return InvalidArgument(what + " are none; give at least one");
  int before = -1;
  for (const int layer : cache.layers) {
    if (layer <= before || layer >= model.layers) {
      return InvalidArgument(
          fmt::format("{} have {} after {}; accepted are ascending numbers from 0 to {}", what,
                      layer, before, model.layers - 1));
    }
    before = layer;
  }
  return {};
}

Status CheckCache(const Model& model, const Cache& cache) {
  const auto check = [&](std::string_view member, std::int64_t value, std::int64_t low,
                         std::int64_t high) {
    return CheckRange(fmt::format("{} of cache '{}' of '{}'", member, cache.name, model.name),
                      value, low, high);
  };
  LIJIT_TRY(CheckLayers(model, cache));
  LIJIT_TRY(check("block_tokens", cache.block_tokens, 1, kMaxBlockTokens));
  LIJIT_TRY(check("ratio", cache.ratio, 1, cache.block_tokens));
  LIJIT_TRY(check("row_bytes", cache.row_bytes, cache.role == Role::kState ? 1 : 0, kMaxRowBytes));
  LIJIT_TRY(check("window", cache.window, 0, kMaxTokens));
  if (cache.block_tokens % cache.ratio == 0) return {};
  return InvalidArgument(
      fmt::format("block_tokens {} of cache '{}' of '{}' is no multiple of its ratio {}",
                  cache.block_tokens, cache.name, model.name, cache.ratio));
}

Status CheckModel(const Model& model) {
  LIJIT_TRY(
      CheckRange(fmt::format("layers of model '{}'", model.name), model.layers, 1, kMaxLayers));
  LIJIT_TRY(CheckRange(fmt::format("caches of model '{}'", model.name),
                       static_cast<std::int64_t>(model.caches.size()), 1, kMaxCaches));
  for (const Cache& cache : model.caches) LIJIT_TRY(CheckCache(model, cache));
  LIJIT_TRY(CheckRange("indexer_heads", model.indexer_heads, 0, kMaxHeads));
  LIJIT_TRY(CheckRange("indexer_head_dim", model.indexer_head_dim, 32, kMaxHeads));
  LIJIT_TRY(CheckRange("top_k", model.top_k, 0, kMaxTokens));
  if (model.indexer_head_dim % 32 == 0) return {};
  return InvalidArgument(fmt::format(
      "indexer_head_dim is {}; accepted are multiples of 32, the block of an mxfp4 scale",
      model.indexer_head_dim));
}

Status CheckLayout(const Layout& layout) {
  for (const std::int64_t alignment :
       {layout.latent, layout.indexer, layout.window, layout.state}) {
    LIJIT_TRY(CheckRange(fmt::format("page alignment of layout '{}'", layout.name), alignment, 1,
                         kMaxAlignment));
  }
  return {};
}

Status CheckMemory(const Request& request) {
  const Memory& memory = request.memory;
  const auto ranks = static_cast<std::size_t>(request.pipeline_ranks);
  for (const std::int64_t bytes : memory.cache_bytes) {
    LIJIT_TRY(CheckRange("memory for the cache", bytes, 0, INT64_MAX));
  }
  LIJIT_TRY(CheckRange("memory of a device", memory.total_bytes, 0, INT64_MAX));
  LIJIT_TRY(CheckRange("fraction in millionths", memory.fraction_millionths, 0, 1'000'000));
  LIJIT_TRY(CheckRange("bytes of weights", memory.weights_bytes, 0, INT64_MAX));
  LIJIT_TRY(CheckRange("reserved bytes", memory.reserved_bytes, 0, INT64_MAX));
  if (memory.cache_bytes.empty()) {
    if (memory.total_bytes > 0) return {};
    return InvalidArgument("no memory is given; give a device's, or the cache's");
  }
  if (memory.total_bytes > 0) {
    return InvalidArgument("both a device's memory and the cache's are given; give one of them");
  }
  if (memory.cache_bytes.size() == 1 || memory.cache_bytes.size() == ranks) return {};
  return InvalidArgument(
      fmt::format("memory for the cache has {} numbers for {} pipeline ranks; give one for all or "
                  "one for each",
                  memory.cache_bytes.size(), ranks));
}

Status CheckCounts(const Request& request) {
  LIJIT_TRY(CheckRange("speculative layers", request.draft_layers, 0, kMaxLayers));
  LIJIT_TRY(CheckRange("tensor ranks", request.tensor_ranks, 1, kMaxRanks));
  LIJIT_TRY(CheckRange("pipeline ranks", request.pipeline_ranks, 1, request.model.layers));
  LIJIT_TRY(CheckRange("max model length", request.max_model_len, 1, kMaxTokens));
  LIJIT_TRY(CheckRange("batched tokens", request.batched_tokens, 0, kMaxTokens));
  LIJIT_TRY(CheckRange("concurrent batches", request.concurrent_batches, 1, kMaxRanks));
  LIJIT_TRY(CheckRange("concurrency", request.concurrency, 1, kMaxTokens));
  LIJIT_TRY(CheckRange("next_n", request.next_n, 1, kMaxHeads));
  LIJIT_TRY(CheckRange("gathered contexts", request.gather_contexts, 0, kMaxTokens));
  return CheckRange("transient budget", request.transient_budget, 0, INT64_MAX);
}

const LatentFormat* FindLatentFormat(std::string_view name) {
  for (const LatentFormat& format : LatentFormats()) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::int64_t RowBytes(const LatentFormat& format, LatentFamily family) {
  return family == LatentFamily::kV4 ? format.v4_row_bytes : format.v32_row_bytes;
}

Status CheckLatent(const Request& request) {
  if (request.latent_row_bytes != 0) {
    return CheckRange("latent row bytes", request.latent_row_bytes, 1, kMaxRowBytes);
  }
  const LatentFormat* const format = FindLatentFormat(request.latent_format);
  if (format != nullptr && RowBytes(*format, request.model.family) > 0) return {};
  std::string known;
  for (const LatentFormat& each : LatentFormats()) {
    if (RowBytes(each, request.model.family) == 0) continue;
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  return InvalidArgument(fmt::format(
      "latent format '{}' is not known for {}; known are {}, or give the bytes of a row",
      request.latent_format, request.model.name, known));
}

}  // namespace

Result<Request> Resolve(Request request) {
  LIJIT_TRY(CheckModel(request.model));
  if (!request.layout) {
    LIJIT_ASSIGN(request.layout, FindLayout(request.model.layout));
  }
  if (request.latent_format.empty()) request.latent_format = request.layout->latent_format;
  if (request.latent_format.empty()) request.latent_format = request.model.latent_format;
  if (request.max_model_len == 0) request.max_model_len = request.model.max_model_len;
  if (request.concurrent_batches == 0) {
    request.concurrent_batches = request.pipeline_ranks == 1 ? 2 : request.pipeline_ranks + 1;
  }
  LIJIT_TRY(CheckCounts(request));
  LIJIT_TRY(CheckLayout(*request.layout));
  LIJIT_TRY(CheckLatent(request));
  LIJIT_TRY(CheckMemory(request));
  return request;
}

std::int64_t LatentRowBytes(const Request& request) {
  if (request.latent_row_bytes != 0) return request.latent_row_bytes;
  const LatentFormat* const format = FindLatentFormat(request.latent_format);
  LIJIT_CHECK(format != nullptr);
  return RowBytes(*format, request.model.family);
}

}  // namespace lijit::capacity
