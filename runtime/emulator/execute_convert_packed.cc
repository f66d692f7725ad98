// SPDX-License-Identifier: Apache-2.0
// cvt to and from pairs of f16, bf16, e4m3, e5m2, e2m1 and ue8m0. Of two sources the first becomes
// the upper half (PTX ISA, "Data Movement and Conversion Instructions: cvt").
#include <algorithm>
#include <array>
#include <bit>

#include "runtime/emulator/convert.h"
#include "runtime/emulator/float_formats.h"
#include "runtime/emulator/register_lanes.h"

namespace lijit::emulator {
namespace {

template <const FloatFormat& kFormat>
struct Element {
  static constexpr unsigned kBits = 1 + kFormat.exponent_bits + kFormat.mantissa_bits;
  static double Decode(std::uint32_t code) { return DecodeFloat(kFormat, code); }
  static std::uint32_t Encode(const Instruction& in, double value) {
    const std::uint32_t code = EncodeFloat(kFormat, value, in.rounding, in.satfinite);
    return in.relu && (code & kFormat.sign_bit()) != 0 ? 0 : code;
  }
};

struct Ue8m0Element {
  static constexpr unsigned kBits = 8;
  static double Decode(std::uint32_t code) { return DecodeUe8m0(code); }
  static std::uint32_t Encode(const Instruction& in, double value) {
    return EncodeUe8m0(value, in.rounding, in.satfinite);
  }
};

template <typename To>
std::uint64_t Pack(const Instruction& in, double high, double low) {
  return std::uint64_t{To::Encode(in, high)} << To::kBits | To::Encode(in, low);
}

template <typename To>
void PackF32(Warp& warp, const Instruction& in, Mask mask) {
  const auto* high = warp.In<std::uint32_t>(in, 1);
  const auto* low = warp.In<std::uint32_t>(in, 2);
  WideLanes lanes;
  ForLanes(mask, [&](unsigned lane) {
    lanes[lane] = Pack<To>(in, double{std::bit_cast<float>(high[lane])},
                           double{std::bit_cast<float>(low[lane])});
  });
  WriteLanes(warp, in, 0, 2 * To::kBits, mask, lanes);
}

template <typename To, typename From>
void Repack(Warp& warp, const Instruction& in, Mask mask) {
  constexpr std::uint32_t kElement = (1u << From::kBits) - 1;
  WideLanes lanes;
  ReadLanes(warp, in, 1, 2 * From::kBits, lanes);
  ForLanes(mask, [&](unsigned lane) {
    const auto pair = static_cast<std::uint32_t>(lanes[lane]);
    lanes[lane] =
        Pack<To>(in, From::Decode(pair >> From::kBits & kElement), From::Decode(pair & kElement));
  });
  WriteLanes(warp, in, 0, 2 * To::kBits, mask, lanes);
}

using F16 = Element<kF16Format>;
using Bf16 = Element<kBf16Format>;
using E4m3 = Element<kE4m3Format>;
using E5m2 = Element<kE5m2Format>;
using E2m1 = Element<kE2m1Format>;

enum class Saturation : std::uint8_t { kOptional, kRequired, kNone };

struct Row {
  Type to;
  Type from;
  std::array<Modifier, 2> roundings;  // the allowed ones
  Saturation saturation;
  bool may_relu;
  Handler handler;
};

constexpr std::array kNearest{Modifier::kRn, Modifier::kRn};
constexpr std::array kNearestOrZero{Modifier::kRn, Modifier::kRz};
constexpr std::array kZeroOrUp{Modifier::kRz, Modifier::kRp};

constexpr std::array kRows = {
    Row{Type::kF16x2, Type::kF32, kNearestOrZero, Saturation::kOptional, true, &PackF32<F16>},
    Row{Type::kBf16x2, Type::kF32, kNearestOrZero, Saturation::kOptional, true, &PackF32<Bf16>},
    Row{Type::kE4m3x2, Type::kF32, kNearest, Saturation::kRequired, true, &PackF32<E4m3>},
    Row{Type::kE5m2x2, Type::kF32, kNearest, Saturation::kRequired, true, &PackF32<E5m2>},
    Row{Type::kE2m1x2, Type::kF32, kNearest, Saturation::kRequired, true, &PackF32<E2m1>},
    Row{Type::kUe8m0x2, Type::kF32, kZeroOrUp, Saturation::kOptional, false,
        &PackF32<Ue8m0Element>},
    Row{Type::kE4m3x2, Type::kF16x2, kNearest, Saturation::kRequired, true, &Repack<E4m3, F16>},
    Row{Type::kE5m2x2, Type::kF16x2, kNearest, Saturation::kRequired, true, &Repack<E5m2, F16>},
    Row{Type::kUe8m0x2, Type::kBf16x2, kZeroOrUp, Saturation::kOptional, false,
        &Repack<Ue8m0Element, Bf16>},
    Row{Type::kF16x2, Type::kE4m3x2, kNearest, Saturation::kNone, true, &Repack<F16, E4m3>},
    Row{Type::kF16x2, Type::kE5m2x2, kNearest, Saturation::kNone, true, &Repack<F16, E5m2>},
    Row{Type::kF16x2, Type::kE2m1x2, kNearest, Saturation::kNone, true, &Repack<F16, E2m1>},
    Row{Type::kBf16x2, Type::kUe8m0x2, kNearest, Saturation::kNone, false,
        &Repack<Bf16, Ue8m0Element>},
};

void CheckModifiers(InstructionBuilder& b, const Row& row) {
  const Modifier rounding = b.Of(Category::kRounding);
  if (rounding != row.roundings[0] && rounding != row.roundings[1]) {
    b.Fail("needs a rounding that this conversion has");
  }
  const bool saturates = b.Has(Category::kSatfinite);
  if (row.saturation == Saturation::kRequired && !saturates) b.Fail("needs '.satfinite'");
  if (row.saturation == Saturation::kNone && saturates) b.Fail("takes no '.satfinite'");
  if (b.Has(Category::kRelu) && !row.may_relu) b.Fail("takes no '.relu'");
  if (b.Has(Category::kFtz) || b.Has(Category::kSat)) b.Fail("takes no '.ftz' and no '.sat'");
}

}  // namespace

void DecodeCvtPacked(InstructionBuilder& b) {
  const Type to = b.TypeAt(0);
  const Type from = b.TypeAt(1);
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& candidate) {
    return candidate.to == to && candidate.from == from;
  });
  if (row == kRows.end()) return b.Fail("these types are not known to the emulator");
  CheckModifiers(b, *row);
  b.out().rounding = RoundingOf(b.Of(Category::kRounding));
  b.out().satfinite = b.Has(Category::kSatfinite);
  b.out().relu = b.Has(Category::kRelu);
  b.Destination(to);
  b.Source(from);
  if (from == Type::kF32) b.Source(from);
  b.Execute(row->handler);
}

void DecodeCvt(InstructionBuilder& b) {
  if (b.modifiers().type_count() != 2) return b.Fail("needs two types");
  const bool packed = Info(b.TypeAt(0)).type_class == TypeClass::kPacked ||
                      Info(b.TypeAt(1)).type_class == TypeClass::kPacked;
  if (packed) return DecodeCvtPacked(b);
  DecodeCvtScalar(b);
}

}  // namespace lijit::emulator
