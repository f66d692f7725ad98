// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>

#include "lijit/capacity.h"
#include "runtime/capacity/limits.h"

namespace lijit::capacity {
namespace {

// A number at the start of `text`, which is advanced past it.
bool TakeNumber(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool TakeNumberAfter(std::string_view& text, char mark, int& number) {
  if (!text.starts_with(mark)) return true;
  text.remove_prefix(1);
  return TakeNumber(text, number);
}

struct Range {
  int first = 0, last = 0, step = 1;
};

std::optional<Range> ParseRange(std::string_view text) {
  Range range;
  if (!TakeNumber(text, range.first)) return std::nullopt;
  range.last = range.first;
  if (!TakeNumberAfter(text, '-', range.last)) return std::nullopt;
  if (!TakeNumberAfter(text, ':', range.step)) return std::nullopt;
  if (!text.empty() || range.step < 1 || range.last < range.first) return std::nullopt;
  return range;
}

}  // namespace

Result<std::vector<int>> ParseLayers(std::string_view text) {
  std::vector<int> layers;
  while (true) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::optional<Range> range = ParseRange(part);
    if (!range || range->last >= kMaxLayers) {
      return InvalidArgument(fmt::format(
          "layers '{}': accepted are numbers and ranges FIRST-LAST[:STEP] below {}, for example "
          "0-2,6-74:4",
          part, kMaxLayers));
    }
    if (!layers.empty() && range->first <= layers.back()) {
      return InvalidArgument(fmt::format("layers '{}': must come after layer {}, each layer once",
                                         part, layers.back()));
    }
    for (int layer = range->first; layer <= range->last; layer += range->step) {
      layers.push_back(layer);
    }
    if (part.size() == text.size()) return layers;
    text.remove_prefix(part.size() + 1);
  }
}

}  // namespace lijit::capacity
