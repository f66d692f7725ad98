// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace lijit::runtime {
namespace {

// Rows rotated as a kernel does, in f64. The Hadamard transform is left out: it is orthogonal and
// applied to both sides, so it changes no score.
std::vector<double> Rotated(std::span<const float> rows, const IndexerConfig& config,
                            std::span<const std::int64_t> positions, std::int64_t rows_a_position,
                            std::span<const float> table) {
  std::vector<double> out(rows.begin(), rows.end());
  if (!config.rotation) return out;
  const Rotation& rotation = *config.rotation;
  const int n = rotation.rope_dim;
  const int half = n / 2;
  const auto dim = static_cast<std::size_t>(config.head_dim);
  const std::size_t first = rotation.last ? dim - static_cast<std::size_t>(n) : 0;
  for (std::size_t row = 0; row * dim < out.size(); ++row) {
    const auto token = row / static_cast<std::size_t>(rows_a_position);
    const float* angles = &table[static_cast<std::size_t>(positions[token] * n)];
    double* x = &out[row * dim + first];
    for (int i = 0; i < half; ++i) {
      double& a = x[rotation.interleaved ? 2 * i : i];
      double& b = x[rotation.interleaved ? 2 * i + 1 : i + half];
      const double cosine = angles[i];
      const double sine = angles[i + half];
      const double turned = a * cosine - b * sine;
      b = b * cosine + a * sine;
      a = turned;
    }
  }
  return out;
}

}  // namespace

double CalcDiff(std::span<const double> x, std::span<const double> y) {
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xx + yy == 0 ? 0 : 1 - 2 * xy / (xx + yy);
}

bool IsExact(const ir::Format& format, std::string_view schedule) {
  return schedule == "simt" || format.block_scale.has_value();
}

bool BitwiseEqual(std::span<const float> x, std::span<const float> y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](float a, float b) {
    return __builtin_bit_cast(std::uint32_t, a) == __builtin_bit_cast(std::uint32_t, b) ||
           (std::isnan(a) && std::isnan(b));
  });
}

std::vector<double> UnquantizedScores(const RunInputs& inputs, const IndexerConfig& config,
                                      std::span<const std::int64_t> visible, std::int64_t width) {
  const auto heads = static_cast<std::size_t>(config.heads);
  const auto dim = static_cast<std::size_t>(config.head_dim);
  const std::vector<double> q =
      Rotated(inputs.q, config, inputs.q_positions, config.heads, inputs.rope_table);
  const std::vector<double> k = Rotated(inputs.k, config, inputs.k_positions, 1, inputs.rope_table);
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim) * static_cast<double>(heads));
  std::vector<double> scores(static_cast<std::size_t>(inputs.rows * width), -INFINITY);
  for (std::size_t row = 0; row < static_cast<std::size_t>(inputs.rows); ++row) {
    const std::size_t request = row / static_cast<std::size_t>(inputs.rows / inputs.requests);
    for (std::size_t n = 0; n < static_cast<std::size_t>(visible[row]); ++n) {
      const double* key = &k[(request * static_cast<std::size_t>(inputs.context) + n) * dim];
      double sum = 0;
      for (std::size_t h = 0; h < heads; ++h) {
        const double* query = &q[(row * heads + h) * dim];
        const double dot = std::inner_product(query, query + dim, key, 0.0);
        sum += static_cast<double>(inputs.w[row * heads + h]) * std::max(dot, 0.0);
      }
      scores[row * static_cast<std::size_t>(width) + n] = sum * scale;
    }
  }
  return scores;
}

double Recall(std::span<const double> scores, std::int64_t width,
              std::span<const std::int32_t> indices, int k) {
  std::size_t wanted = 0, found = 0;
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t rows = columns == 0 ? 0 : scores.size() / columns;
  for (std::size_t row = 0; row < rows; ++row) {
    const double* score = &scores[row * columns];
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < columns; ++n) {
      if (score[n] != -INFINITY) order.push_back(n);
    }
    const std::size_t best = std::min(order.size(), static_cast<std::size_t>(k));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return score[a] > score[b] || (score[a] == score[b] && a < b);
                      });
    const auto selected =
        indices.subspan(row * static_cast<std::size_t>(k), static_cast<std::size_t>(k));
    const std::set<std::int64_t> set(selected.begin(), selected.end());
    for (std::size_t i = 0; i < best; ++i) {
      found += set.contains(static_cast<std::int64_t>(order[i])) ? 1 : 0;
    }
    wanted += best;
  }
  return wanted == 0 ? 1 : static_cast<double>(found) / static_cast<double>(wanted);
}

}  // namespace lijit::runtime
