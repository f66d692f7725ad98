// SPDX-License-Identifier: Apache-2.0
// What the warps of a warpgroup have begun together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lijit::emulator {

inline constexpr unsigned kGroupWarps = 4;

// A wgmma that a warp has begun, for the checks when it is done.
struct PendingProduct {
  struct Operand {
    std::uint64_t descriptor = 0;
    unsigned first_line = 0;
    unsigned lines = 0;  // 0: it is in registers
  };
  std::uint32_t group = 0;
  std::uint32_t instruction = 0;
  Operand a;
  Operand b;
};

// The order in which the warps of a warpgroup execute wgmma.mma_async (and setmaxnreg): all the
// same.
struct WarpgroupStep {
  std::uint32_t instruction = 0;
  std::uint64_t a = 0;  // descriptors
  std::uint64_t b = 0;

  bool operator==(const WarpgroupStep&) const = default;
};

class WarpgroupSteps {
 public:
  // False if another warp's step with the same number differs.
  bool Add(unsigned warp, const WarpgroupStep& step) {
    const std::uint64_t number = counts_[warp]++;
    if (number == first_ + steps_.size()) {
      steps_.push_back(step);
      return true;
    }
    const bool same = steps_[number - first_] == step;
    DropCommon();
    return same;
  }
  bool AllTookTheSame() const { return steps_.empty(); }
  const WarpgroupStep& Next() const { return steps_.front(); }

 private:
  void DropCommon() {
    std::uint64_t least = counts_[0];
    for (const std::uint64_t count : counts_) least = std::min(least, count);
    steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(least - first_));
    first_ = least;
  }

  std::array<std::uint64_t, kGroupWarps> counts_{};  // steps of each warp
  std::uint64_t first_ = 0;                          // number of steps_[0]
  std::vector<WarpgroupStep> steps_;                 // that not all have taken
};

}  // namespace lijit::emulator
