// SPDX-License-Identifier: Apache-2.0
#include "compiler/support/float_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace lijit {
namespace {

constexpr std::uint32_t kQuietNan = 0x7fc00000u;

std::optional<float> NanFromText(std::string_view text) {
  if (text == "nan") return FloatFromBits(kQuietNan);
  if (!text.starts_with("nan(0x") || !text.ends_with(")")) return std::nullopt;
  std::uint32_t bits = 0;
  const char* first = text.data() + 6;
  const char* last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(first, last, bits, 16);
  if (error != std::errc() || end != last) return std::nullopt;
  const float value = FloatFromBits(bits);
  if (!std::isnan(value)) return std::nullopt;
  return value;
}

}  // namespace

std::string FloatToText(float value) {
  if (std::isnan(value)) {
    const std::uint32_t bits = BitsOfFloat(value);
    return bits == kQuietNan ? "nan" : fmt::format("nan(0x{:08x})", bits);
  }
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<float> FloatFromText(std::string_view text) {
  if (text.starts_with("nan")) return NanFromText(text);
  const bool negative = text.starts_with("-");
  std::string_view digits = negative ? text.substr(1) : text;
  const float sign = negative ? -1.0f : 1.0f;
  if (digits == "inf") return sign * INFINITY;
  const bool hexadecimal = digits.starts_with("0x");
  if (hexadecimal) digits.remove_prefix(2);
  float value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value,
                      hexadecimal ? std::chars_format::hex : std::chars_format::general);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.starts_with("-")) {
    return std::nullopt;
  }
  return sign * value;
}

}  // namespace lijit
