// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace lijit::runtime {
namespace {

constexpr std::int64_t kReadBytes = std::int64_t{64} << 20;  // from the device at a time
constexpr std::uint32_t kUnwrittenBits = 0xffffffff;
constexpr float kMasked = -std::numeric_limits<float>::infinity();

std::uint32_t BitsOf(float number) { return __builtin_bit_cast(std::uint32_t, number); }
bool IsUnwritten(float number) { return BitsOf(number) == kUnwrittenBits; }
bool SameBits(float a, float b) {
  return BitsOf(a) == BitsOf(b) || (std::isnan(a) && std::isnan(b) && !IsUnwritten(a));
}

class Verifier {
 public:
  Verifier(const ScoreCase& score, const BenchReference& reference, Tail tail)
      : score_(score), reference_(reference), tail_(tail) {}

  void Row(int set, std::int64_t row, std::span<const float> got) {
    set_ = set;
    row_ = row;
    const std::int64_t visible = score_.visible[static_cast<std::size_t>(row)];
    const std::int64_t first = row % reference_.queries * reference_.keys;
    for (std::int64_t column = 0; column < visible;) {
      const std::int64_t key = score_.key(set, row, column);
      const std::int64_t count = std::min(score_.key_run - key % score_.key_run, visible - column);
      const auto wanted =
          std::span(reference_.logits)
              .subspan(static_cast<std::size_t>(first + key), static_cast<std::size_t>(count));
      Run(column, got.subspan(static_cast<std::size_t>(column), wanted.size()), wanted);
      column += count;
    }
    Beyond(visible, got.subspan(static_cast<std::size_t>(visible)));
  }

  Verification Finish() {
    result_.calc_diff = xx_ + yy_ == 0 ? 0 : 1 - 2 * xy_ / (xx_ + yy_);
    return std::move(result_);
  }

 private:
  void Run(std::int64_t column, std::span<const float> got, std::span<const float> wanted) {
    double xy = 0, xx = 0, yy = 0;
    bool same = true;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double x = got[i];
      const double y = wanted[i];
      same = same && BitsOf(got[i]) == BitsOf(wanted[i]);
      xy += x * y;
      xx += x * x;
      yy += y * y;
    }
    result_.compared += static_cast<std::int64_t>(got.size());
    // A sum that is not finite would hide all others.
    if (!same || !std::isfinite(xx + yy)) return Differing(column, got, wanted);
    Add(xy, xx, yy);
  }

  // One by one.
  void Differing(std::int64_t column, std::span<const float> got, std::span<const float> wanted) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::int64_t at = column + static_cast<std::int64_t>(i);
      if (IsUnwritten(got[i])) {
        result_.complete = result_.bitwise_equal = false;
        Problem(at, "is not written");
      } else if (std::isfinite(got[i]) != std::isfinite(wanted[i])) {
        result_.complete = result_.bitwise_equal = false;
        Problem(at, fmt::format("is {}, the evaluator's {}", got[i], wanted[i]));
      } else if (!SameBits(got[i], wanted[i])) {
        result_.bitwise_equal = false;
        Problem(at, fmt::format("is {}, the evaluator's {}", got[i], wanted[i]));
      }
      const double x = got[i];
      const double y = wanted[i];
      if (std::isfinite(x) && std::isfinite(y)) Add(x * y, x * x, y * y);
    }
  }

  void Beyond(std::int64_t column, std::span<const float> got) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (tail_ == Tail::kKeep ? IsUnwritten(got[i]) : got[i] == kMasked) continue;
      result_.complete = false;
      Problem(column + static_cast<std::int64_t>(i),
              fmt::format("is {}, which lies beyond the row's keys and should be {}", got[i],
                          tail_ == Tail::kKeep ? "untouched" : "-inf"));
      return;
    }
  }

  void Add(double xy, double xx, double yy) {
    xy_ += xy;
    xx_ += xx;
    yy_ += yy;
  }

  void Problem(std::int64_t column, std::string_view what) {
    if (!result_.first_problem.empty()) return;
    result_.first_problem = fmt::format("set {}, row {}, column {} {}", set_, row_, column, what);
  }

  const ScoreCase& score_;
  const BenchReference& reference_;
  const Tail tail_;
  Verification result_;
  int set_ = 0;
  std::int64_t row_ = 0;
  double xy_ = 0, xx_ = 0, yy_ = 0;
};

}  // namespace

Result<Verification> VerifyOutputs(Device& device, const ScoreCase& score,
                                   const BenchReference& reference, Tail tail) {
  Verifier verifier(score, reference, tail);
  const std::int64_t row_bytes = score.width * std::int64_t{sizeof(float)};
  const std::int64_t rows_at_once = std::max<std::int64_t>(kReadBytes / row_bytes, 1);
  std::vector<float> numbers(static_cast<std::size_t>(
      std::min(rows_at_once, std::max<std::int64_t>(score.rows, 1)) * score.width));
  for (int set = 0; set < score.sets; ++set) {
    for (std::int64_t begin = 0; begin < score.rows; begin += rows_at_once) {
      const std::int64_t count = std::min(rows_at_once, score.rows - begin);
      const std::int64_t offset = set * score.set_stride + begin * row_bytes;
      LIJIT_TRY(device.CopyToHost(numbers.data(),
                                  score.out.address() + static_cast<DeviceAddress>(offset),
                                  static_cast<std::uint64_t>(count * row_bytes)));
      for (std::int64_t row = 0; row < count; ++row) {
        const auto got = std::span<const float>(numbers).subspan(
            static_cast<std::size_t>(row * score.width), static_cast<std::size_t>(score.width));
        verifier.Row(set, begin + row, got);
      }
    }
  }
  return verifier.Finish();
}

}  // namespace lijit::runtime
