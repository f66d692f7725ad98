// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/format.h"

#include <cmath>

namespace lijit::ir {

std::uint32_t ElementFormat::MaxCode() const {
  switch (special) {
    case Special::kNone:
      return MagnitudeMask();
    case Special::kNan:
      return MagnitudeMask() - 1;
    case Special::kIeee:
      break;
  }
  return (((1u << exponent) - 1) << mantissa) - 1;
}

float ElementFormat::Max() const {
  const std::uint32_t code = MaxCode();
  const auto fraction = static_cast<float>(code & ((1u << mantissa) - 1));
  const int field = static_cast<int>(code >> mantissa);
  const float significand = (field == 0 ? 0.0f : 1.0f) + std::ldexp(fraction, -mantissa);
  return std::ldexp(significand, (field == 0 ? 1 : field) - bias);
}

int ElementFormat::MaxExponent() const { return std::ilogb(Max()); }

int Format::PaddingScaleCode() const {
  return block_scale && block_scale->code == ScaleCode::kE4m3 ? 0x38 : 127;
}

int Layout::ValueStride(const Format& format, int dim) const {
  return order == Order::kPlanar ? format.ValueBytes(dim) : format.RowBytes(dim);
}

int Layout::ScaleStride(const Format& format, int dim) const {
  return order == Order::kPlanar ? format.ScaleBytes(dim) : format.RowBytes(dim);
}

int Layout::ScaleBase(const Format& format, int dim) const {
  return order == Order::kPlanar ? tokens * format.ValueBytes(dim) : format.ValueBytes(dim);
}

ElementFormat E4m3() {
  return {.exponent = 4, .mantissa = 3, .bias = 7, .special = Special::kNan, .nan = 0x7f};
}

}  // namespace lijit::ir
