// SPDX-License-Identifier: Apache-2.0
// cvt between integers and f16, bf16, f32, tf32 and f64 (PTX ISA, "Data Movement and Conversion
// Instructions: cvt"). Packed conversions are in execute_convert_packed.cc.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/emulator/convert.h"
#include "runtime/emulator/float_arithmetic.h"
#include "runtime/emulator/float_formats.h"
#include "runtime/emulator/register_lanes.h"

namespace lijit::emulator {
namespace {

// How a type's values are read from and written to 64-bit lanes.
template <typename V>
struct IntegerType {
  static constexpr bool kIsInteger = true;
  using Value = V;
  static V Read(const Instruction&, std::uint64_t lane) { return static_cast<V>(lane); }
  static std::uint64_t Write(V value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));  // extends the sign
  }
};

template <const FloatFormat& kFormat>
struct SmallFloat {
  static constexpr bool kIsInteger = false;
  static constexpr bool kIsF64 = false;
  static double Read(const Instruction& in, std::uint64_t lane) {
    if (&kFormat == &kF32Format && IsNan(static_cast<std::uint32_t>(lane)))
      return NanOfF32(in, lane);
    const double value = DecodeFloat(kFormat, static_cast<std::uint32_t>(lane));
    constexpr double kLeastNormal = 0x1p-126;
    const bool flushes = in.ftz && &kFormat == &kF32Format && std::fabs(value) < kLeastNormal;
    return flushes ? std::copysign(0.0, value) : value;
  }
  // Widened with its payload, or, flushing, the one NaN of f32 operations.
  static double NanOfF32(const Instruction& in, std::uint64_t lane) {
    return std::bit_cast<float>(in.ftz ? kF32Format.nan : static_cast<std::uint32_t>(lane));
  }
  // `value` may be an odd rounding of the exact value (float_formats.h).
  static std::uint64_t Write(const Instruction& in, double value) {
    if (in.saturate) value = value > 0 ? std::fmin(value, 1.0) : 0.0;
    const std::uint32_t code = EncodeFloat(kFormat, value, in.rounding, in.satfinite);
    if (in.relu && (code & kFormat.sign_bit()) != 0) return 0;
    const bool subnormal = (code & (kFormat.sign_bit() - 1)) >> kFormat.mantissa_bits == 0;
    return in.ftz && &kFormat == &kF32Format && subnormal ? code & kFormat.sign_bit() : code;
  }
};

struct F64Type {
  static constexpr bool kIsInteger = false;
  static constexpr bool kIsF64 = true;
  static double Read(const Instruction&, std::uint64_t lane) { return std::bit_cast<double>(lane); }
  static std::uint64_t Write(const Instruction& in, double value) {
    if (in.saturate) value = value > 0 ? std::fmin(value, 1.0) : 0.0;
    return std::bit_cast<std::uint64_t>(value);
  }
};

// The integer as a double, rounded to odd when it has more than 53 bits.
double ToOddDouble(bool negative, std::uint64_t magnitude) {
  double value = 0;
  if (magnitude >> 53 == 0) {
    value = static_cast<double>(magnitude);
  } else {
    const int shift = 11 - std::countl_zero(magnitude);
    const std::uint64_t lost = magnitude & ((std::uint64_t{1} << shift) - 1);
    value = std::ldexp(static_cast<double>(magnitude >> shift | (lost != 0)), shift);
  }
  return negative ? -value : value;
}

template <typename V>
double IntegerToF64(Rounding rounding, V integer) {
  if (rounding == Rounding::kNearestEven) return static_cast<double>(integer);
  const ScopedRounding scope(rounding);
  volatile V hidden = integer;
  volatile double result = static_cast<double>(hidden);
  return result;
}

