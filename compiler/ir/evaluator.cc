// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/evaluator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/ir/evaluate_body.h"
#include "compiler/support/float_text.h"
#include "lijit/result.h"

namespace lijit::ir {
namespace {

constexpr float kMasked = -INFINITY;

std::size_t Size(std::int64_t number) {
  LIJIT_CHECK(number >= 0);
  return static_cast<std::size_t>(number);
}

const Type& ParameterType(const Kernel& kernel, std::size_t index) {
  return kernel.TypeOf(kernel.body.arguments[index]);
}

// Row `index` of rows of `size` each.
template <typename T>
std::span<T> RowAt(std::span<T> all, std::size_t index, std::size_t size) {
  LIJIT_CHECK(size == 0 || index < all.size() / size);
  return all.subspan(index * size, size);
}

float CanonicalNan(float x) { return std::isnan(x) ? FloatFromBits(0x7fffffffu) : x; }

EvaluatedValue VectorValue(std::span<const float> numbers) {
  return NumbersValue({numbers.begin(), numbers.end()});
}

void Append(std::vector<std::uint8_t>& bytes, std::span<const std::uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

// The token's row of the rope table as the kernel's last parameter, if it takes one.
void AddRopeRow(const Kernel& kernel, const RopeTable& rope, std::size_t token,
                std::vector<EvaluatedValue>& parameters) {
  if (parameters.size() == kernel.body.arguments.size()) return;
  LIJIT_CHECK(token < rope.positions.size());
  const auto dim = Size(ParameterType(kernel, parameters.size()).dim);
  parameters.push_back(VectorValue(RowAt(rope.cos_sin, Size(rope.positions[token]), dim)));
}

// Where the rows of a kernel's pages lie.
class PageRows {
 public:
  PageRows(const Module& module, const Kernel& kernel, const Type& row)
      : layout_(module.layouts[Size(kernel.layout)]),
        format_(module.FormatOf(row.format)),
        dim_(row.dim) {}

  std::int64_t tokens() const { return layout_.tokens; }

  template <typename Byte>
  std::span<Byte> Values(const PagesOf<Byte>& pages, std::int64_t page, std::int64_t token) const {
    return Part(pages, page, token * layout_.ValueStride(format_, dim_), format_.ValueBytes(dim_));
  }
  template <typename Byte>
  std::span<Byte> Scales(const PagesOf<Byte>& pages, std::int64_t page, std::int64_t token) const {
    const std::int64_t base = layout_.ScaleBase(format_, dim_);
    return Part(pages, page, base + token * layout_.ScaleStride(format_, dim_),
                format_.ScaleBytes(dim_));
  }

 private:
  template <typename Byte>
  static std::span<Byte> Part(const PagesOf<Byte>& pages, std::int64_t page, std::int64_t offset,
                              std::int64_t size) {
    LIJIT_CHECK(page >= 0 && page < pages.count);
    const std::size_t begin = Size(page * pages.stride + offset);
    LIJIT_CHECK(begin + Size(size) <= pages.bytes.size());
    return pages.bytes.subspan(begin, Size(size));
  }

  const Layout& layout_;
  const Format& format_;
  int dim_;
};

// The page that holds key `index` of sequence `row`; nothing if its column or page does not exist.
std::optional<std::int64_t> PageOfKey(const BlockTable& table, std::int64_t row, std::int64_t index,
                                      std::int64_t tokens, std::int64_t page_count) {
  const std::int64_t column = index / tokens;
  if (column >= table.width) return std::nullopt;
  const std::size_t at = Size(row * table.stride + column);
  LIJIT_CHECK(at < table.entries.size());
  const std::int64_t page = table.entries[at];
  if (page < 0 || page >= page_count) return std::nullopt;
  return page;
}

// Scores keys with the body of a logits kernel.
class Scorer {
 public:
  Scorer(const Module& module, const Kernel& kernel)
      : body_(module, kernel),
        rows_(ParameterType(kernel, 0)),
        key_(ParameterType(kernel, 1)),
        format_(module.FormatOf(key_.format)),
        query_format_(module.FormatOf(rows_.format)) {}

  std::size_t heads() const { return Size(rows_.heads); }
  const Type& key() const { return key_; }
  const Format& format() const { return format_; }

  EvaluatedValue Query(const RowsView& q, std::size_t token) const {
    std::vector<StoredRow> rows;
    const auto value_bytes = Size(query_format_.ValueBytes(rows_.dim));
    const auto scale_bytes = Size(query_format_.BlockScaleBytes(rows_.dim));
    for (std::size_t head = 0; head < heads(); ++head) {
      const std::size_t row = token * heads() + head;
      rows.push_back(body_.CodesOf(rows_).Decode(RowAt(q.values, row, value_bytes),
                                                 RowAt(q.scales, row, scale_bytes), rows_.dim));
    }
    return RowsValue(std::move(rows));
  }

  EvaluatedValue Key(std::span<const std::uint8_t> values,
                     std::span<const std::uint8_t> scales) const {
    return RowValue(body_.CodesOf(key_).Decode(values, scales, key_.dim));
  }

  float Logit(const EvaluatedValue& query, const EvaluatedValue& key,
              const EvaluatedValue& weights) const {
    return CanonicalNan(body_.Run({query, key, weights})[0].numbers[0]);
  }

 private:
  BodyEvaluator body_;
  const Type& rows_;
  const Type& key_;
  const Format& format_;
  const Format& query_format_;
};

// NaN last; then by number, where -0 is less than +0.
bool IsLarger(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  if (a == b) return !std::signbit(a) && std::signbit(b);
  return a > b;
}

// The columns of `numbers` with the k largest, ascending.
std::vector<std::int32_t> LargestColumns(const std::vector<float>& numbers, std::size_t k) {
  std::vector<std::int32_t> columns(numbers.size());
  std::iota(columns.begin(), columns.end(), 0);
  std::stable_sort(columns.begin(), columns.end(), [&](std::int32_t a, std::int32_t b) {
    return IsLarger(numbers[Size(a)], numbers[Size(b)]);
  });
  columns.resize(std::min(k, columns.size()));
  std::sort(columns.begin(), columns.end());
  return columns;
}

}  // namespace

EvaluatedQuery EvaluateQuantizeQuery(const Module& module, const Kernel& kernel, int heads,
                                     std::span<const float> x, std::span<const float> w,
                                     const RopeTable& rope) {
  LIJIT_CHECK(kernel.kind == KernelKind::kQuantizeQuery);
  const BodyEvaluator body(module, kernel);
  const auto dim = Size(ParameterType(kernel, 0).dim);
  const auto scale_bytes =
      Size(module.FormatOf(kernel.results[0].format).BlockScaleBytes(kernel.results[0].dim));
  EvaluatedQuery query;
  for (std::size_t row = 0; row < w.size(); ++row) {
    std::vector<EvaluatedValue> parameters = {VectorValue(RowAt(x, row, dim)), NumberValue(w[row])};
    AddRopeRow(kernel, rope, row / Size(heads), parameters);
    const auto results = body.Run(parameters);
    const StoredRow& stored = results[0].rows->front();
    Append(query.rows.values, stored.values);
    Append(query.rows.scales, std::span(stored.scales).first(scale_bytes));
    query.weights.push_back(CanonicalNan(results[1].numbers[0]));
  }
  return query;
}

void EvaluateWriteCache(const Module& module, const Kernel& kernel, std::span<const float> x,
                        std::span<const std::int64_t> slots, const Pages& pages,
                        const RopeTable& rope) {
  LIJIT_CHECK(kernel.kind == KernelKind::kWriteCache);
  const BodyEvaluator body(module, kernel);
  const PageRows place(module, kernel, kernel.results[0]);
  const auto dim = Size(ParameterType(kernel, 0).dim);
  for (std::size_t token = 0; token < slots.size(); ++token) {
    const std::int64_t page = slots[token] / place.tokens();
    if (slots[token] < 0 || page >= pages.count) continue;
    std::vector<EvaluatedValue> parameters = {VectorValue(RowAt(x, token, dim))};
    AddRopeRow(kernel, rope, token, parameters);
    const auto results = body.Run(parameters);
    const StoredRow& row = results[0].rows->front();
    const std::int64_t in_page = slots[token] % place.tokens();
    std::copy(row.values.begin(), row.values.end(), place.Values(pages, page, in_page).begin());
    std::copy(row.scales.begin(), row.scales.end(), place.Scales(pages, page, in_page).begin());
  }
}

EvaluatedRows EvaluateGatherCache(const Module& module, const Kernel& kernel,
                                  const ConstPages& pages, const BlockTable& block_table,
                                  std::span<const std::int32_t> cu_seq_lens) {
  LIJIT_CHECK(kernel.kind == KernelKind::kGatherCache && !cu_seq_lens.empty());
  const Type& type = ParameterType(kernel, 0);
  const Format& format = module.FormatOf(type.format);
  const BodyEvaluator body(module, kernel);
  const PageRows place(module, kernel, type);
  const auto value_bytes = Size(format.ValueBytes(type.dim));
  const auto scale_bytes = Size(format.ScaleBytes(type.dim));
  const std::size_t count = Size(cu_seq_lens.back());
  EvaluatedRows out{std::vector<std::uint8_t>(count * value_bytes),
                    std::vector<std::uint8_t>(count * scale_bytes)};
  for (std::size_t b = 0; b + 1 < cu_seq_lens.size(); ++b) {
    for (std::int64_t row = cu_seq_lens[b]; row < cu_seq_lens[b + 1]; ++row) {
      const std::int64_t index = row - cu_seq_lens[b];
      const auto page =
          PageOfKey(block_table, static_cast<std::int64_t>(b), index, place.tokens(), pages.count);
      if (!page) continue;
      const std::int64_t token = index % place.tokens();
      const auto results = body.Run({RowValue(body.CodesOf(type).Decode(
          place.Values(pages, *page, token), place.Scales(pages, *page, token), type.dim))});
      const StoredRow& stored = results[0].rows->front();
      std::copy(stored.values.begin(), stored.values.end(),
                RowAt(std::span(out.values), Size(row), value_bytes).begin());
      std::copy(stored.scales.begin(), stored.scales.end(),
                RowAt(std::span(out.scales), Size(row), scale_bytes).begin());
    }
  }
  return out;
}

std::vector<float> EvaluateLogitsRagged(const Module& module, const Kernel& kernel, RowsView q,
                                        RowsView k, std::span<const float> w,
                                        std::span<const std::int32_t> starts,
                                        std::span<const std::int32_t> ends, std::int64_t width) {
  LIJIT_CHECK(kernel.kind == KernelKind::kLogitsRagged && starts.size() == ends.size());
  const Scorer scorer(module, kernel);
  const auto value_bytes = Size(scorer.format().ValueBytes(scorer.key().dim));
  const auto scale_bytes = Size(scorer.format().ScaleBytes(scorer.key().dim));
  std::vector<EvaluatedValue> keys;
  for (std::size_t n = 0; n < k.values.size() / value_bytes; ++n) {
    keys.push_back(scorer.Key(RowAt(k.values, n, value_bytes), RowAt(k.scales, n, scale_bytes)));
  }
  std::vector<float> logits(starts.size() * Size(width), kMasked);
  for (std::size_t t = 0; t < starts.size(); ++t) {
    const EvaluatedValue query = scorer.Query(q, t);
    const EvaluatedValue weights = VectorValue(RowAt(w, t, scorer.heads()));
    const std::int64_t end =
        std::min({std::int64_t{ends[t]}, static_cast<std::int64_t>(keys.size()), width});
    for (std::int64_t n = std::max(starts[t], 0); n < end; ++n) {
      logits[t * Size(width) + Size(n)] = scorer.Logit(query, keys[Size(n)], weights);
    }
  }
  return logits;
}

std::vector<float> EvaluateLogitsPaged(const Module& module, const Kernel& kernel, RowsView q,
                                       int next_n, const ConstPages& pages,
                                       const BlockTable& block_table, std::span<const float> w,
                                       std::span<const std::int64_t> visible, std::int64_t width) {
  LIJIT_CHECK(kernel.kind == KernelKind::kLogitsPaged && next_n > 0);
  const Scorer scorer(module, kernel);
  const PageRows place(module, kernel, scorer.key());
  std::vector<float> logits(visible.size() * Size(width), kMasked);
  // Keys of the current sequence that exist and have been needed.
  std::vector<std::optional<EvaluatedValue>> keys(Size(width));
  for (std::size_t row = 0; row < visible.size(); ++row) {
    const std::size_t sequence = row / Size(next_n);
    if (row % Size(next_n) == 0) std::fill(keys.begin(), keys.end(), std::nullopt);
    const EvaluatedValue query = scorer.Query(q, row);
    const EvaluatedValue weights = VectorValue(RowAt(w, row, scorer.heads()));
    for (std::int64_t n = 0; n < std::min(visible[row], width); ++n) {
      const auto page = PageOfKey(block_table, static_cast<std::int64_t>(sequence), n,
                                  place.tokens(), pages.count);
      if (!page) continue;
      auto& key = keys[Size(n)];
      const std::int64_t token = n % place.tokens();
      if (!key) {
        key = scorer.Key(place.Values(pages, *page, token), place.Scales(pages, *page, token));
      }
      logits[row * Size(width) + Size(n)] = scorer.Logit(query, *key, weights);
    }
  }
  return logits;
}

std::int64_t VisibleKeys(std::int64_t length, int next_n, int j, int ratio) {
  return std::max<std::int64_t>(0, length - next_n + j + 1) / ratio;
}

std::vector<std::int32_t> EvaluateTopK(const Module& module, const Kernel& kernel,
                                       const LogitsView& logits,
                                       std::span<const std::int32_t> starts,
                                       std::span<const std::int32_t> ends, int k) {
  LIJIT_CHECK(kernel.kind == KernelKind::kTopK && starts.size() == ends.size());
  const BodyEvaluator body(module, kernel);
  std::vector<std::int32_t> indices(starts.size() * Size(k), -1);
  for (std::size_t row = 0; row < starts.size(); ++row) {
    const std::int64_t first = std::max(starts[row], 0);
    const std::int64_t end = std::min(std::int64_t{ends[row]}, logits.columns);
    std::vector<float> numbers;
    for (std::int64_t n = first; n < end; ++n) {
      const float logit = logits.numbers[row * Size(logits.stride) + Size(n)];
      numbers.push_back(body.Run({NumberValue(logit)})[0].numbers[0]);
    }
    std::size_t at = row * Size(k);
    for (const std::int32_t column : LargestColumns(numbers, Size(k))) {
      indices[at++] = column + static_cast<std::int32_t>(first - starts[row]);
    }
  }
  return indices;
}

}  // namespace lijit::ir
