// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/evaluator.h"
#include "lijit/bench.h"

namespace lijit {
namespace {

constexpr std::string_view kDeepGemm = "deepgemm";

BenchShape Prefill(int heads, std::int64_t queries, std::int64_t keys, bool causal) {
  BenchShape shape;
  shape.op = "ragged";
  shape.heads = heads;
  shape.queries = queries;
  shape.keys = keys;
  shape.causal = causal;
  return shape;
}

BenchShape Decode(int heads, int next_n, std::int64_t batch, std::int64_t context) {
  BenchShape shape;
  shape.heads = heads;
  shape.next_n = next_n;
  shape.batch = batch;
  shape.context = context;
  return shape;
}

std::vector<BenchShape> DeepGemmShapes() {
  struct Prompt {
    std::int64_t queries, keys;
  };
  constexpr Prompt kPrompts[] = {{2048, 4096}, {4096, 16384}, {4096, 65536}, {2048, 131072}};
  std::vector<BenchShape> shapes;
  for (const int heads : {64, 32}) {
    for (const Prompt& prompt : kPrompts) {
      for (const bool causal : {true, false}) {
        shapes.push_back(Prefill(heads, prompt.queries, prompt.keys, causal));
      }
    }
  }
  for (const int heads : {64, 32}) {
    for (const int next_n : {1, 2}) {
      for (const int batch : {1, 8, 64, 256}) {
        for (const int context : {4096, 32768, 131072}) {
          shapes.push_back(Decode(heads, next_n, batch, context));
        }
      }
    }
  }
  return shapes;
}

}  // namespace

std::int64_t BenchShape::pairs() const {
  std::int64_t count = 0;
  if (is_paged()) {
    for (int j = 0; j < next_n; ++j) count += batch * ir::VisibleKeys(context, next_n, j, 1);
    return count;
  }
  if (!causal) return queries * keys;
  for (std::int64_t row = 0; row < queries; ++row) {
    count += std::max<std::int64_t>(keys - queries + row + 1, 0);
  }
  return count;
}

Result<std::vector<BenchShape>> NamedShapes(std::string_view name) {
  if (name == kDeepGemm) return DeepGemmShapes();
  return InvalidArgument(fmt::format("no shapes are called '{}'; accepted is {}", name, kDeepGemm));
}

}  // namespace lijit
