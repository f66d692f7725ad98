// SPDX-License-Identifier: Apache-2.0
// A plan of both formats, as JSON and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lijit/capacity.h"

namespace lijit::tools {

struct PlanResult {
  std::vector<capacity::Plan> plans;  // fp8, mxfp4
  std::vector<capacity::Transients> transients;
  std::optional<capacity::Reconciliation> reconciliation;

  // Nothing was observed, or it agrees, or one cause explains it.
  bool ok() const {
    return !reconciliation || reconciliation->agrees || !reconciliation->explanations.empty();
  }
};

// Fields: docs/capacity.md.
nlohmann::json PlanJson(const PlanResult& result);
std::string PlanText(const PlanResult& result);

}  // namespace lijit::tools
