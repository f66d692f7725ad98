// SPDX-License-Identifier: Apache-2.0
// mma.sync: D = A B + C by a whole warp (PTX ISA, "Multiply-and-Accumulate Instruction: mma").
//
// Integer sums are exact, and wrap, or clamp once with .satfinite. For floats see mma_float.h.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/mma_float.h"
#include "runtime/emulator/mma_fragments.h"
#include "runtime/emulator/warp_matrix.h"

namespace lijit::emulator {
namespace {

template <typename A, typename B, unsigned K>
void MultiplyIntegers(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  constexpr MmaPlaces kPlaces = PlacesOf<A, K>();
  std::int16_t a[kMmaRows][K];
  std::int16_t b[kMmaColumns][K];
  MmaSums sums;
  ReadA<A>(warp, in, kPlaces.a, a);
  ReadB<B>(warp, in, kPlaces.b, b);
  ReadC(warp, in, kPlaces.c, sums);
  for (unsigned row = 0; row < kMmaRows; ++row) {
    for (unsigned column = 0; column < kMmaColumns; ++column) {
      std::int32_t dot = 0;
      for (unsigned k = 0; k < K; ++k) dot += a[row][k] * b[column][k];
      sums[row][column] = AddInteger(sums[row][column], dot, in.satfinite);
    }
  }
  WriteD(warp, in, sums);
}

template <typename A, typename B, unsigned K>
void MultiplyFloats(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  constexpr MmaPlaces kPlaces = PlacesOf<A, K>();
  FloatOperands<K> operands;
  MmaSums sums;
  ReadOperands<A, B>(warp, in, kPlaces, operands);
  ReadC(warp, in, kPlaces.c, sums);
  AddProducts(operands, sums);
  WriteD(warp, in, sums);
}

// Which lanes and bytes hold the scales: the operands {byte, thread}, equal in all threads.
struct ScaleSelector {
  unsigned byte;
  unsigned thread;
};

// PTX ISA, "Block Scaling": the byte is the first of those used, the thread counts pairs of lanes
// (of A) or lanes (of B) in a group of four.
bool ReadSelector(Warp& warp, const Instruction& in, unsigned place, unsigned blocks,
                  unsigned threads, ScaleSelector& selector) {
  const auto* bytes = warp.In<std::uint16_t>(in, place);
  const auto* thread = warp.In<std::uint16_t>(in, place + 1);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const bool is_uniform = bytes[lane] == bytes[0] && thread[lane] == thread[0];
    if (is_uniform && bytes[lane] % blocks == 0 && bytes[lane] < 4 && thread[lane] < threads) {
      continue;
    }
    warp.cta().Report("out-of-bounds", in, warp.index() * kWarpSize + lane,
                      fmt::format("selects scales by byte {} and thread {}, which are not below 4 "
                                  "and {}, not a multiple of {}, or not the same in all threads",
                                  bytes[lane], thread[lane], threads, blocks));
    return false;
  }
  selector = {bytes[0], thread[0]};
  return true;
}

// The scales of a row of A or a column of B, of one block of K/kBlocks elements each.
template <unsigned kBlocks>
struct Scales {
  double values[kBlocks];
  int spread;  // of their exponents; kNoWidth with NaN
};

template <unsigned kBlocks>
Scales<kBlocks> DecodeScales(std::uint32_t word, unsigned byte) {
  Scales<kBlocks> scales;
  unsigned least = 0xff;
  unsigned greatest = 0;
  for (unsigned i = 0; i < kBlocks; ++i) {
    const unsigned code = word >> 8 * (byte + i) & 0xff;
    scales.values[i] = DecodeUe8m0(code);
    least = std::min(least, code);
    greatest = std::max(greatest, code);
  }
  scales.spread = greatest == 0xff ? kNoWidth : static_cast<int>(greatest - least);
  return scales;
}

// Operands from `place`: scales of A, byte and thread; scales of B, byte and thread.
template <unsigned kBlocks, unsigned K>
bool ScaleOperands(Warp& warp, const Instruction& in, unsigned place, FloatOperands<K>& operands) {
  ScaleSelector of_a;
  ScaleSelector of_b;
  if (!ReadSelector(warp, in, place + 1, kBlocks, 2, of_a)) return false;
  if (!ReadSelector(warp, in, place + 4, kBlocks, 4, of_b)) return false;
  const auto* words_a = warp.In<std::uint32_t>(in, place);
  const auto* words_b = warp.In<std::uint32_t>(in, place + 3);
  for (unsigned row = 0; row < kMmaRows; ++row) {
    const unsigned lane = row % kBlockRows * 4 + of_a.thread * 2 + row / kBlockRows;
    const auto scales = DecodeScales<kBlocks>(words_a[lane], of_a.byte);
    for (unsigned k = 0; k < K; ++k) operands.a[row][k] *= scales.values[k / (K / kBlocks)];
    operands.width_a[row] += scales.spread;
  }
  for (unsigned column = 0; column < kMmaColumns; ++column) {
    const auto scales = DecodeScales<kBlocks>(words_b[column * 4 + of_b.thread], of_b.byte);
    for (unsigned k = 0; k < K; ++k)
      operands.b[k][column / 2][column % 2] *= scales.values[k / (K / kBlocks)];
    operands.width_b[column] += scales.spread;
  }
  return true;
}

template <typename A, typename B, unsigned K, unsigned kBlocks>
void MultiplyScaled(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  constexpr MmaPlaces kPlaces = PlacesOf<A, K>();
  FloatOperands<K> operands;
  MmaSums sums;
  ReadOperands<A, B>(warp, in, kPlaces, operands);
  if (!ScaleOperands<kBlocks>(warp, in, kPlaces.end, operands)) return;
  ReadC(warp, in, kPlaces.c, sums);
  AddProducts(operands, sums);
  WriteD(warp, in, sums);
}

struct MmaForm {
  Modifier shape;
  Modifier kind;
  Type sums;  // C and D
  Type a;
  Type b;
  unsigned registers_of_b;  // A has twice as many
  Handler handler;
};

constexpr Modifier ShapeOf(unsigned k) {
  switch (k) {
    case 8:
      return Modifier::kM16n8k8;
    case 16:
      return Modifier::kM16n8k16;
    case 32:
      return Modifier::kM16n8k32;
    default:
      return Modifier::kM16n8k64;
  }
}

template <typename A, typename B, unsigned K>
constexpr MmaForm FormOf(Type sums, Handler handler, Modifier kind) {
  return {ShapeOf(K), kind, sums, A::kType, B::kType, K * A::kBits / kBlockRowBits, handler};
}

template <typename A, typename B, unsigned K>
constexpr MmaForm Integers() {
  return FormOf<A, B, K>(Type::kS32, &MultiplyIntegers<A, B, K>, Modifier::kNone);
}

template <typename A, typename B, unsigned K>
constexpr MmaForm Floats(Modifier kind = Modifier::kNone) {
  return FormOf<A, B, K>(Type::kF32, &MultiplyFloats<A, B, K>, kind);
}

// With a scale for every 32 elements of a row of A or a column of B.
template <typename A, typename B, unsigned K>
constexpr MmaForm Scaled(Modifier kind) {
  return FormOf<A, B, K>(Type::kF32, &MultiplyScaled<A, B, K, K / 32>, kind);
}

constexpr MmaForm kForms[] = {
    Integers<S8Element, S8Element, 16>(),
    Integers<S8Element, S8Element, 32>(),
    Integers<S8Element, U8Element, 16>(),
    Integers<S8Element, U8Element, 32>(),
    Integers<U8Element, S8Element, 16>(),
    Integers<U8Element, S8Element, 32>(),
    Integers<U8Element, U8Element, 16>(),
    Integers<U8Element, U8Element, 32>(),
    Floats<F16Element, F16Element, 8>(),
    Floats<F16Element, F16Element, 16>(),
    Floats<Bf16Element, Bf16Element, 8>(),
    Floats<Bf16Element, Bf16Element, 16>(),
    Floats<E4m3Element, E4m3Element, 16>(),
    Floats<E4m3Element, E4m3Element, 32>(),
    Floats<E4m3Element, E5m2Element, 16>(),
    Floats<E4m3Element, E5m2Element, 32>(),
    Floats<E5m2Element, E4m3Element, 16>(),
    Floats<E5m2Element, E4m3Element, 32>(),
    Floats<E5m2Element, E5m2Element, 16>(),
    Floats<E5m2Element, E5m2Element, 32>(),
    Floats<E4m3Element, E4m3Element, 16>(Modifier::kF8f6f4),
    Floats<E4m3Element, E4m3Element, 32>(Modifier::kF8f6f4),
    Floats<E4m3Element, E5m2Element, 16>(Modifier::kF8f6f4),
    Floats<E4m3Element, E5m2Element, 32>(Modifier::kF8f6f4),
    Floats<E5m2Element, E4m3Element, 16>(Modifier::kF8f6f4),
    Floats<E5m2Element, E4m3Element, 32>(Modifier::kF8f6f4),
    Floats<E5m2Element, E5m2Element, 16>(Modifier::kF8f6f4),
    Floats<E5m2Element, E5m2Element, 32>(Modifier::kF8f6f4),
    Scaled<E4m3Element, E4m3Element, 32>(Modifier::kMxf8f6f4),
    Scaled<E4m3Element, E5m2Element, 32>(Modifier::kMxf8f6f4),
    Scaled<E5m2Element, E4m3Element, 32>(Modifier::kMxf8f6f4),
    Scaled<E5m2Element, E5m2Element, 32>(Modifier::kMxf8f6f4),
    Scaled<E2m1Element, E2m1Element, 64>(Modifier::kMxf4),
};

const MmaForm* FindForm(InstructionBuilder& b) {
  for (const MmaForm& form : kForms) {
    if (form.shape == b.Of(Category::kShape) && form.kind == b.Of(Category::kKind) &&
        form.sums == b.TypeAt(0) && form.a == b.TypeAt(1) && form.b == b.TypeAt(2) &&
        form.sums == b.TypeAt(3)) {
      return &form;
    }
  }
  return nullptr;
}

// The operands and suffixes that all forms have.
void TakeMatrices(InstructionBuilder& b, unsigned types) {
  if (b.statement().name.find(".row.col") == std::string_view::npos) b.Fail("needs '.row.col'");
  const MmaForm* form = b.modifiers().type_count() == types ? FindForm(b) : nullptr;
  if (form == nullptr) {
    return b.Fail("this shape with these types is not known to the emulator");
  }
  b.out().satfinite = b.Has(Category::kSatfinite);
  if (b.out().satfinite && form->sums != Type::kS32) b.Fail("'.satfinite' is for .s32");
  TakeFragment(b, 4, true);
  TakeFragment(b, 2 * form->registers_of_b, false);
  TakeFragment(b, form->registers_of_b, false);
  TakeFragment(b, 4, false);
  b.Execute(form->handler);
}

}  // namespace

void DecodeMma(InstructionBuilder& b) {
  TakeMatrices(b, 4);
  WaitForWarp(b);
}

void DecodeMmaScaled(InstructionBuilder& b) {
  const Modifier kind = b.Of(Category::kKind);
  const Modifier blocks = kind == Modifier::kMxf4 ? Modifier::kScaleVec2x : Modifier::kScaleVec1x;
  if (!b.Has(Category::kBlockScale) || (kind != Modifier::kMxf4 && kind != Modifier::kMxf8f6f4)) {
    b.Fail("needs '.block_scale' and '.kind::mxf4' or '.kind::mxf8f6f4'");
  }
  if (b.Has(Category::kScaleVec) && b.Of(Category::kScaleVec) != blocks) {
    b.Fail("this '.scale_vec' with this kind is not known to the emulator");
  }
  TakeMatrices(b, 5);
  for (int matrix = 0; matrix < 2; ++matrix) {
    TakeFragment(b, 1, false);
    b.Sources(2, Type::kU16);
    if (b.out().register_bits2 != 16) b.Fail("a selector has 16 bits");
  }
  WaitForWarp(b);
}

}  // namespace lijit::emulator
