// SPDX-License-Identifier: Apache-2.0
// Numbers in text, shared by sizes on a command line and an engine's log.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lijit::capacity {

// numerator / denominator; the denominator is a power of ten.
struct Decimal {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
};

// Digits, perhaps a point and more digits; `text` is advanced past them. Commas between digits are
// skipped if `grouped`. Nothing for no digit or more than 18 of them.
std::optional<Decimal> TakeDecimal(std::string_view& text, bool grouped = false);

}  // namespace lijit::capacity
