// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfenv>
#include <cstdint>

namespace lijit::emulator {

// PTX's rounding modifiers; the integer forms (.rni and so on) share them.
enum class Rounding : std::uint8_t {
  kNearestEven,  // .rn, .rni
  kNearestAway,  // .rna
  kTowardZero,   // .rz, .rzi
  kDown,         // .rm, .rmi
  kUp            // .rp, .rpi
};

// Rounds the host's arithmetic another way while it lives. Operands and results of the arithmetic
// must be volatile, or the compiler may move it out of the scope.
class ScopedRounding {
 public:
  explicit ScopedRounding(Rounding rounding) { std::fesetround(HostMode(rounding)); }
  ~ScopedRounding() { std::fesetround(FE_TONEAREST); }
  ScopedRounding(const ScopedRounding&) = delete;
  ScopedRounding& operator=(const ScopedRounding&) = delete;

 private:
  static int HostMode(Rounding rounding) {
    switch (rounding) {
      case Rounding::kTowardZero:
        return FE_TOWARDZERO;
      case Rounding::kDown:
        return FE_DOWNWARD;
      case Rounding::kUp:
        return FE_UPWARD;
      default:
        return FE_TONEAREST;
    }
  }
};

}  // namespace lijit::emulator
