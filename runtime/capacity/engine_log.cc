// SPDX-License-Identifier: Apache-2.0
// What an engine's log says of its cache. The text is untrusted: numbers are read by bounded steps.
#include <fmt/format.h>

#include "lijit/capacity.h"
#include "runtime/capacity/checked.h"
#include "runtime/capacity/numbers.h"

namespace lijit::capacity {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::optional<std::int64_t> TakeWhole(std::string_view& text) {
  const std::optional<Decimal> decimal = TakeDecimal(text, true);
  if (!decimal || decimal->denominator != 1) return std::nullopt;
  return decimal->numerator;
}

bool Take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Each reads what follows its mark; false if it is not of the expected form.
bool ReadTokens(std::string_view text, Observed& observed) {
  const auto tokens = TakeWhole(text);
  if (!tokens || !Take(text, " tokens")) return false;
  observed.tokens = tokens;
  return true;
}

bool ReadBlocks(std::string_view text, Observed& observed) {
  const auto blocks = TakeWhole(text);
  if (!blocks) return false;
  observed.blocks = blocks;
  return true;
}

bool ReadConcurrency(std::string_view text, Observed& observed) {
  const auto length = TakeWhole(text);
  if (!length || !Take(text, " tokens per request: ")) return false;
  const auto times = TakeDecimal(text, true);
  if (!times || !Take(text, "x") || times->denominator > 100) return false;
  const auto hundredths = MultiplyDivide(times->numerator, 100 / times->denominator, 1, "");
  if (!hundredths) return false;
  observed.max_model_len = length;
  observed.concurrency_hundredths = *hundredths;
  return true;
}

// "7.71 GiB" is everything that rounds to it.
bool ReadMemory(std::string_view text, Observed& observed) {
  const auto size = TakeDecimal(text, true);
  if (!size || !Take(text, " GiB")) return false;
  const auto twice = Checked(size->numerator) * 2;
  const auto low = (twice - 1).Get("");
  const auto high = (twice + 1).Get("");
  if (!low || !high || size->denominator > INT64_MAX / 2) return false;
  const auto low_bytes = MultiplyDivide(*low < 0 ? 0 : *low, kGiB, size->denominator * 2, "");
  const auto high_bytes = MultiplyDivide(*high, kGiB, size->denominator * 2, "");
  if (!low_bytes || !high_bytes) return false;
  observed.cache_bytes = ObservedRange{*low_bytes, *high_bytes};
  return true;
}

struct Mark {
  std::string_view text;
  bool (*read)(std::string_view, Observed&);
};
constexpr Mark kMarks[] = {
    {"GPU KV cache size: ", ReadTokens}, {"Maximum concurrency for ", ReadConcurrency},
    {"# GPU blocks: ", ReadBlocks},      {"num_gpu_blocks is: ", ReadBlocks},
    {"num_gpu_blocks: ", ReadBlocks},    {"Available KV cache memory: ", ReadMemory},
};

bool ReadLine(std::string_view line, Observed& observed) {
  bool found = false;
  for (const Mark& mark : kMarks) {
    const std::size_t at = line.find(mark.text);
    if (at == std::string_view::npos) continue;
    found = mark.read(line.substr(at + mark.text.size()), observed) || found;
  }
  return found;
}

}  // namespace

Result<Observed> ParseEngineLog(std::string_view text) {
  Observed observed;
  bool found = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    found = ReadLine(line, observed) || found;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  if (found) return observed;
  return InvalidArgument(
      "no line of the log is known; known are 'GPU KV cache size: N tokens', 'Maximum concurrency "
      "for N tokens per request: Nx', '# GPU blocks: N', 'num_gpu_blocks is: N', 'Available KV "
      "cache memory: N GiB'");
}

}  // namespace lijit::capacity
