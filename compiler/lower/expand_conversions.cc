// SPDX-License-Identifier: Apache-2.0
// encode_pair, decode_pair, encode_scale and decode_scale as bit operations, for any format. Every
// number of a format is an f32, so decoding is exact, and encoding rounds once.
#include "compiler/ir/builder.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/rewrite.h"
#include "compiler/support/float_text.h"

namespace lijit::lower {
namespace {

using ir::AttributeKey;
using ir::Builder;
using ir::ElementFormat;
using ir::OpCode;
using ir::ValueId;

constexpr std::int64_t kInfinityBits = 0x7f800000;
constexpr std::uint32_t kNanBits = 0x7fffffff;  // what PTX arithmetic returns
constexpr int kF32Exponent = 8;
constexpr int kF32Mantissa = 23;
constexpr int kF32Bias = 127;

ValueId IsNan(Builder& b, ValueId magnitude_bits) {
  return b.Compare(OpCode::kLtU, b.I32(kInfinityBits), magnitude_bits);
}

// The code of |x| before saturation: significand bits that do not fit are shifted out and rounded.
// Numbers below the format's normal range are shifted further, which is what makes them subnormal;
// a carry out of the mantissa moves into the exponent field by itself.
ValueId RoundMagnitude(Builder& b, const ElementFormat& e, ValueId magnitude_bits) {
  const int drop = kF32Mantissa - e.mantissa;
  const int lowest = kF32Bias - e.bias + 1;  // f32 exponent field of the smallest normal number
  const ValueId field = b.ShrConst(magnitude_bits, kF32Mantissa);
  const ValueId fraction = b.AndConst(magnitude_bits, (1 << kF32Mantissa) - 1);
  // An f32 subnormal has no hidden one; its exponent is that of field 1.
  const ValueId is_normal = b.Compare(OpCode::kNe, field, b.I32(0));
  const ValueId hidden = b.Select(is_normal, b.I32(1 << kF32Mantissa), b.I32(0));
  const ValueId significand = b.Or(fraction, hidden);
  const ValueId exponent = b.Binary(OpCode::kMaxU, field, b.I32(1));
  const ValueId normal_exponent = b.Binary(OpCode::kMaxU, exponent, b.I32(lowest));
  const ValueId below = b.Sub(normal_exponent, exponent);
  const ValueId shift = b.Binary(OpCode::kMinU, b.AddConst(below, drop), b.I32(31));
  const ValueId kept = b.Shr(significand, shift);
  const ValueId rest = b.Sub(significand, b.Shl(kept, shift));
  const ValueId half = b.Shl(b.I32(1), b.Sub(shift, b.I32(1)));
  const ValueId base = b.ShlConst(b.Sub(normal_exponent, b.I32(lowest)), e.mantissa);
  const ValueId down = b.Add(base, kept);
  ValueId up = b.Compare(OpCode::kLtU, half, rest);
  if (e.ties == ir::Ties::kEven) {
    // The code is what is even: without mantissa bits, `kept` is the hidden one alone.
    const ValueId odd = b.Compare(OpCode::kNe, b.AndConst(down, 1), b.I32(0));
    up = b.Or(up, b.And(b.Compare(OpCode::kEq, rest, half), odd));
  }
  return b.Add(down, b.Select(up, b.I32(1), b.I32(0)));
}

ValueId EncodeElement(Builder& b, const ElementFormat& e, ValueId x) {
  const ValueId bits = b.Bitcast(x);
  const ValueId magnitude_bits = b.AndConst(bits, 0x7fffffff);
  // A format as wide in its exponent as f32 rounds up to infinity like f32 does.
  const auto limit = static_cast<std::int64_t>(
      e.overflow == ir::Overflow::kInfinity ? e.MaxCode() + 1 : e.MaxCode());
  const ValueId magnitude =
      b.Binary(OpCode::kMinU, RoundMagnitude(b, e, magnitude_bits), b.I32(limit));
  ValueId sign = b.ShlConst(b.ShrConst(bits, 31), e.exponent + e.mantissa);
  if (e.zero == ir::Zero::kPositive) {
    sign = b.Select(b.Compare(OpCode::kEq, magnitude, b.I32(0)), b.I32(0), sign);
  }
  const ValueId is_nan = IsNan(b, magnitude_bits);
  return b.Select(is_nan, b.I32(e.nan), b.Or(sign, magnitude));
}

// The magnitude's bits, put where f32 has its exponent and mantissa, are the number times
// 2^(bias - 127), subnormals included.
ValueId DecodeElement(Builder& b, const ElementFormat& e, ValueId code) {
  const ValueId magnitude = b.AndConst(code, e.MagnitudeMask());
  const ValueId scaled = b.Bitcast(b.ShlConst(magnitude, kF32Mantissa - e.mantissa));
  ValueId value = scaled;
  if (e.bias != kF32Bias) {
    const std::uint32_t factor = static_cast<std::uint32_t>(2 * kF32Bias - e.bias) << kF32Mantissa;
    value = b.Mul(scaled, b.F32(FloatFromBits(factor)));
  }
  const ValueId sign = b.ShlConst(b.AndConst(code, e.SignBit()), 31 - e.exponent - e.mantissa);
  ValueId bits = b.Or(b.Bitcast(value), sign);
  if (e.special == ir::Special::kNan) {
    const ValueId is_nan = b.Compare(OpCode::kEq, magnitude, b.I32(e.MagnitudeMask()));
    bits = b.Select(is_nan, b.I32(kNanBits), bits);
  } else if (e.special == ir::Special::kIeee && e.exponent != kF32Exponent) {
    const ValueId infinity = b.I32(e.MaxCode() + 1);
    const ValueId is_nan = b.Compare(OpCode::kLtU, infinity, magnitude);
    const ValueId is_infinity = b.Compare(OpCode::kEq, infinity, magnitude);
    bits = b.Select(is_infinity, b.Or(b.I32(kInfinityBits), sign), bits);
    bits = b.Select(is_nan, b.I32(kNanBits), bits);
  }
  return b.Bitcast(bits);
}

// Smallest power of two not below the quotient: the exponent field, plus one if any bit of the
// mantissa is set (a logarithm is wrong just above powers of two).
ValueId EncodePow2Ceil(Builder& b, ValueId bits) {
  const ValueId field = b.ShrConst(bits, kF32Mantissa);
  const ValueId fraction = b.AndConst(bits, (1 << kF32Mantissa) - 1);
  const ValueId inexact = b.Compare(OpCode::kNe, fraction, b.I32(0));
  const ValueId code = b.Add(field, b.Select(inexact, b.I32(1), b.I32(0)));
  return b.Binary(OpCode::kMaxU, b.Binary(OpCode::kMinU, code, b.I32(254)), b.I32(1));
}

// The exponent of the block's largest magnitude less that of the format's.
ValueId EncodePow2Floor(Builder& b, const ElementFormat& e, ValueId bits, bool round) {
  if (round) bits = b.AddConst(bits, 1 << (kF32Mantissa - e.mantissa - 1));
  const ValueId field = b.ShrConst(bits, kF32Mantissa);
  const ValueId enough = b.Binary(OpCode::kMaxU, field, b.I32(e.MaxExponent()));
  const ValueId code = b.Sub(enough, b.I32(e.MaxExponent()));
  return b.Binary(OpCode::kMinU, code, b.I32(254));
}

ValueId EncodeScale(Builder& b, const ir::Format& format, ValueId x) {
  const ir::BlockScale& scale = *format.block_scale;
  if (scale.code == ir::ScaleCode::kE4m3) return EncodeElement(b, ir::E4m3(), x);
  const ValueId bits = b.Bitcast(x);
  const ValueId code =
      scale.rule == ir::ScaleRule::kPow2Ceil
          ? EncodePow2Ceil(b, bits)
          : EncodePow2Floor(b, format.element, bits, scale.rule == ir::ScaleRule::kPow2Even);
  // Rounded up, infinity is the top code already.
  const bool saturates = scale.nonfinite == ir::Nonfinite::kSaturate;
  if (saturates && scale.rule == ir::ScaleRule::kPow2Ceil) return code;
  const ValueId is_finite = b.Compare(OpCode::kLtU, bits, b.I32(kInfinityBits));
  return b.Select(is_finite, code, b.I32(saturates ? 254 : 255));
}

// UE8M0: the exponent field; 0 is 2^-127, an f32 subnormal; 255 is NaN.
ValueId DecodeScale(Builder& b, const ir::Format& format, ValueId code) {
  if (format.block_scale->code == ir::ScaleCode::kE4m3) return DecodeElement(b, ir::E4m3(), code);
  ValueId bits = b.ShlConst(code, kF32Mantissa);
  bits = b.Select(b.Compare(OpCode::kEq, code, b.I32(0)), b.I32(1 << (kF32Mantissa - 1)), bits);
  bits = b.Select(b.Compare(OpCode::kEq, code, b.I32(255)), b.I32(kNanBits), bits);
  return b.Bitcast(bits);
}

bool Expand(const ir::Module& module, const ir::Op& op, Builder& b, std::vector<ValueId>& results) {
  const auto format = [&]() -> const ir::Format& {
    return module.FormatOf(static_cast<ir::FormatId>(op.Get(AttributeKey::kFormat)));
  };
  switch (op.code) {
    case OpCode::kEncodePair: {
      const ElementFormat& e = format().element;
      const ValueId low = EncodeElement(b, e, op.operands[0]);
      const ValueId high = EncodeElement(b, e, op.operands[1]);
      results = {b.Or(low, b.ShlConst(high, e.Bits()))};
      return true;
    }
    case OpCode::kDecodePair: {
      const ElementFormat& e = format().element;
      const ValueId high = b.ShrConst(op.operands[0], e.Bits());
      results = {DecodeElement(b, e, op.operands[0]), DecodeElement(b, e, high)};
      return true;
    }
    case OpCode::kEncodeScale:
      results = {EncodeScale(b, format(), op.operands[0])};
      return true;
    case OpCode::kDecodeScale:
      results = {DecodeScale(b, format(), op.operands[0])};
      return true;
    default:
      return false;
  }
}

}  // namespace

Status ExpandConversions(ir::Module& module, const target::Target&) {
  for (ir::Kernel& kernel : module.kernels) {
    RewriteOps(kernel, [&](const ir::Op& op, Builder& b, std::vector<ValueId>& results) {
      return Expand(module, op, b, results);
    });
  }
  return {};
}

}  // namespace lijit::lower
