// SPDX-License-Identifier: Apache-2.0
// A decoded operand of wgmma, in the form in which wgmma_sums.h multiplies it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lijit::emulator {

inline constexpr unsigned kWgmmaRows = 16;          // of a warp
inline constexpr unsigned kWgmmaColumns = 8;        // N is a multiple
inline constexpr std::int16_t kNoExponent = -2000;  // of zero
// Widths of lines with infinities or NaN, and of those whose unit is too small or too large.
inline constexpr std::int16_t kNotFinite = 4000;
inline constexpr std::int16_t kTooWide = 2000;

// A line is a row of A or a column of B.
struct Line {
  std::int16_t width = 0;     // from the least unit of its elements to their largest exponent
  float inverse_unit = 1.0f;  // one over that unit
};

// K x N elements, by k.
struct WgmmaMatrix {
  unsigned lines = 0;
  std::vector<float> values;            // [k][line]
  std::vector<std::int16_t> exponents;  // [k][line]
  std::vector<Line> of_line;

  void Resize(unsigned depth, unsigned count) {
    lines = count;
    values.resize(std::size_t{depth} * count);
    exponents.resize(std::size_t{depth} * count);
    of_line.resize(count);
  }
};

}  // namespace lijit::emulator
