// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/inputs.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>

namespace lijit::runtime {
namespace {

std::uint32_t BitsOf(float x) { return __builtin_bit_cast(std::uint32_t, x); }

std::uint16_t Bf16Bits(float x) {
  const std::uint32_t bits = BitsOf(x);
  if (std::isnan(x)) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float FromBf16(std::uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
}

template <typename T>
void Append(std::vector<std::uint8_t>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// Normal numbers whose rows differ in magnitude, as the rows of a model do.
std::vector<float> RandomRows(std::mt19937_64& random, std::int64_t rows, int dim) {
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> magnitude(-3.0f, 3.0f);
  std::vector<float> data;
  data.reserve(static_cast<std::size_t>(rows * dim));
  for (std::int64_t row = 0; row < rows; ++row) {
    const float scale = std::exp2(magnitude(random));
    for (int i = 0; i < dim; ++i) data.push_back(scale * normal(random));
  }
  return data;
}

Status CheckArray(const HostArray& array, const char* name,
                  const std::vector<std::int64_t>& accepted, const char* text) {
  bool fits = array.shape.size() == accepted.size();
  std::int64_t elements = 1;
  for (std::size_t i = 0; fits && i < accepted.size(); ++i) {
    fits = array.shape[i] >= 1 && (accepted[i] < 0 || array.shape[i] == accepted[i]);
    elements *= array.shape[i];
  }
  if (fits && elements == static_cast<std::int64_t>(array.data.size())) return {};
  return InvalidArgument(
      fmt::format("{} has shape [{}]; accepted is {}", name, fmt::join(array.shape, ", "), text));
}

Status UseArrays(const RunRequest& request, IndexerConfig& config, RunInputs& inputs) {
  if (!request.q.shape.empty()) {
    LIJIT_TRY(CheckArray(request.q, "q", {-1, -1, -1}, "[rows, heads, head_dim]"));
    config.heads = static_cast<int>(request.q.shape[1]);
    config.head_dim = static_cast<int>(request.q.shape[2]);
    inputs.rows = request.q.shape[0];
    inputs.q = request.q.data;
  }
  if (!request.k.shape.empty()) {
    LIJIT_TRY(CheckArray(request.k, "k", {-1, config.head_dim}, "[keys, head_dim of q]"));
    inputs.context = request.k.shape[0];
    inputs.k = request.k.data;
  }
  if (!request.w.shape.empty()) {
    LIJIT_TRY(CheckArray(request.w, "w", {inputs.rows, config.heads}, "[rows of q, heads of q]"));
    inputs.w = request.w.data;
  }
  return {};
}

Status CheckSizes(const RunRequest& request) {
  const bool paged = request.op == "paged";
  if (!paged && request.op != "ragged") {
    return InvalidArgument(fmt::format("op '{}'; accepted are paged and ragged", request.op));
  }
  if (request.batch < 1 || request.context < 0 || request.queries < 0 || request.next_n < 1) {
    return InvalidArgument(
        fmt::format("batch {}, next_n {}, context {}, queries {}: batch and next_n are at least 1, "
                    "the others at least 0",
                    request.batch, request.next_n, request.context, request.queries));
  }
  if (paged && request.queries != 0) {
    return InvalidArgument("queries is for op ragged; op paged has batch * next_n query rows");
  }
  if (request.context > (std::int64_t{1} << 31) - 1) {
    return InvalidArgument(
        fmt::format("context {}; accepted are up to 2^31 - 1 keys a request", request.context));
  }
  if (paged && !request.q.shape.empty() &&
      request.q.shape[0] != std::int64_t{request.batch} * request.next_n) {
    return InvalidArgument(fmt::format("q has {} rows; op paged takes batch * next_n = {}",
                                       request.q.shape[0], request.batch * request.next_n));
  }
  return {};
}

// Before any number is made: the rows that the host needs, in f32.
Status CheckRows(const RunRequest& request, const IndexerConfig& config, const RunInputs& inputs) {
  if (config.heads < 1 || config.head_dim < 1) {
    return InvalidArgument(
        fmt::format("heads {}, head_dim {}: both are at least 1", config.heads, config.head_dim));
  }
  const double rows = static_cast<double>(inputs.rows) * config.heads +
                      static_cast<double>(inputs.requests) * static_cast<double>(inputs.context);
  const double bytes = rows * config.head_dim * sizeof(float);
  if (bytes <= static_cast<double>(request.scratch_limit)) return {};
  return InvalidArgument(
      fmt::format("queries and keys of this run take {:.0f} MiB; the limit is {} MiB: use fewer or "
                  "shorter requests",
                  bytes / (1 << 20), request.scratch_limit >> 20));
}

void AddRotation(const IndexerConfig& config, bool paged, RunInputs& inputs) {
  const Rotation& rotation = *config.rotation;
  const int half = rotation.rope_dim / 2;
  inputs.rope_rows = std::max<std::int64_t>(inputs.context, 1);
  for (std::int64_t position = 0; position < inputs.rope_rows; ++position) {
    std::vector<float> sines;
    for (int i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) * std::pow(10000.0, -double(i) / half);
      inputs.rope_table.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
    inputs.rope_table.insert(inputs.rope_table.end(), sines.begin(), sines.end());
  }
  const std::int64_t rows = paged ? inputs.next_n : inputs.rows;
  for (std::int64_t row = 0; row < inputs.rows; ++row) {
    const std::int64_t position = inputs.context - rows + row % rows;
    inputs.q_positions.push_back(std::max<std::int64_t>(position, 0));
  }
  for (std::int64_t key = 0; key < inputs.keys(); ++key) {
    inputs.k_positions.push_back(key % inputs.context);
  }
}

}  // namespace

Result<RunInputs> MakeInputs(const RunRequest& request, IndexerConfig& config) {
  LIJIT_TRY(CheckSizes(request));
  const bool paged = request.op == "paged";
  RunInputs inputs;
  inputs.requests = paged ? request.batch : 1;
  inputs.next_n = paged ? request.next_n : 1;
  inputs.rows =
      paged ? inputs.requests * inputs.next_n : (request.queries > 0 ? request.queries : 4);
  inputs.context = request.context;
  LIJIT_TRY(UseArrays(request, config, inputs));
  if (!inputs.k.empty() && inputs.requests > 1) {
    return InvalidArgument("k holds the keys of one request; use batch 1 with it");
  }

  LIJIT_TRY(CheckRows(request, config, inputs));
  std::mt19937_64 random(request.seed);
  if (inputs.q.empty()) {
    inputs.q = RandomRows(random, inputs.rows * config.heads, config.head_dim);
  }
  const bool own_keys = !inputs.k.empty();
  if (!own_keys) inputs.k = RandomRows(random, inputs.keys(), config.head_dim);
  if (inputs.w.empty()) {
    inputs.w = RandomRows(random, inputs.rows, config.heads);
  }
  // Random queries are the last tokens of the context; given ones may look at every key.
  for (std::int64_t row = 0; row < inputs.rows; ++row) {
    const std::int64_t causal = std::max<std::int64_t>(inputs.context - inputs.rows + row + 1, 0);
    inputs.ends.push_back(static_cast<std::int32_t>(own_keys ? inputs.context : causal));
  }
  if (config.rotation) AddRotation(config, paged, inputs);
  return inputs;
}

std::vector<std::uint8_t> EncodeInput(std::vector<float>& data, DType dtype) {
  std::vector<std::uint8_t> bytes;
  for (float& x : data) {
    if (dtype == DType::kBf16) {
      const std::uint16_t bits = Bf16Bits(x);
      x = FromBf16(bits);
      Append(bytes, bits);
    } else if (dtype == DType::kF16) {
      const auto half = static_cast<_Float16>(x);
      x = static_cast<float>(half);
      Append(bytes, half);
    } else {
      Append(bytes, x);
    }
  }
  return bytes;
}

}  // namespace lijit::runtime
