// SPDX-License-Identifier: Apache-2.0
// Sizes and fractions as people write them, without floating point.
#include "runtime/capacity/numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "lijit/capacity.h"
#include "runtime/capacity/checked.h"

namespace lijit::capacity {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr Unit kUnits[] = {{"", 1},
                           {"B", 1},
                           {"kB", 1'000},
                           {"MB", 1'000'000},
                           {"GB", 1'000'000'000},
                           {"TB", 1'000'000'000'000},
                           {"KiB", std::int64_t{1} << 10},
                           {"MiB", std::int64_t{1} << 20},
                           {"GiB", std::int64_t{1} << 30},
                           {"TiB", std::int64_t{1} << 40}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<Decimal> TakeDecimal(std::string_view& text, bool grouped) {
  Decimal decimal;
  int digits = 0;
  bool after_point = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    const bool digit_follows = text.size() > 1 && IsDigit(text[1]);
    if (c == '.' && !after_point && digits > 0 && digit_follows) {
      after_point = true;
    } else if (IsDigit(c)) {
      if (++digits > 18) return std::nullopt;
      decimal.numerator = decimal.numerator * 10 + (c - '0');
      if (after_point) decimal.denominator *= 10;
    } else if (!(c == ',' && grouped && digits > 0 && !after_point && digit_follows)) {
      break;
    }
  }
  if (digits == 0) return std::nullopt;
  return decimal;
}

Result<std::int64_t> ParseBytes(std::string_view text) {
  std::string_view rest = text;
  if (const std::optional<Decimal> decimal = TakeDecimal(rest)) {
    const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                    [&](const Unit& each) { return each.name == rest; });
    if (unit != std::end(kUnits)) {
      return MultiplyDivide(decimal->numerator, unit->bytes, decimal->denominator,
                            fmt::format("size '{}'", text));
    }
  }
  return InvalidArgument(fmt::format(
      "'{}' is not a size; accepted is a number of at most 18 digits, then B, kB, MB, GB, TB, KiB, "
      "MiB, GiB, TiB or nothing, for example 24GiB",
      text));
}

Result<std::int64_t> ParseFraction(std::string_view text) {
  std::string_view rest = text;
  const std::optional<Decimal> decimal = TakeDecimal(rest);
  if (decimal && rest.empty() && decimal->denominator <= 1'000'000 &&
      decimal->numerator <= decimal->denominator) {
    return decimal->numerator * (1'000'000 / decimal->denominator);
  }
  return InvalidArgument(fmt::format(
      "'{}' is not a fraction; accepted is 0 to 1 with at most 6 decimals, for example 0.92",
      text));
}

std::string Grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace lijit::capacity
