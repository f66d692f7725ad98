// SPDX-License-Identifier: Apache-2.0
// Why an engine's numbers may differ: the table of causes, each as the requests that it stands for.
#pragma once

#include <string_view>
#include <vector>

#include "lijit/capacity.h"

namespace lijit::capacity {

// A request that the engine may have answered in place of ours.
struct Variant {
  Request request;
  IndexerFormat indexer = IndexerFormat::kFp8;
  std::int64_t missing_blocks = 0;  // that the engine leaves out of its count
  bool floating_point = false;      // tokens through a double: one less where the quotient is whole
  std::string detail = {};
};

struct Cause {
  std::string_view name;
  std::vector<Variant> (*variants)(const Plan& plan, const Observed& observed);
};
const std::vector<Cause>& Causes();

}  // namespace lijit::capacity
