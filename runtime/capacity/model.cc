// SPDX-License-Identifier: Apache-2.0
// The tables of models, latent formats and layouts.
#include <fmt/format.h>

#include "lijit/capacity.h"

namespace lijit::capacity {
namespace {

struct CacheRow {
  std::string_view model, name, layers;
  std::int64_t block_tokens, ratio, row_bytes, window;
  Role role;
  bool in_draft_layers;
};

constexpr CacheRow kCaches[] = {
#define MODEL(...)
#define CACHE(model, name, role, layers, block_tokens, ratio, row_bytes, window, in_draft_layers) \
  {model, name, layers, block_tokens, ratio, row_bytes, window, Role::role, in_draft_layers},
#include "runtime/capacity/models.def"
};

struct ModelRow {
  std::string_view name;
  int layers;
  LatentFamily family;
  std::string_view latent_format, layout;
  std::int64_t max_model_len, indexer_heads, indexer_head_dim, top_k;
  std::string_view source;
};

constexpr ModelRow kModels[] = {
#define CACHE(...)
#define MODEL(name, layers, family, ...) {name, layers, LatentFamily::family, __VA_ARGS__},
#include "runtime/capacity/models.def"
};

Cache MakeCache(const CacheRow& row) {
  Result<std::vector<int>> layers = ParseLayers(row.layers);
  LIJIT_CHECK(layers.ok());
  return {.name = std::string(row.name),
          .role = row.role,
          .layers = std::move(layers).value(),
          .block_tokens = row.block_tokens,
          .ratio = row.ratio,
          .row_bytes = row.row_bytes,
          .window = row.window,
          .in_draft_layers = row.in_draft_layers};
}

Model MakeModel(const ModelRow& row) {
  Model model = {.name = std::string(row.name),
                 .source = std::string(row.source),
                 .layers = row.layers,
                 .family = row.family,
                 .latent_format = std::string(row.latent_format),
                 .layout = std::string(row.layout),
                 .max_model_len = row.max_model_len,
                 .indexer_heads = row.indexer_heads,
                 .indexer_head_dim = row.indexer_head_dim,
                 .top_k = row.top_k};
  for (const CacheRow& cache : kCaches) {
    if (cache.model == row.name) model.caches.push_back(MakeCache(cache));
  }
  return model;
}

std::vector<Model> ModelsOfTable() {
  std::vector<Model> models;
  for (const ModelRow& row : kModels) models.push_back(MakeModel(row));
  return models;
}

// "a, b, c" of a table's names.
template <typename Table>
std::string Names(const Table& table) {
  std::string names;
  for (const auto& row : table) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

// The row of that name, or which there are.
template <typename Row>
Result<Row> FindRow(const std::vector<Row>& table, std::string_view name, std::string_view what) {
  for (const Row& row : table) {
    if (row.name == name) return row;
  }
  return InvalidArgument(
      fmt::format("{} '{}' is not known; known are {}", what, name, Names(table)));
}

}  // namespace

std::string_view IndexerFormatName(IndexerFormat format) {
  return format == IndexerFormat::kFp8 ? "fp8" : "mxfp4";
}

Result<IndexerFormat> ParseIndexerFormat(std::string_view text) {
  if (text == "fp8" || text == "fp8_e4m3") return IndexerFormat::kFp8;
  if (text == "mxfp4") return IndexerFormat::kMxfp4;
  return InvalidArgument(fmt::format("indexer '{}' is not known; known are fp8, mxfp4", text));
}

std::string_view RoleName(Role role) {
  constexpr std::string_view kNames[] = {"latent", "indexer", "window", "state"};
  return kNames[static_cast<int>(role)];
}

std::string_view PoolName(Pool pool) { return pool == Pool::kOverlay ? "overlay" : "buckets"; }

Result<Pool> ParsePool(std::string_view text) {
  if (text == "overlay") return Pool::kOverlay;
  if (text == "buckets") return Pool::kBuckets;
  return InvalidArgument(fmt::format("pool '{}' is not known; known are overlay, buckets", text));
}

const std::vector<Model>& Models() {
  static const std::vector<Model> models = ModelsOfTable();
  return models;
}

Result<Model> FindModel(std::string_view name) { return FindRow(Models(), name, "model"); }

const std::vector<LatentFormat>& LatentFormats() {
  static const std::vector<LatentFormat> formats = {
#define LATENT(name, v32, v4, source) {name, v32, v4, source},
#include "runtime/capacity/latent_formats.def"
  };
  return formats;
}

const std::vector<Layout>& Layouts() {
  static const std::vector<Layout> layouts = {
#define LAYOUT(name, latent, indexer, window, state, latent_format, source) \
  {name, latent, indexer, window, state, latent_format, source},
#include "runtime/capacity/layouts.def"
  };
  return layouts;
}

Result<Layout> FindLayout(std::string_view name) { return FindRow(Layouts(), name, "layout"); }

Result<Model> WithIndexerLayers(Model model, const std::vector<int>& layers) {
  bool has_indexer = false;
  for (Cache& cache : model.caches) {
    if (cache.role != Role::kIndexer) continue;
    has_indexer = true;
    cache.layers = layers;
    cache.in_draft_layers = false;
  }
  if (has_indexer) return model;
  return InvalidArgument(fmt::format("model '{}' has no indexer cache to share", model.name));
}

}  // namespace lijit::capacity
