// SPDX-License-Identifier: Apache-2.0
// Requests that several tests start from.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "lijit/capacity.h"

namespace lijit::capacity {

inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

inline Request RequestFor(std::string_view model, std::int64_t cache_bytes = 8 * kGiB) {
  Request request;
  Result<Model> found = FindModel(model);
  if (!found) ADD_FAILURE() << found.error().message;
  if (found) request.model = std::move(found).value();
  request.memory.cache_bytes = {cache_bytes};
  return request;
}

inline Layout LayoutOf(std::string_view name) {
  Result<Layout> layout = FindLayout(name);
  if (!layout) ADD_FAILURE() << layout.error().message;
  return layout ? *layout : Layout{};
}

// vLLM with FlashInfer, which brings plain fp8 rows of 512 bytes.
inline Request FlashInferRequest(std::string_view model) {
  Request request = RequestFor(model);
  request.layout = LayoutOf("flashinfer");
  return request;
}

inline Plan PlanOf(const Request& request, IndexerFormat format) {
  Result<Plan> plan = MakePlan(request, format);
  if (!plan) ADD_FAILURE() << plan.error().message;
  return plan ? *plan : Plan{};
}

// V4-Flash as the synthetic model of vLLM #52495 has it: without C128A latents.
inline Request SyntheticFlashRequest() {
  Request request = RequestFor("deepseek-v4-flash");
  std::erase_if(request.model.caches,
                [](const Cache& cache) { return cache.name == "c128a latent"; });
  request.batched_tokens = 8192;
  request.concurrent_batches = 1;
  return request;
}

}  // namespace lijit::capacity
