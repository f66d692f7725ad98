// SPDX-License-Identifier: Apache-2.0
#include "tools/capacity_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/json_fields.h"

namespace lijit::tools {
namespace {

using capacity::Cache;
using capacity::LatentFamily;
using capacity::Model;
using capacity::Observed;
using capacity::Role;
using nlohmann::json;

Result<Role> ParseRole(std::string_view text) {
  for (const Role role : {Role::kLatent, Role::kIndexer, Role::kWindow, Role::kState}) {
    if (capacity::RoleName(role) == text) return role;
  }
  return InvalidArgument(
      fmt::format("role '{}' is not known; known are latent, indexer, window, state", text));
}

Result<Cache> ParseCache(const json& object, const std::string& where) {
  Cache cache;
  JsonFields fields(object, where);
  std::string role, layers;
  fields.Read("name", cache.name);
  fields.Read("role", role);
  fields.Read("layers", layers);
  fields.Read("block_tokens", cache.block_tokens);
  fields.Read("ratio", cache.ratio);
  fields.Read("row_bytes", cache.row_bytes);
  fields.Read("window", cache.window);
  fields.Read("in_draft_layers", cache.in_draft_layers);
  LIJIT_TRY(fields.Finish());
  Result<Role> parsed_role = ParseRole(role);
  if (!parsed_role) return InvalidArgument(where + ": " + parsed_role.error().message);
  cache.role = *parsed_role;
  Result<std::vector<int>> parsed_layers = capacity::ParseLayers(layers);
  if (!parsed_layers) return InvalidArgument(where + ": " + parsed_layers.error().message);
  cache.layers = std::move(parsed_layers).value();
  return cache;
}

void ReadFamily(JsonFields& fields, Model& model) {
  std::string family = "v3.2";
  fields.Read("family", family);
  if (family == "v4") {
    model.family = LatentFamily::kV4;
  } else if (family != "v3.2") {
    fields.Fail(fmt::format("'family' is '{}'; accepted are v3.2, v4", family));
  }
}

// A list, or nothing if the member is missing or is none.
const json* FindList(JsonFields& fields, const char* key) {
  const json* const list = fields.Find(key);
  if (list != nullptr && list->is_array()) return list;
  if (list != nullptr) fields.Fail(fmt::format("'{}' is no list", key));
  return nullptr;
}

// A number, or [low, high] where it is rounded.
void ReadRange(JsonFields& fields, const char* key, std::optional<capacity::ObservedRange>& range) {
  const json* const member = fields.Find(key);
  if (member == nullptr) return;
  const bool is_pair = member->is_array() && member->size() == 2;
  const json pair = is_pair ? *member : json::array({*member, *member});
  if (!pair[0].is_number_integer() || !pair[1].is_number_integer()) {
    return fields.Fail(fmt::format("'{}' is neither a whole number nor [low, high]", key));
  }
  range = {pair[0].get<std::int64_t>(), pair[1].get<std::int64_t>()};
}

// The pages of a block in one group: a number of bytes, or [{"count": 21, "bytes": 8640}, ...].
Result<std::int64_t> ParseGroup(const json& group, const std::string& where) {
  if (group.is_number_integer()) return group.get<std::int64_t>();
  if (!group.is_array()) return InvalidArgument(where + " is neither a number nor a list of pages");
  std::int64_t bytes = 0;
  for (const json& each : group) {
    std::int64_t count = 1, page_bytes = 0, product = 0;
    JsonFields fields(each, where);
    fields.Read("count", count);
    fields.Read("bytes", page_bytes);
    LIJIT_TRY(fields.Finish());
    if (__builtin_mul_overflow(count, page_bytes, &product) ||
        __builtin_add_overflow(bytes, product, &bytes)) {
      return InvalidArgument(where + ": the pages exceed 2^63 - 1 bytes");
    }
  }
  return bytes;
}

Result<Observed> ParseObservedJson(std::string_view text, const std::string& name) {
  LIJIT_ASSIGN(const json object, ParseJsonObject(text, name));
  Observed observed;
  JsonFields fields(object, name);
  fields.Read("tokens", observed.tokens);
  fields.Read("blocks", observed.blocks);
  fields.Read("block_bytes", observed.block_bytes);
  fields.Read("max_model_len", observed.max_model_len);
  ReadRange(fields, "cache_bytes", observed.cache_bytes);
  const json* const groups = FindList(fields, "groups");
  LIJIT_TRY(fields.Finish());
  if (groups == nullptr) return observed;
  for (std::size_t i = 0; i < groups->size(); ++i) {
    LIJIT_ASSIGN(const std::int64_t bytes,
                 ParseGroup((*groups)[i], fmt::format("{}: group {}", name, i)));
    observed.group_bytes.push_back(bytes);
  }
  return observed;
}

}  // namespace

Result<Model> ParseModelFile(std::string_view text, const std::string& name) {
  LIJIT_ASSIGN(const json object, ParseJsonObject(text, name));
  Model model;
  model.name = name;
  model.source = name;
  model.latent_format = "fp8_ds_mla";
  model.layout = "none";
  JsonFields fields(object, name);
  fields.Read("name", model.name);
  fields.Read("layers", model.layers);
  ReadFamily(fields, model);
  fields.Read("latent_format", model.latent_format);
  fields.Read("layout", model.layout);
  fields.Read("max_model_len", model.max_model_len);
  fields.Read("indexer_heads", model.indexer_heads);
  fields.Read("indexer_head_dim", model.indexer_head_dim);
  fields.Read("top_k", model.top_k);
  const json* const caches = FindList(fields, "caches");
  LIJIT_TRY(fields.Finish());
  for (std::size_t i = 0; caches != nullptr && i < caches->size(); ++i) {
    LIJIT_ASSIGN(model.caches.emplace_back(),
                 ParseCache((*caches)[i], fmt::format("{}: cache {}", name, i)));
  }
  return model;
}

Result<Observed> ParseObservedFile(std::string_view text, const std::string& name) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return ParseObservedJson(text, name);
  Result<Observed> observed = capacity::ParseEngineLog(text);
  if (!observed) return InvalidArgument(name + ": " + observed.error().message);
  return observed;
}

}  // namespace lijit::tools
