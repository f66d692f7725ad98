// SPDX-License-Identifier: Apache-2.0
// mma.sync: D = A B + C by a whole warp (PTX ISA, "Multiply-and-Accumulate Instruction: mma").
//
// Integer sums are exact, and wrap, or clamp once with .satfinite. For floats the ISA leaves the
// order and the precision of the accumulation open: here every element of D is the exact sum of the
// exact products and C, rounded once, to nearest even. Subnormal numbers are kept. A NaN result is
// 0x7fffffff.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/exact_sum.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/mma_fragments.h"

namespace lijit::emulator {
namespace {

// Operands: 4 of D, the registers of A, those of B, 4 of C, members.
constexpr unsigned kFirstOfA = 4;

// False, after a finding, unless all 32 threads take part.
bool IsWholeWarp(Warp& warp, const Instruction& in, Mask mask) {
  if (mask == kFullMask) return true;
  warp.cta().Report("divergence", in,
                    warp.index() * kWarpSize + static_cast<unsigned>(std::countr_zero(mask)),
                    fmt::format("executes it with {} threads of its warp; it is for all 32",
                                std::popcount(mask)));
  return false;
}

std::uint32_t AddDot(std::uint32_t c, std::int32_t dot, bool satfinite) {
  if (!satfinite) return c + static_cast<std::uint32_t>(dot);
  const std::int64_t sum = std::int64_t{static_cast<std::int32_t>(c)} + dot;
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::uint32_t>(
      std::clamp(sum, std::int64_t{Limits::min()}, std::int64_t{Limits::max()}));
}

template <typename A, typename B, unsigned K>
void MultiplyIntegers(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  std::int16_t a[kMmaRows][K];
  std::int16_t b[kMmaColumns][K];
  MmaSums sums;
  constexpr unsigned kRegistersOfB = K * B::kBits / kBlockRowBits;
  ReadA<A>(warp, in, kFirstOfA, a);
  ReadB<B>(warp, in, kFirstOfA + 2 * kRegistersOfB, b);
  ReadC(warp, in, kFirstOfA + 3 * kRegistersOfB, sums);
  for (unsigned row = 0; row < kMmaRows; ++row) {
    for (unsigned column = 0; column < kMmaColumns; ++column) {
      std::int32_t dot = 0;
      for (unsigned k = 0; k < K; ++k) dot += a[row][k] * b[column][k];
      sums[row][column] = AddDot(sums[row][column], dot, in.satfinite);
    }
  }
  WriteD(warp, in, sums);
}

constexpr int kNoWidth = 1 << 20;  // of infinities and NaN

// Bits from the greatest leading bit to the least last bit of `count` elements: the width of a
// fixed-point number that holds each of them.
int FixedPointWidth(const float* elements, unsigned count, int mantissa_bits) {
  int greatest = 0;
  int least = 1000;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(elements[i]) & 0x7fffffff;
    const auto exponent = static_cast<int>(magnitude >> 23);
    greatest = std::max(greatest, exponent);
    least = std::min(least, magnitude == 0 ? 1000 : std::max(exponent, 1));
  }
  return greatest == 255 ? kNoWidth : greatest + 1 - (least - mantissa_bits);
}

// One element of D in the general case.
float SumProducts(const double* a, const double (*b)[kMmaColumns], unsigned column, unsigned k_end,
                  double c) {
  double rounded = c;
  for (unsigned k = 0; k < k_end; ++k) rounded += a[k] * b[k][column];
  if (!std::isfinite(rounded)) return static_cast<float>(rounded);
  ExactSum sum;
  for (unsigned k = 0; k < k_end; ++k) sum.Add(a[k] * b[k][column]);
  sum.Add(c);
  return static_cast<float>(sum.RoundToOdd());
}

std::uint32_t BitsOfResult(float value) {
  return std::isnan(value) ? kF32Format.nan : std::bit_cast<std::uint32_t>(value);
}

template <typename A, typename B, unsigned K>
void MultiplyFloats(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  float a[kMmaRows][K];
  float b[kMmaColumns][K];
  MmaSums sums;
  constexpr unsigned kRegistersOfB = K * B::kBits / kBlockRowBits;
  ReadA<A>(warp, in, kFirstOfA, a);
  ReadB<B>(warp, in, kFirstOfA + 2 * kRegistersOfB, b);
  ReadC(warp, in, kFirstOfA + 3 * kRegistersOfB, sums);
  double wide_b[K][kMmaColumns];
  int width_b[kMmaColumns];
  for (unsigned column = 0; column < kMmaColumns; ++column) {
    for (unsigned k = 0; k < K; ++k) wide_b[k][column] = b[column][k];
    width_b[column] = FixedPointWidth(b[column], K, B::kMantissaBits);
  }
  for (unsigned row = 0; row < kMmaRows; ++row) {
    const int width_a = FixedPointWidth(a[row], K, A::kMantissaBits);
    double wide_a[K];
    for (unsigned k = 0; k < K; ++k) wide_a[k] = a[row][k];
    double products[kMmaColumns] = {};
    for (unsigned k = 0; k < K; ++k) {
      for (unsigned column = 0; column < kMmaColumns; ++column) {
        products[column] += wide_a[k] * wide_b[k][column];
      }
    }
    for (unsigned column = 0; column < kMmaColumns; ++column) {
      std::uint32_t& sum = sums[row][column];
      const double c = std::bit_cast<float>(sum);
      // A sum of K products of this width is a double: nothing was rounded.
      constexpr int kSumBits = std::bit_width(K - 1);
      const bool exact = width_a + width_b[column] + kSumBits <= 53;
      sum = BitsOfResult(exact ? static_cast<float>(AddToOdd(products[column], c))
                               : SumProducts(wide_a, wide_b, column, K, c));
    }
  }
  WriteD(warp, in, sums);
}

struct MmaForm {
  Modifier shape;
  Type sums;  // C and D
  Type a;
  Type b;
  unsigned registers_of_b;  // A has twice as many
  Handler handler;
};

using enum Type;
constexpr MmaForm kForms[] = {
    {Modifier::kM16n8k32, kS32, kS8, kS8, 2, &MultiplyIntegers<S8Element, S8Element, 32>},
    {Modifier::kM16n8k32, kS32, kS8, kU8, 2, &MultiplyIntegers<S8Element, U8Element, 32>},
    {Modifier::kM16n8k32, kS32, kU8, kS8, 2, &MultiplyIntegers<U8Element, S8Element, 32>},
    {Modifier::kM16n8k32, kS32, kU8, kU8, 2, &MultiplyIntegers<U8Element, U8Element, 32>},
    {Modifier::kM16n8k16, kF32, kF16, kF16, 2, &MultiplyFloats<F16Element, F16Element, 16>},
    {Modifier::kM16n8k16, kF32, kBf16, kBf16, 2, &MultiplyFloats<Bf16Element, Bf16Element, 16>},
};

const MmaForm* FindForm(InstructionBuilder& b) {
  for (const MmaForm& form : kForms) {
    if (form.shape == b.Of(Category::kShape) && form.sums == b.TypeAt(0) && form.a == b.TypeAt(1) &&
        form.b == b.TypeAt(2) && form.sums == b.TypeAt(3)) {
      return &form;
    }
  }
  return nullptr;
}

// {a, b, ...} of `count` 32-bit registers; one alone may have braces too.
void TakeFragment(InstructionBuilder& b, unsigned count, bool is_destination) {
  const Operand* operand = b.Take();
  if (operand == nullptr) return;
  const bool is_vector = operand->kind == Operand::Kind::kVector;
  if (is_vector ? operand->elements.size() != count : count != 1) {
    return b.Fail(fmt::format("a fragment of {} registers is wanted", count));
  }
  for (unsigned i = 0; i < count; ++i) {
    const Operand& element = is_vector ? operand->elements[i] : *operand;
    b.Add(is_destination ? b.DestinationRef(element, 32, false)
                         : b.SourceRef(element, Type::kB32, false));
  }
}

}  // namespace

void DecodeMma(InstructionBuilder& b) {
  const bool is_row_col = b.statement().name.find(".row.col") != std::string_view::npos;
  if (!b.Has(Category::kSync) || !b.Has(Category::kAligned) || !is_row_col) {
    return b.Fail("needs '.sync.aligned' and '.row.col'");
  }
  const MmaForm* form = b.modifiers().type_count() == 4 ? FindForm(b) : nullptr;
  if (form == nullptr) {
    return b.Fail("this shape with these types is not known to the emulator");
  }
  b.out().satfinite = b.Has(Category::kSatfinite);
  if (b.out().satfinite && form->sums != kS32) b.Fail("'.satfinite' is for .s32");
  TakeFragment(b, 4, true);
  TakeFragment(b, 2 * form->registers_of_b, false);
  TakeFragment(b, form->registers_of_b, false);
  TakeFragment(b, 4, false);
  b.Constant(kFullMask, 32);
  b.out().action = Action::kWarpSync;
  b.Execute(form->handler);
}

}  // namespace lijit::emulator
