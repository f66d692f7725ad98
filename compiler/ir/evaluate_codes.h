// SPDX-License-Identifier: Apache-2.0
// The meaning of a format, in tables and plain arithmetic: which number a code stands for, and
// which code a number becomes. The oracle that generated code is tested against, so it shares none
// of its methods: codes are found by comparing with every number that has one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/format.h"

namespace lijit::ir {

// The codes of one element format.
class ElementCodes {
 public:
  explicit ElementCodes(const ElementFormat& format);

  // The code that x becomes: the nearest number's, by the format's rules for ties, zero, overflow
  // and NaN.
  std::uint32_t Encode(float x) const;
  // The number of a code, exactly; NaN and infinity where the format has them.
  float Decode(std::uint32_t code) const { return numbers_[code]; }

 private:
  std::uint32_t EncodeMagnitude(double magnitude) const;

  ElementFormat format_;
  std::vector<float> numbers_;      // of every code
  std::vector<double> magnitudes_;  // of the codes 0 to MaxCode(), ascending
  double beyond_;                   // the magnitude that would follow the largest one
};

// One row as it is stored, and what it stands for.
struct StoredRow {
  std::vector<std::uint8_t> values;  // Format::ValueBytes
  std::vector<std::uint8_t> scales;  // Format::ScaleBytes: block scales, padding, f32 row scale
  std::vector<float> elements;       // decoded, scales not applied
  std::vector<int> scale_codes;      // of each block; none without block scales
  std::vector<float> block_scales;   // those codes' numbers
  float row_scale = 1;
};

// The rows of one format. The format must be sound (verifier.h) and outlive this.
class FormatCodes {
 public:
  explicit FormatCodes(const Format& format);

  StoredRow Encode(std::span<const float> row) const;
  // Reads a row of `dim` numbers. `scales` may end before the row scale, which is then 1.
  StoredRow Decode(std::span<const std::uint8_t> values, std::span<const std::uint8_t> scales,
                   int dim) const;

  // The number of a block scale's code.
  float ScaleNumber(int code) const;
  // The f32 scale of a row whose largest magnitude is `largest`; 1 if the format has none.
  float RowScaleOf(float largest) const;
  // The code of the scale of one block of a row that has the scale `row_scale`.
  int BlockScaleCodeOf(std::span<const float> block, float row_scale) const;

 private:
  // Appends the codes of x / scale; a scale of zero makes all of them zero.
  void EncodeBlock(std::span<const float> block, float scale,
                   std::vector<std::uint32_t>& codes) const;
  void FinishScales(StoredRow& row, int dim) const;
  void DecodeElements(StoredRow& row, const std::vector<std::uint32_t>& codes) const;

  const Format& format_;
  ElementCodes elements_;
  ElementCodes e4m3_;
};

// x rounded to nearest even in bfloat16 or binary16. NaN becomes NaN.
float RoundToBf16(float x);
float RoundToF16(float x);

}  // namespace lijit::ir
