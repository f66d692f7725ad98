// SPDX-License-Identifier: Apache-2.0
// Memory that a step needs besides the cache. Layers run one after another, so one layer's buffers
// count once.
#include <fmt/format.h>

#include <algorithm>

#include "lijit/capacity.h"
#include "runtime/capacity/checked.h"

namespace lijit::capacity {
namespace {

// What the buffers of a phase are made of.
struct Shape {
  std::int64_t rows = 0;     // queries
  std::int64_t columns = 0;  // keys that each is scored against
  std::int64_t heads = 0;
  std::int64_t query_bytes = 0;  // of a head: values, and scales that are not folded away
  std::int64_t key_bytes = 0;
  std::int64_t gathered_keys = 0;  // 0: keys are read where they are
  std::int64_t top_k = 0;
};

struct Formula {
  std::string_view name;
  std::string text;
  Checked bytes, fused_bytes;
};

std::vector<Formula> FormulasOf(const Shape& s) {
  const Checked rows = s.rows;
  // Weights and, with fp8, the query's scale are one f32 a head.
  const Checked query = rows * s.heads * (Checked(s.query_bytes) + 4);
  const Checked gather = Checked(s.gathered_keys) * s.key_bytes;
  const Checked indices = rows * s.top_k * 4;
  std::vector<Formula> formulas;
  formulas.push_back({"queries",
                      fmt::format("{} rows * {} heads * ({} + 4)", s.rows, s.heads, s.query_bytes),
                      query, query});
  if (s.gathered_keys > 0) {
    formulas.push_back({"gathered keys", fmt::format("{} keys * {}", s.gathered_keys, s.key_bytes),
                        gather, gather});
  }
  formulas.push_back(
      {"logits", fmt::format("{} rows * {} keys * 4", s.rows, s.columns), rows * s.columns * 4, 0});
  formulas.push_back({"top-k scratch", fmt::format("fused only: {} rows * {} * 8", s.rows, s.top_k),
                      0, rows * s.top_k * 8});
  formulas.push_back(
      {"top-k indices", fmt::format("{} rows * {} * 4", s.rows, s.top_k), indices, indices});
  return formulas;
}

Result<Phase> MakePhase(std::string name, const Shape& shape) {
  Phase phase;
  phase.name = std::move(name);
  Checked bytes, fused_bytes;
  for (const Formula& formula : FormulasOf(shape)) {
    const std::string what = fmt::format("{} of {}", formula.name, phase.name);
    Buffer buffer{std::string(formula.name), formula.text};
    LIJIT_ASSIGN(buffer.bytes, formula.bytes.Get(what));
    LIJIT_ASSIGN(buffer.fused_bytes, formula.fused_bytes.Get(what));
    bytes += buffer.bytes;
    fused_bytes += buffer.fused_bytes;
    phase.buffers.push_back(std::move(buffer));
  }
  LIJIT_ASSIGN(phase.bytes, bytes.Get("transients of " + phase.name));
  LIJIT_ASSIGN(phase.fused_bytes, fused_bytes.Get("transients of " + phase.name));
  return phase;
}

// Nothing if the model has none.
const Page* IndexerPage(const Plan& plan) {
  for (const Page& page : plan.pages) {
    if (plan.request.model.caches[page.cache].role == Role::kIndexer) return &page;
  }
  return nullptr;
}

Result<Shape> PrefillShape(const Plan& plan, const Page& page) {
  const Request& request = plan.request;
  const std::int64_t ratio = request.model.caches[page.cache].ratio;
  const std::int64_t dim = request.model.indexer_head_dim;
  Shape shape;
  shape.rows = request.batched_tokens;
  shape.columns = CeilDivide(request.max_model_len, ratio);
  shape.heads = request.model.indexer_heads;
  shape.query_bytes = plan.indexer == IndexerFormat::kFp8 ? dim : dim / 2 + dim / 32;
  shape.key_bytes = page.row_bytes;
  shape.top_k = request.model.top_k;
  LIJIT_ASSIGN(shape.gathered_keys, MultiplyDivide(request.gather_contexts, request.max_model_len,
                                                   ratio, "gathered keys"));
  return shape;
}

Result<Shape> DecodeShape(const Plan& plan, Shape shape) {
  LIJIT_ASSIGN(shape.rows,
               (Checked(plan.request.concurrency) * plan.request.next_n).Get("decoded rows"));
  shape.gathered_keys = 0;
  return shape;
}

Tile MakeTile(std::int64_t budget, const Phase& prefill, const Shape& shape) {
  Tile tile;
  tile.budget = budget;
  tile.row_bytes = shape.columns * 4;
  tile.fixed_bytes = prefill.bytes - shape.rows * tile.row_bytes;
  const std::int64_t left = std::max<std::int64_t>(budget - tile.fixed_bytes, 0);
  tile.rows = std::min(left / tile.row_bytes, shape.rows);
  tile.tiles = tile.rows == 0 ? 0 : CeilDivide(shape.rows, tile.rows);
  return tile;
}

}  // namespace

Result<Transients> MakeTransients(const Plan& plan) {
  Transients transients;
  const Page* const page = IndexerPage(plan);
  if (page == nullptr) return transients;
  LIJIT_ASSIGN(const Shape prefill_shape, PrefillShape(plan, *page));
  LIJIT_ASSIGN(const Shape decode_shape, DecodeShape(plan, prefill_shape));
  LIJIT_ASSIGN(Phase prefill, MakePhase("prefill", prefill_shape));
  LIJIT_ASSIGN(Phase decode, MakePhase("decode", decode_shape));
  if (plan.request.transient_budget > 0) {
    transients.tile = MakeTile(plan.request.transient_budget, prefill, prefill_shape);
  }
  transients.peak_phase = decode.bytes > prefill.bytes ? decode.name : prefill.name;
  transients.peak_bytes = std::max(prefill.bytes, decode.bytes);
  transients.fused_peak_bytes = std::max(prefill.fused_bytes, decode.fused_bytes);
  transients.phases = {std::move(prefill), std::move(decode)};
  return transients;
}

}  // namespace lijit::capacity
