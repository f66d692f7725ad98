// SPDX-License-Identifier: Apache-2.0
// The support table: which format and op is supported on which target by which schedule and
// backend, and by what evidence. The gate: what is not in it is refused, with the reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit {

struct SupportRow {
  std::string target;
  std::string format;
  std::string op;  // "quantize_query", "logits.paged", ...; "*" in a refusal of a target
  std::string schedule;
  std::string backend;
  std::string evidence;  // "hardware", "emulated"; empty in a refusal
  std::string refused;   // why not, and what would work; empty if supported
};

// All rows, by target, format, op.
std::vector<SupportRow> SupportTable();

// Ok if the combination is in the table. Refused names the combination and what would work.
// `shipped` is false for a format that the user's own text declares: the schedule simt is generated
// from that text, so any target of the table runs it.
Status CheckSupport(std::string_view target, std::string_view format, std::string_view op,
                    std::string_view schedule, std::string_view backend, bool shipped = true);

}  // namespace lijit