double RoundToIntegral(Rounding rounding, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (IsNan(bits)) return std::bit_cast<double>(Quiet(bits));
  switch (rounding) {
    case Rounding::kTowardZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    case Rounding::kUp:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

template <typename To>
To ClampInteger(std::int64_t value, bool is_unsigned64) {
  // Only u64 sources have values beyond int64; they are given as their bits.
  if constexpr (std::is_same_v<To, std::uint64_t>) {
    return value < 0 && !is_unsigned64 ? 0 : static_cast<To>(value);
  } else {
    if (is_unsigned64 && value < 0) return std::numeric_limits<To>::max();
    if (value < std::int64_t{std::numeric_limits<To>::min()}) return std::numeric_limits<To>::min();
    if (value > std::int64_t{std::numeric_limits<To>::max()}) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  }
}

// Out-of-range values become the nearest integer of the type. NaN becomes 0, or, where a type of 64
// bits takes part, the integer with only its top bit set.
template <typename To>
To FloatToInteger(Rounding rounding, double value, bool from_f64) {
  using Limits = std::numeric_limits<To>;
  constexpr unsigned kBits = sizeof(To) * 8;
  if (std::isnan(value)) {
    const std::uint64_t top = std::uint64_t{1} << (kBits - 1);
    return from_f64 || kBits == 64 ? static_cast<To>(top) : To{0};
  }
  const double integral = RoundToIntegral(rounding, value);
  // 2^(digits) is exact, where the maximum itself may not be.
  if (integral >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  if (integral <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<To>(integral);
}

template <typename To, typename From>
std::uint64_t ConvertLane(const Instruction& in, std::uint64_t lane) {
  const auto value = From::Read(in, lane);
  if constexpr (From::kIsInteger) {
    using V = typename From::Value;
    if constexpr (To::kIsInteger) {
      using W = typename To::Value;
      if (!in.saturate) return To::Write(static_cast<W>(value));
      return To::Write(
          ClampInteger<W>(static_cast<std::int64_t>(value), std::is_same_v<V, std::uint64_t>));
    } else if constexpr (To::kIsF64) {
      return To::Write(in, IntegerToF64(in.rounding, value));
    } else {
      const bool negative = value < V{0};
      const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      return To::Write(in, ToOddDouble(negative, negative ? std::uint64_t{0} - bits : bits));
    }
  } else if constexpr (To::kIsInteger) {
    return To::Write(FloatToInteger<typename To::Value>(in.rounding, value, From::kIsF64));
  } else {
    // `strong` marks a rounding to an integral value.
    return To::Write(in, in.strong ? RoundToIntegral(in.rounding, value) : value);
  }
}

template <typename To, typename From>
void Convert(Warp& warp, const Instruction& in, Mask mask) {
  WideLanes lanes;
  ReadLanes(warp, in, 1, in.register_bits2, lanes);
  ForLanes(mask, [&](unsigned lane) { lanes[lane] = ConvertLane<To, From>(in, lanes[lane]); });
  WriteLanes(warp, in, 0, in.register_bits, mask, lanes);
}

// f64 to f32 keeps what fits of a NaN's payload.
void ConvertF64ToF32(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  const auto* a = warp.In<std::uint64_t>(in, 1);
  ForLanes(mask, [&](unsigned lane) {
    const auto sign = static_cast<std::uint32_t>(a[lane] >> 32 & 0x80000000);
    const auto payload = static_cast<std::uint32_t>(a[lane] >> 29 & 0x3fffff);
    const bool keeps_nan = IsNan(a[lane]) && !in.saturate && !in.ftz;
    d[lane] =
        keeps_nan
            ? sign | 0x7fc00000 | payload
            : static_cast<std::uint32_t>(ConvertLane<SmallFloat<kF32Format>, F64Type>(in, a[lane]));
  });
}

// tf32 is f32 with 10 bits of mantissa; the register keeps the f32 layout.
inline constexpr FloatFormat kTf32Format{8, 10, 127, 0x3fbff, true, 0x3ffff};
constexpr unsigned kTf32Shift = 13;

void ConvertF32ToTf32(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  const auto* a = warp.In<std::uint32_t>(in, 1);
  ForLanes(mask, [&](unsigned lane) {
    const double value = std::bit_cast<float>(a[lane]);
    std::uint32_t code = EncodeFloat(kTf32Format, value, in.rounding, in.satfinite);
    // .rna keeps a NaN's upper bits.
    if (IsNan(a[lane]) && in.rounding == Rounding::kNearestAway) code = a[lane] >> kTf32Shift;
    const bool to_zero = in.relu && !IsNan(a[lane]) && (a[lane] >> 31) != 0;
    d[lane] = to_zero ? 0 : code << kTf32Shift;
  });
}

// bf16 is the upper half of an f32, NaN too.
void ConvertBf16ToF32(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  const auto* a = warp.In<std::uint16_t>(in, 1);
  ForLanes(mask, [=](unsigned lane) { d[lane] = std::uint32_t{a[lane]} << 16; });
}

// A hot path, and no more than the conversions above do.
void ConvertS32ToF32(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  const auto* a = warp.In<std::uint32_t>(in, 1);
  ForLanes(mask, [=](unsigned lane) {
    const auto value = static_cast<float>(static_cast<std::int32_t>(a[lane]));
    d[lane] = std::bit_cast<std::uint32_t>(value);
  });
}

template <typename To>
Handler FromType(Type from) {
  switch (from) {
    case Type::kU8:
      return &Convert<To, IntegerType<std::uint8_t>>;
    case Type::kU16:
      return &Convert<To, IntegerType<std::uint16_t>>;
    case Type::kU32:
      return &Convert<To, IntegerType<std::uint32_t>>;
    case Type::kU64:
      return &Convert<To, IntegerType<std::uint64_t>>;
    case Type::kS8:
      return &Convert<To, IntegerType<std::int8_t>>;
    case Type::kS16:
      return &Convert<To, IntegerType<std::int16_t>>;
    case Type::kS32:
      return &Convert<To, IntegerType<std::int32_t>>;
    case Type::kS64:
      return &Convert<To, IntegerType<std::int64_t>>;
    case Type::kF16:
      return &Convert<To, SmallFloat<kF16Format>>;
    case Type::kBf16:
      return &Convert<To, SmallFloat<kBf16Format>>;
    case Type::kF32:
      return &Convert<To, SmallFloat<kF32Format>>;
    case Type::kF64:
      return &Convert<To, F64Type>;
    default:
      return nullptr;
  }
}

Handler HandlerOf(Type to, Type from) {
  switch (to) {
    case Type::kU8:
      return FromType<IntegerType<std::uint8_t>>(from);
    case Type::kU16:
      return FromType<IntegerType<std::uint16_t>>(from);
    case Type::kU32:
      return FromType<IntegerType<std::uint32_t>>(from);
    case Type::kU64:
      return FromType<IntegerType<std::uint64_t>>(from);
    case Type::kS8:
      return FromType<IntegerType<std::int8_t>>(from);
    case Type::kS16:
      return FromType<IntegerType<std::int16_t>>(from);
    case Type::kS32:
      return FromType<IntegerType<std::int32_t>>(from);
    case Type::kS64:
      return FromType<IntegerType<std::int64_t>>(from);
    case Type::kF16:
      return FromType<SmallFloat<kF16Format>>(from);
    case Type::kBf16:
      return FromType<SmallFloat<kBf16Format>>(from);
    case Type::kF32:
      return FromType<SmallFloat<kF32Format>>(from);
    case Type::kF64:
      return FromType<F64Type>(from);
    default:
      return nullptr;
  }
}

struct Copy {
  template <typename T>
  static T Apply(T a) {
    return a;
  }
};

// Conversions whose registers are as wide as their types and that have a handler of their own.
Handler SpecialHandler(const Instruction& in, Type to, Type from) {
  if (in.register_bits != Bits(to) || in.register_bits2 != Bits(from)) return nullptr;
  if (to == Type::kTf32 && from == Type::kF32) return &ConvertF32ToTf32;
  if (to == Type::kF32 && from == Type::kF64) return &ConvertF64ToF32;
  if (in.saturate || in.relu || in.ftz || in.rounding != Rounding::kNearestEven) return nullptr;
  if (to == Type::kF32 && from == Type::kBf16) return &ConvertBf16ToF32;
  if (to == Type::kF32 && from == Type::kS32) return &ConvertS32ToF32;
  if (to == from && !IsInteger(to) && !in.strong) return UnaryOf<Copy>(to);
  return nullptr;
}

bool IsIntegralRounding(Modifier rounding) {
  return rounding >= Modifier::kRni && rounding <= Modifier::kRpi;
}

// Which rounding a pair of types needs: PTX ISA, cvt, "Rounding modifiers".
void CheckRounding(InstructionBuilder& b, Type to, Type from) {
  const Modifier rounding = b.Of(Category::kRounding);
  const bool has = rounding != Modifier::kNone;
  if (IsInteger(to) && IsInteger(from)) {
    if (has) b.Fail("no rounding between integers");
  } else if (IsInteger(to)) {
    if (!IsIntegralRounding(rounding)) b.Fail("needs '.rni', '.rzi', '.rmi' or '.rpi'");
  } else {
    const bool narrows = IsInteger(from) || Bits(to) < Bits(from) || to == Type::kTf32 ||
                         (Bits(to) == 16 && to != from);
    if (narrows && (!has || IsIntegralRounding(rounding))) b.Fail("needs a rounding");
    if (!narrows && has && to != from) b.Fail("takes no rounding");
    if (to == from && has && !IsIntegralRounding(rounding)) b.Fail("takes no such rounding");
  }
}

}  // namespace

void DecodeCvtScalar(InstructionBuilder& b) {
  const Type to = b.TypeAt(0);
  const Type from = b.TypeAt(1);
  CheckRounding(b, to, from);
  const Modifier rounding = b.Of(Category::kRounding);
  Instruction& out = b.out();
  out.rounding = RoundingOf(rounding);
  out.strong = !IsInteger(to) && IsIntegralRounding(rounding);
  out.ftz = b.Has(Category::kFtz);
  out.saturate = b.Has(Category::kSat);
  out.satfinite = b.Has(Category::kSatfinite);
  out.relu = b.Has(Category::kRelu);
  b.WideDestination(to);
  b.WideSource(from);
  Handler handler = SpecialHandler(out, to, from);
  if (handler == nullptr) handler = HandlerOf(to, from);
  if (handler == nullptr) b.Fail("these types are not known to the emulator");
  b.Execute(handler);
}

}  // namespace lijit::emulator
