// SPDX-License-Identifier: Apache-2.0
// The tables of models, latent formats and layouts.
#include <fmt/format.h>

#include <algorithm>

#include "lijit/capacity.h"

namespace lijit::capacity {
namespace {

std::vector<int> LayersOfTable(std::string_view text) {
  Result<std::vector<int>> layers = ParseLayers(text);
  LIJIT_CHECK(layers.ok());
  return std::move(layers).value();
}

// Model::caches of the table's model.
std::vector<Cache> CachesOfTable(std::string_view model) {
  std::vector<Cache> caches;
#define MODEL(...)
#define CACHE(model_name, cache_name, cache_role, layer_text, tokens, rows_ratio, bytes, kept, \
              in_draft)                                                                        \
  if (model == model_name) {                                                                   \
    caches.push_back({.name = cache_name,                                                      \
                      .role = Role::cache_role,                                                \
                      .layers = LayersOfTable(layer_text),                                     \
                      .block_tokens = tokens,                                                  \
                      .ratio = rows_ratio,                                                     \
                      .row_bytes = bytes,                                                      \
                      .window = kept,                                                          \
                      .in_draft_layers = in_draft});                                           \
  }
#include "runtime/capacity/models.def"
  return caches;
}

std::vector<Model> ModelsOfTable() {
  std::vector<Model> models;
#define CACHE(...)
#define MODEL(model_name, layer_count, family_name, latent, layout_name, length, heads, head_dim, \
              k, from)                                                                            \
  models.push_back({.name = model_name,                                                           \
                    .source = from,                                                               \
                    .layers = layer_count,                                                        \
                    .caches = CachesOfTable(model_name),                                          \
                    .family = LatentFamily::family_name,                                          \
                    .latent_format = latent,                                                      \
                    .layout = layout_name,                                                        \
                    .max_model_len = length,                                                      \
                    .indexer_heads = heads,                                                       \
                    .indexer_head_dim = head_dim,                                                 \
                    .top_k = k});
#include "runtime/capacity/models.def"
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

Result<Model> WithIndexerLayers(Model model, std::vector<int> layers) {
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
