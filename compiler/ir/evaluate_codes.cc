// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/evaluate_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/support/float_text.h"
#include "lijit/result.h"

namespace lijit::ir {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kUe8m0Nan = 255;
constexpr std::uint32_t kE4m3Nan = 0x7f;

// The number of a magnitude code, which may be infinity or NaN.
double MagnitudeOf(const ElementFormat& format, std::uint32_t code) {
  const auto field = static_cast<int>(code >> format.mantissa);
  const std::uint32_t fraction = code & ((1u << format.mantissa) - 1);
  const bool top = field == (1 << format.exponent) - 1;
  if (format.special == Special::kNan && code == format.MagnitudeMask()) return kNan;
  if (format.special == Special::kIeee && top) return fraction == 0 ? INFINITY : double{kNan};
  const double significand = (field == 0 ? 0.0 : 1.0) + std::ldexp(fraction, -format.mantissa);
  return std::ldexp(significand, std::max(field, 1) - format.bias);
}

// The largest magnitude of the numbers that are not NaN; 0 if there is none.
float LargestMagnitude(std::span<const float> numbers) {
  float largest = 0;
  for (const float x : numbers) {
    if (std::fabs(x) > largest) largest = std::fabs(x);
  }
  return largest;
}

bool AllFinite(std::span<const float> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

// The exponent of the smallest power of two that is not below x > 0.
int CeilLog2(float x) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);  // in [0.5, 1)
  return fraction == 0.5f ? exponent - 1 : exponent;
}

int Pow2CeilCode(float a, float max) {
  if (std::isinf(a)) return 254;
  const float quotient = a / max;
  return quotient == 0 ? 1 : std::clamp(CeilLog2(quotient) + 127, 1, 254);
}

int Pow2FloorCode(float a, int max_exponent) {
  if (a == 0) return 0;
  if (std::isinf(a)) return 254;
  return std::clamp(std::ilogb(a) - max_exponent + 127, 0, 254);
}

// a's exponent field after half of its first dropped mantissa bit has been added: the definition is
// one of bits.
int Pow2EvenCode(float a, const ElementFormat& element) {
  if (a == 0) return 0;
  if (std::isinf(a)) return 254;
  const std::uint32_t half = 1u << (23 - element.mantissa - 1);
  const auto field = static_cast<int>((BitsOfFloat(a) + half) >> 23);
  return std::clamp(field - element.MaxExponent(), 0, 254);
}

int Ue8m0Code(ScaleRule rule, float a, const ElementFormat& element) {
  switch (rule) {
    case ScaleRule::kPow2Ceil:
      return Pow2CeilCode(a, element.Max());
    case ScaleRule::kPow2Floor:
      return Pow2FloorCode(a, element.MaxExponent());
    case ScaleRule::kPow2Even:
      return Pow2EvenCode(a, element);
    case ScaleRule::kExact:
      break;
  }
  AbortAt(__FILE__, __LINE__, "an exact UE8M0 scale");
}

std::vector<std::uint8_t> Pack(const ElementFormat& element,
                               const std::vector<std::uint32_t>& codes) {
  std::vector<std::uint8_t> bytes;
  if (element.Bits() == 4) {
    for (std::size_t i = 0; i < codes.size(); i += 2) {
      const bool low_first = element.packing == Packing::kLowFirst;
      const std::uint32_t low = codes[low_first ? i : i + 1];
      const std::uint32_t high = codes[low_first ? i + 1 : i];
      bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
    }
    return bytes;
  }
  for (const std::uint32_t code : codes) {
    bytes.push_back(static_cast<std::uint8_t>(code % 256));
    if (element.Bits() == 16) bytes.push_back(static_cast<std::uint8_t>(code / 256));
  }
  return bytes;
}

