// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/ir/evaluate_codes.h"
#include "compiler/support/float_text.h"
#include "tests/support/entry_interpreter.h"

namespace lijit::tests {
namespace {

using ir::OpCode;

constexpr std::uint32_t kNanBits = 0x7fffffff;

float Number(std::uint64_t bits) { return FloatFromBits(static_cast<std::uint32_t>(bits)); }
std::uint64_t Bits(float x) { return std::isnan(x) ? kNanBits : BitsOfFloat(x); }

float Larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return a == b ? (std::signbit(a) ? b : a) : (a > b ? a : b);
}

float Smaller(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return a == b ? (std::signbit(a) ? a : b) : (a < b ? a : b);
}

const ir::ElementCodes& F16() {
  static const ir::ElementCodes codes({.exponent = 5,
                                       .mantissa = 10,
                                       .bias = 15,
                                       .special = ir::Special::kIeee,
                                       .overflow = ir::Overflow::kInfinity,
                                       .nan = 0x7fff});
  return codes;
}

// Rounded up to a power of two: the exponent field; NaN is 255.
std::uint64_t Ue8m0(float x) {
  if (std::isnan(x)) return 255;
  if (std::isinf(x)) return 254;
  if (x == 0) return 0;
  const int exponent = std::ilogb(x);
  const bool exact = x == std::ldexp(1.0f, exponent);
  return static_cast<std::uint64_t>(std::clamp(exponent + 127 + (exact ? 0 : 1), 0, 254));
}

std::uint64_t FloatOp(OpCode code, std::uint64_t a_bits, float a, float b, float c) {
  switch (code) {
    case OpCode::kAdd:
      return Bits(a + b);
    case OpCode::kSub:
      return Bits(a - b);
    case OpCode::kMul:
      return Bits(a * b);
    case OpCode::kDiv:
      return Bits(a / b);
    case OpCode::kFma:
      return Bits(std::fma(a, b, c));
    case OpCode::kMax:
      return Bits(Larger(a, b));
    case OpCode::kMin:
      return Bits(Smaller(a, b));
    case OpCode::kAbs:
      return Bits(std::fabs(a));
    case OpCode::kRelu:
      return Bits(Larger(a, 0.0f));
    case OpCode::kEq:
      return a == b;
    case OpCode::kNe:
      return a != b;
    case OpCode::kLt:
      return a < b;
    case OpCode::kLe:
      return a <= b;
    case OpCode::kBitcast:
      return a_bits;
    case OpCode::kF32ToF16:
      return F16().Encode(a);
    case OpCode::kCvtUe8m0:
      return Ue8m0(a);
    default:
      AbortAt(__FILE__, __LINE__, ir::RowOf(code).mnemonic.data());
  }
}

// Operands and results of 32 bits are zero-extended.
std::uint64_t IntegerOp(OpCode code, bool wide, std::uint64_t a, std::uint64_t b) {
  const auto fit = [wide](std::uint64_t x) { return wide ? x : x & 0xffffffff; };
  const auto as_signed = [wide](std::uint64_t x) {
    return wide ? static_cast<std::int64_t>(x) : static_cast<std::int32_t>(x);
  };
  switch (code) {
    case OpCode::kAdd:
      return fit(a + b);
    case OpCode::kSub:
      return fit(a - b);
    case OpCode::kMul:
      return fit(a * b);
    case OpCode::kAnd:
      return a & b;
    case OpCode::kOr:
      return a | b;
    case OpCode::kXor:
      return a ^ b;
    case OpCode::kShl:
      LIJIT_CHECK(b < (wide ? 64u : 32u));
      return fit(a << b);
    case OpCode::kShr:
      LIJIT_CHECK(b < (wide ? 64u : 32u));
      return a >> b;
    case OpCode::kUdiv:
      LIJIT_CHECK(b != 0);
      return a / b;
    case OpCode::kUrem:
      LIJIT_CHECK(b != 0);
      return a % b;
    case OpCode::kMinU:
      return std::min(a, b);
    case OpCode::kMaxU:
      return std::max(a, b);
    case OpCode::kPopcount:
      return static_cast<std::uint64_t>(std::popcount(a));
    case OpCode::kEq:
      return a == b;
    case OpCode::kNe:
      return a != b;
    case OpCode::kLt:
      return as_signed(a) < as_signed(b);
    case OpCode::kLe:
      return as_signed(a) <= as_signed(b);
    case OpCode::kLtU:
      return a < b;
    case OpCode::kBitcast:
    case OpCode::kWidenU:
      return a;
    case OpCode::kWiden:
      return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a)});
    case OpCode::kNarrow:
      return a & 0xffffffff;
    case OpCode::kF16ToF32:
      return Bits(F16().Decode(static_cast<std::uint32_t>(a & 0xffff)));
    default:
      AbortAt(__FILE__, __LINE__, ir::RowOf(code).mnemonic.data());
  }
}

}  // namespace

bool IsScalarOp(OpCode code) {
  using enum ir::TypeRule;
  switch (ir::RowOf(code).rule) {
    case kNumeric:
    case kBits:
    case kInteger:
    case kCompare:
    case kCompareInteger:
    case kBitcast:
    case kWiden:
    case kNarrow:
    case kSelect:
      return true;
    case kFloat:
    case kBitsToF32:
    case kF32ToBits:
      return ir::RowOf(code).level == ir::Level::kAny || ir::RowOf(code).level == ir::Level::kLow;
    default:
      return false;
  }
}

std::uint64_t InterpretScalar(OpCode code, const ir::Type& type, std::uint64_t a, std::uint64_t b,
                              std::uint64_t c) {
  if (code == OpCode::kSelect) return a != 0 ? b : c;
  if (type.IsF32()) return FloatOp(code, a, Number(a), Number(b), Number(c));
  return IntegerOp(code, type.IsScalar(ir::Scalar::kI64), a, b);
}

}  // namespace lijit::tests
