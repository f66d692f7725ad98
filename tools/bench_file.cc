// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_file.h"

#include <fmt/format.h>

#include "tools/json_fields.h"

namespace lijit::tools {
namespace {

constexpr const char* kDecode = "paged";
constexpr const char* kPrefill = "prefill";

// A number that is 0 if it is absent or null.
Status ReadTime(const nlohmann::json& row, const char* key, const std::string& where,
                double& value) {
  const auto found = row.find(key);
  if (found == row.end() || found->is_null()) return {};
  if (!found->is_number() || found->get<double>() < 0) {
    return InvalidArgument(fmt::format("{}: '{}' is no time in microseconds", where, key));
  }
  value = found->get<double>();
  return {};
}

Status ReadShape(const nlohmann::json& row, const std::string& where, BenchShape& shape) {
  JsonFields fields(row, where);
  std::string kind, mask = "full";
  fields.Read("kind", kind);
  fields.Read("H", shape.heads);
  if (kind == kDecode) {
    fields.Read("B", shape.batch);
    fields.Read("ctx", shape.context);
    fields.Read("next_n", shape.next_n);
  } else if (kind == kPrefill) {
    shape = BenchShape{.op = "ragged", .heads = shape.heads};
    fields.Read("S", shape.queries);
    fields.Read("N", shape.keys);
    fields.Read("mask", mask);
    shape.causal = mask == "causal";
    if (!shape.causal && mask != "full") fields.Fail("'mask' is neither causal nor full");
  } else {
    fields.Fail(fmt::format("'kind' is '{}'; accepted are {} and {}", kind, kDecode, kPrefill));
  }
  return fields.status();
}

Result<BenchTime> ReadRow(const nlohmann::json& row, const std::string& where) {
  BenchTime time;
  LIJIT_TRY(ReadShape(row, where, time.shape));
  JsonFields fields(row, where);
  fields.Read("format", time.format);
  LIJIT_TRY(fields.status());
  LIJIT_TRY(ReadTime(row, "us", where, time.us));
  LIJIT_TRY(ReadTime(row, "metadata_us", where, time.metadata_us));
  return time;
}

}  // namespace

Result<std::vector<BenchTime>> ParseBenchFile(std::string_view text, const std::string& name) {
  LIJIT_ASSIGN(const nlohmann::json object, ParseJsonObject(text, name));
  const auto rows = object.find("rows");
  if (rows == object.end() || !rows->is_array()) {
    return InvalidArgument(name + " has no list 'rows'");
  }
  std::vector<BenchTime> times;
  for (const nlohmann::json& row : *rows) {
    LIJIT_ASSIGN(BenchTime time, ReadRow(row, fmt::format("{}: row {}", name, times.size())));
    times.push_back(std::move(time));
  }
  return times;
}

nlohmann::ordered_json ShapeJson(const BenchShape& shape) {
  if (shape.is_paged()) {
    return {{"kind", kDecode},
            {"H", shape.heads},
            {"B", shape.batch},
            {"ctx", shape.context},
            {"next_n", shape.next_n}};
  }
  return {{"kind", kPrefill},
          {"H", shape.heads},
          {"S", shape.queries},
          {"N", shape.keys},
          {"mask", shape.causal ? "causal" : "full"}};
}

std::string ShapeText(const BenchShape& shape) {
  if (shape.is_paged()) {
    return fmt::format("{} H{} B{} ctx{} n{}", kDecode, shape.heads, shape.batch, shape.context,
                       shape.next_n);
  }
  return fmt::format("{} H{} {}x{} {}", kPrefill, shape.heads, shape.queries, shape.keys,
                     shape.causal ? "causal" : "full");
}

}  // namespace lijit::tools