std::vector<std::uint32_t> Unpack(const ElementFormat& element,
                                  std::span<const std::uint8_t> bytes) {
  std::vector<std::uint32_t> codes;
  if (element.Bits() == 4) {
    for (const std::uint8_t byte : bytes) {
      const bool low_first = element.packing == Packing::kLowFirst;
      codes.push_back(low_first ? byte % 16 : byte / 16);
      codes.push_back(low_first ? byte / 16 : byte % 16);
    }
  } else if (element.Bits() == 8) {
    codes.assign(bytes.begin(), bytes.end());
  } else {
    for (std::size_t i = 0; i < bytes.size(); i += 2)
      codes.push_back(bytes[i] + bytes[i + 1] * 256u);
  }
  return codes;
}

float RoundTo(const ElementCodes& codes, float x) { return codes.Decode(codes.Encode(x)); }

}  // namespace

ElementCodes::ElementCodes(const ElementFormat& format) : format_(format) {
  for (std::uint32_t code = 0; code <= format.MagnitudeMask(); ++code) {
    numbers_.push_back(static_cast<float>(MagnitudeOf(format, code)));
    if (code <= format.MaxCode()) magnitudes_.push_back(MagnitudeOf(format, code));
  }
  for (std::uint32_t code = 0; code <= format.MagnitudeMask(); ++code) {
    numbers_.push_back(-numbers_[code]);
  }
  ElementFormat without_special = format;
  without_special.special = Special::kNone;
  beyond_ = MagnitudeOf(without_special, format.MaxCode() + 1);
}

std::uint32_t ElementCodes::EncodeMagnitude(double magnitude) const {
  const std::uint32_t max_code = format_.MaxCode();
  if (magnitude > magnitudes_.back() && format_.overflow == Overflow::kSaturate) return max_code;
  if (magnitude >= beyond_) return max_code + 1;  // infinity
  // The neighbours: below <= magnitude < above.
  const auto next = std::upper_bound(magnitudes_.begin(), magnitudes_.end(), magnitude);
  const auto above_code = static_cast<std::uint32_t>(next - magnitudes_.begin());
  const double above = next == magnitudes_.end() ? beyond_ : *next;
  const double to_below = magnitude - magnitudes_[above_code - 1];
  const double to_above = above - magnitude;
  const std::uint32_t even_code = above_code % 2 == 0 ? above_code : above_code - 1;
  if (to_below < to_above) return above_code - 1;
  if (to_below > to_above) return above_code;
  return format_.ties == Ties::kEven ? even_code : above_code - 1;
}

std::uint32_t ElementCodes::Encode(float x) const {
  if (std::isnan(x)) return static_cast<std::uint32_t>(format_.nan);
  const std::uint32_t code = EncodeMagnitude(std::fabs(double{x}));
  const bool negative = std::signbit(x) && (code != 0 || format_.zero == Zero::kSigned);
  return negative ? code + format_.SignBit() : code;
}

FormatCodes::FormatCodes(const Format& format)
    : format_(format), elements_(format.element), e4m3_(E4m3()) {}

float FormatCodes::ScaleNumber(int code) const {
  if (format_.block_scale->code == ScaleCode::kE4m3) {
    return e4m3_.Decode(static_cast<std::uint32_t>(code));
  }
  return code == kUe8m0Nan ? kNan : std::ldexp(1.0f, code - 127);
}

float FormatCodes::RowScaleOf(float largest) const {
  if (!format_.row_scale) return 1;
  const float a = std::max(largest, format_.row_scale->floor);
  // Block scales are E4M3, so that the largest block's is to be 448.
  const float max = format_.element.Max() * (format_.block_scale ? E4m3().Max() : 1.0f);
  if (format_.row_scale->rule == ScaleRule::kExact) return a / max;
  return std::ldexp(1.0f, Pow2CeilCode(a, max) - 127);
}

int FormatCodes::BlockScaleCodeOf(std::span<const float> block, float row_scale) const {
  const BlockScale& scale = *format_.block_scale;
  const bool e4m3 = scale.code == ScaleCode::kE4m3;
  if (scale.nonfinite == Nonfinite::kPropagate && !AllFinite(block)) {
    return e4m3 ? static_cast<int>(kE4m3Nan) : kUe8m0Nan;
  }
  const float a = std::max(LargestMagnitude(block), scale.floor);
  if (!e4m3) return Ue8m0Code(scale.rule, a, format_.element);
  const float quotient = a / format_.element.Max() / row_scale;
  return static_cast<int>(e4m3_.Encode(quotient));
}

