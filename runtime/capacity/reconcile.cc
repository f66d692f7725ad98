// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "lijit/capacity.h"
#include "runtime/capacity/causes.h"
#include "runtime/capacity/checked.h"

namespace lijit::capacity {
namespace {

// Plans for the least and the most memory that the engine may have had. Where its log rounds, the
// truth is between them.
struct PlanRange {
  Plan low, high;
};

std::string RangeText(std::int64_t low, std::int64_t high) {
  return low == high ? Grouped(low) : Grouped(low) + " to " + Grouped(high);
}

const Rank& Tightest(const Plan& plan) { return plan.ranks[plan.tightest]; }

Result<PlanRange> PlansOf(const Variant& variant, const Observed& observed) {
  Request low = variant.request, high = variant.request;
  if (observed.cache_bytes) {
    low.memory = {.cache_bytes = {observed.cache_bytes->low}};
    high.memory = {.cache_bytes = {observed.cache_bytes->high}};
  }
  PlanRange plans;
  LIJIT_ASSIGN(plans.low, MakePlan(low, variant.indexer));
  LIJIT_ASSIGN(plans.high, MakePlan(high, variant.indexer));
  return plans;
}

// Compares one quantity after another. Each is derived from the engine's own number of the step
// before it where there is one, so that a difference is reported where it arises.
class Comparer {
 public:
  Comparer(const Variant& variant, const PlanRange& plans, const Observed& observed)
      : variant_(variant), plans_(plans), observed_(observed) {}

  Result<std::vector<Comparison>> Compare() {
    LIJIT_TRY(CompareMemory());
    CompareLength();
    CompareGroups();
    CompareBlockBytes();
    CompareBlocks();
    LIJIT_TRY(CompareTokens());
    LIJIT_TRY(CompareConcurrency());
    return std::move(comparisons_);
  }

 private:
  void Add(std::string quantity, std::string ours, std::string theirs, bool agrees) {
    comparisons_.push_back({std::move(quantity), std::move(ours), std::move(theirs), agrees});
  }

  Status CompareMemory() {
    if (!observed_.cache_bytes) return {};
    const auto [low, high] = *observed_.cache_bytes;
    LIJIT_ASSIGN(const Plan plan, MakePlan(variant_.request, variant_.indexer));
    const std::int64_t ours = Tightest(plan).cache_bytes;
    Add("cache bytes", Grouped(ours), RangeText(low, high), ours >= low && ours <= high);
    return {};
  }

  void CompareLength() {
    if (!observed_.max_model_len) return;
    const std::int64_t ours = variant_.request.max_model_len;
    Add("max model length", Grouped(ours), Grouped(*observed_.max_model_len),
        ours == *observed_.max_model_len);
  }

  void CompareGroups() {
    if (observed_.group_bytes.empty()) return;
    std::vector<std::int64_t> ours = Tightest(plans_.low).group_bytes;
    std::vector<std::int64_t> theirs = observed_.group_bytes;
    std::sort(ours.rbegin(), ours.rend());
    std::sort(theirs.rbegin(), theirs.rend());
    Add("bytes of groups", fmt::format("{}", fmt::join(ours, ", ")),
        fmt::format("{}", fmt::join(theirs, ", ")), ours == theirs);
  }

  void CompareBlockBytes() {
    if (!observed_.block_bytes) return;
    const std::int64_t ours = plans_.low.block_bytes;
    Add("block bytes", Grouped(ours), Grouped(*observed_.block_bytes),
        ours == *observed_.block_bytes);
  }

  void CompareBlocks() {
    low_blocks_ = std::max<std::int64_t>(plans_.low.blocks - variant_.missing_blocks, 0);
    high_blocks_ = std::max<std::int64_t>(plans_.high.blocks - variant_.missing_blocks, 0);
    if (!observed_.blocks) return;
    Add("blocks", RangeText(low_blocks_, high_blocks_), Grouped(*observed_.blocks),
        *observed_.blocks >= low_blocks_ && *observed_.blocks <= high_blocks_);
    low_blocks_ = high_blocks_ = *observed_.blocks;
  }

  Result<std::int64_t> TokensOf(std::int64_t blocks) const {
    const std::int64_t length = variant_.request.max_model_len;
    const std::int64_t requests = plans_.low.request_blocks;
    LIJIT_ASSIGN(const std::int64_t tokens, MultiplyDivide(blocks, length, requests, "tokens"));
    // As vLLM does; a quotient that is whole may come out one less.
    if (variant_.floating_point && tokens < std::int64_t{1} << 52) {
      const double times = static_cast<double>(blocks) / static_cast<double>(requests);
      return static_cast<std::int64_t>(times * static_cast<double>(length));
    }
    return tokens;
  }

  // Whether a whole number of blocks between the bounds gives the observed tokens.
  Result<bool> TokensAreReached(std::int64_t tokens) const {
    LIJIT_ASSIGN(const std::int64_t least, LeastBlocksFor(tokens));
    const std::int64_t blocks = std::clamp(least, low_blocks_, high_blocks_);
    LIJIT_ASSIGN(const std::int64_t reached, TokensOf(blocks));
    return reached == tokens;
  }