void FormatCodes::EncodeBlock(std::span<const float> block, float scale,
                              std::vector<std::uint32_t>& codes) const {
  for (const float x : block) codes.push_back(scale == 0 ? 0 : elements_.Encode(x / scale));
}

void FormatCodes::FinishScales(StoredRow& row, int dim) const {
  for (const int code : row.scale_codes) {
    row.scales.push_back(static_cast<std::uint8_t>(code));
    row.block_scales.push_back(ScaleNumber(code));
  }
  row.scales.resize(static_cast<std::size_t>(format_.BlockScaleBytes(dim)),
                    static_cast<std::uint8_t>(format_.PaddingScaleCode()));
  if (!format_.row_scale) return;
  const std::uint32_t bits = BitsOfFloat(row.row_scale);
  for (int i = 0; i < 4; ++i) row.scales.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
}

void FormatCodes::DecodeElements(StoredRow& row, const std::vector<std::uint32_t>& codes) const {
  for (const std::uint32_t code : codes) row.elements.push_back(elements_.Decode(code));
}

StoredRow FormatCodes::Encode(std::span<const float> row) const {
  const auto dim = static_cast<int>(row.size());
  StoredRow stored;
  stored.row_scale = RowScaleOf(LargestMagnitude(row));
  std::vector<std::uint32_t> codes;
  if (!format_.block_scale) EncodeBlock(row, stored.row_scale, codes);
  for (std::size_t at = 0; format_.block_scale && at < row.size();) {
    const auto block = row.subspan(at, static_cast<std::size_t>(format_.block_scale->size));
    const int code = BlockScaleCodeOf(block, stored.row_scale);
    stored.scale_codes.push_back(code);
    EncodeBlock(block, ScaleNumber(code) * stored.row_scale, codes);
    at += block.size();
  }
  stored.values = Pack(format_.element, codes);
  FinishScales(stored, dim);
  DecodeElements(stored, codes);
  return stored;
}

StoredRow FormatCodes::Decode(std::span<const std::uint8_t> values,
                              std::span<const std::uint8_t> scales, int dim) const {
  const auto block_bytes = static_cast<std::size_t>(format_.BlockScaleBytes(dim));
  LIJIT_CHECK(values.size() == static_cast<std::size_t>(format_.ValueBytes(dim)));
  LIJIT_CHECK(scales.size() == block_bytes ||
              scales.size() == static_cast<std::size_t>(format_.ScaleBytes(dim)));
  StoredRow row;
  row.values.assign(values.begin(), values.end());
  row.scales.assign(scales.begin(), scales.end());
  for (int block = 0; format_.block_scale && block < format_.Blocks(dim); ++block) {
    row.scale_codes.push_back(scales[static_cast<std::size_t>(block)]);
    row.block_scales.push_back(ScaleNumber(row.scale_codes.back()));
  }
  if (scales.size() > block_bytes) std::memcpy(&row.row_scale, scales.data() + block_bytes, 4);
  DecodeElements(row, Unpack(format_.element, values));
  return row;
}

float RoundToBf16(float x) {
  static const ElementCodes codes({.exponent = 8,
                                   .mantissa = 7,
                                   .bias = 127,
                                   .special = Special::kIeee,
                                   .overflow = Overflow::kInfinity,
                                   .nan = 0x7fff});
  return RoundTo(codes, x);
}

float RoundToF16(float x) {
  static const ElementCodes codes({.exponent = 5,
                                   .mantissa = 10,
                                   .bias = 15,
                                   .special = Special::kIeee,
                                   .overflow = Overflow::kInfinity,
                                   .nan = 0x7fff});
  return RoundTo(codes, x);
}

}  // namespace lijit::ir