  // The fewest blocks that give at least so many tokens.
  Result<std::int64_t> LeastBlocksFor(std::int64_t tokens) const {
    const std::int64_t length = variant_.request.max_model_len;
    LIJIT_ASSIGN(const std::int64_t below,
                 MultiplyDivide(tokens, plans_.low.request_blocks, length, "blocks"));
    LIJIT_ASSIGN(const std::int64_t reached, TokensOf(below));
    return below + (reached < tokens ? 1 : 0);
  }

  Status CompareTokens() {
    if (!observed_.tokens) return {};
    LIJIT_ASSIGN(const std::int64_t low, TokensOf(low_blocks_));
    LIJIT_ASSIGN(const std::int64_t high, TokensOf(high_blocks_));
    LIJIT_ASSIGN(const bool agrees, TokensAreReached(*observed_.tokens));
    Add("tokens", RangeText(low, high), Grouped(*observed_.tokens), agrees);
    return {};
  }

  Status CompareConcurrency() {
    if (!observed_.concurrency_hundredths) return {};
    const std::int64_t requests = plans_.low.request_blocks;
    // Rounded to hundredths, half either way.
    LIJIT_ASSIGN(const std::int64_t low, MultiplyDivide(low_blocks_, 200, requests, "concurrency"));
    LIJIT_ASSIGN(const std::int64_t high,
                 MultiplyDivide(high_blocks_, 200, requests, "concurrency"));
    const std::int64_t theirs = *observed_.concurrency_hundredths;
    const auto text = [](std::int64_t hundredths) {
      return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
    };
    const std::int64_t low_rounded = low / 2, high_rounded = (high + 1) / 2;
    Add("concurrency", text(low_rounded) + " to " + text(high_rounded), text(theirs),
        theirs >= low_rounded && theirs <= high_rounded);
    return {};
  }

  const Variant& variant_;
  const PlanRange& plans_;
  const Observed& observed_;
  std::vector<Comparison> comparisons_;
  std::int64_t low_blocks_ = 0, high_blocks_ = 0;
};

Result<std::vector<Comparison>> CompareVariant(const Variant& variant, const Observed& observed) {
  LIJIT_ASSIGN(const PlanRange plans, PlansOf(variant, observed));
  return Comparer(variant, plans, observed).Compare();
}

bool AllAgree(const std::vector<Comparison>& comparisons) {
  return std::all_of(comparisons.begin(), comparisons.end(),
                     [](const Comparison& each) { return each.agrees; });
}

// A variant that cannot be planned (a format that the model does not have) explains nothing.
bool Explains(const Variant& variant, const Observed& observed) {
  const Result<std::vector<Comparison>> comparisons = CompareVariant(variant, observed);
  return comparisons && AllAgree(*comparisons);
}

// Bytes of the blocks that the engine reported, as far as it did.
Result<std::int64_t> TheirBytes(const Plan& plan, const Observed& observed) {
  const std::int64_t block_bytes = observed.block_bytes.value_or(plan.block_bytes);
  std::int64_t blocks = observed.blocks.value_or(plan.blocks);
  if (!observed.blocks && observed.tokens) {
    LIJIT_ASSIGN(blocks, MultiplyDivide(*observed.tokens, plan.request_blocks,
                                        plan.request.max_model_len, "blocks"));
    LIJIT_ASSIGN(const std::int64_t reached,
                 MultiplyDivide(blocks, plan.request.max_model_len, plan.request_blocks, "tokens"));
    if (reached < *observed.tokens) ++blocks;
  }
  return (Checked(blocks) * block_bytes).Get("bytes of the engine's blocks");
}

Status CheckObserved(const Observed& observed) {
  for (const auto& number : {observed.tokens, observed.blocks, observed.block_bytes,
                             observed.max_model_len, observed.concurrency_hundredths}) {
    if (number && *number < 0) {
      return InvalidArgument(
          fmt::format("an observed number is {}; none may be negative", *number));
    }
  }
  for (const std::int64_t bytes : observed.group_bytes) {
    if (bytes < 0) return InvalidArgument("observed bytes of a group are negative");
  }
  if (!observed.cache_bytes) return {};
  const auto [low, high] = *observed.cache_bytes;
  if (low >= 0 && low <= high) return {};
  return InvalidArgument(fmt::format("observed cache bytes from {} to {} are no range", low, high));
}

}  // namespace

Result<Reconciliation> Reconcile(const Plan& plan, const Observed& observed) {
  LIJIT_TRY(CheckObserved(observed));
  Reconciliation result;
  const Variant ours{.request = plan.request, .indexer = plan.indexer};
  LIJIT_ASSIGN(result.comparisons, CompareVariant(ours, observed));
  if (result.comparisons.empty()) {
    return InvalidArgument("the engine's report has no number that can be compared");
  }
  result.agrees = AllAgree(result.comparisons);
  if (result.agrees) return result;
  for (const Cause& cause : Causes()) {
    for (const Variant& variant : cause.variants(plan, observed)) {
      if (!Explains(variant, observed)) continue;
      result.explanations.push_back({std::string(cause.name), variant.detail});
    }
  }
  if (!result.explanations.empty()) return result;
  LIJIT_ASSIGN(const std::int64_t theirs, TheirBytes(plan, observed));
  result.unexplained_bytes = plan.blocks * plan.block_bytes - theirs;
  return result;
}

}  // namespace lijit::capacity
