// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16-bit elements between shared memory and a
// warp's registers (PTX ISA, "Warp-level Matrix Load and Store"). A matrix in registers has a row
// in every four lanes, two elements in each. In memory, row r of matrix m is the 16 bytes at the
// address that lane 8 m + r gives.
#include <fmt/format.h>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/host_memory.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/memory_access.h"
#include "runtime/emulator/warp_matrix.h"

namespace lijit::emulator {
namespace {

constexpr unsigned kEdge = 8;
constexpr unsigned kRowBytes = 16;

using Matrix = std::uint16_t[kEdge][kEdge];

// The two elements of a lane.
struct Pair {
  std::uint16_t& low;
  std::uint16_t& high;
};

Pair PairOf(Matrix& matrix, unsigned lane, bool transposed) {
  const unsigned row = lane / 4;
  const unsigned column = lane % 4 * 2;
  if (transposed) return {matrix[column][row], matrix[column + 1][row]};
  return {matrix[row][column], matrix[row][column + 1]};
}

void ToRegister(Matrix& matrix, std::uint32_t* lanes, bool transposed) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const Pair pair = PairOf(matrix, lane, transposed);
    lanes[lane] = pair.low | std::uint32_t{pair.high} << 16;
  }
}

void FromRegister(const std::uint32_t* lanes, Matrix& matrix, bool transposed) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const Pair pair = PairOf(matrix, lane, transposed);
    pair.low = static_cast<std::uint16_t>(lanes[lane]);
    pair.high = static_cast<std::uint16_t>(lanes[lane] >> 16);
  }
}

bool IsTransposed(const Instruction& in) { return in.operation == Modifier::kTrans; }

// The row that a lane's operand `i` addresses: in shared memory, also if the address is generic.
std::byte* ResolveRow(Warp& warp, const Instruction& in, unsigned i, unsigned lane,
                      AccessMode mode) {
  const std::uint64_t address = AddressOf(warp, in, i, lane);
  if (in.space == Space::kGeneric && address - kSharedWindow >= kWindowBytes) {
    warp.cta().Report("out-of-bounds", in, warp.index() * kWarpSize + lane,
                      fmt::format("gives address {:#x}, which is not in shared memory", address));
    return nullptr;
  }
  return Resolve(warp, in, lane, address, kRowBytes, mode);
}

// Operands: `vector` destinations, the address, members.
void LoadMatrices(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  Matrix matrices[4];
  for (unsigned lane = 0; lane < in.vector * kEdge; ++lane) {
    const std::byte* place = ResolveRow(warp, in, in.vector, lane, kPlainRead);
    if (place == nullptr) return;
    std::uint16_t* row = matrices[lane / kEdge][lane % kEdge];
    for (unsigned i = 0; i < kEdge; ++i) row[i] = LoadRelaxed<std::uint16_t>(place + 2 * i);
  }
  for (unsigned i = 0; i < in.vector; ++i) {
    ToRegister(matrices[i], warp.Out<std::uint32_t>(in, i), IsTransposed(in));
  }
}

// Operands: the address, `vector` sources, members.
void StoreMatrices(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  for (unsigned i = 0; i < in.vector; ++i) {
    Matrix matrix;
    FromRegister(warp.In<std::uint32_t>(in, 1 + i), matrix, IsTransposed(in));
    for (unsigned row = 0; row < kEdge; ++row) {
      std::byte* place = ResolveRow(warp, in, 0, i * kEdge + row, kPlainWrite);
      if (place == nullptr) return;
      for (unsigned j = 0; j < kEdge; ++j) StoreRelaxed(place + 2 * j, matrix[row][j]);
    }
  }
}

// Operands: the destination, the source, members.
void TransposeMatrix(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  Matrix matrix;
  FromRegister(warp.In<std::uint32_t>(in, 1), matrix, false);
  ToRegister(matrix, warp.Out<std::uint32_t>(in, 0), true);
}

unsigned MatrixCount(InstructionBuilder& b) {
  switch (b.Of(Category::kMatrixCount)) {
    case Modifier::kX1:
      return 1;
    case Modifier::kX2:
      return 2;
    case Modifier::kX4:
      return 4;
    default:
      b.Fail("needs '.x1', '.x2' or '.x4'");
      return 1;
  }
}

void TakeMatrixSuffixes(InstructionBuilder& b) {
  if (b.Of(Category::kShape) != Modifier::kM8n8) b.Fail("needs '.m8n8'");
  b.out().operation = b.Of(Category::kTranspose);
}

Space MatrixSpace(InstructionBuilder& b) {
  const Space space = SpaceOf(b.Of(Category::kSpace));
  if (space != Space::kGeneric && space != Space::kShared) b.Fail("is for shared memory");
  return space;
}

}  // namespace

void DecodeLdmatrix(InstructionBuilder& b) {
  TakeMatrixSuffixes(b);
  const unsigned count = MatrixCount(b);
  b.out().vector = static_cast<std::uint8_t>(count);
  TakeFragment(b, count, true);
  b.Address(MatrixSpace(b));
  WaitForWarp(b);
  b.Execute(&LoadMatrices);
}

void DecodeStmatrix(InstructionBuilder& b) {
  TakeMatrixSuffixes(b);
  const unsigned count = MatrixCount(b);
  b.out().vector = static_cast<std::uint8_t>(count);
  b.Address(MatrixSpace(b));
  TakeFragment(b, count, false);
  WaitForWarp(b);
  b.Execute(&StoreMatrices);
}

void DecodeMovmatrix(InstructionBuilder& b) {
  TakeMatrixSuffixes(b);
  if (!b.Has(Category::kTranspose)) b.Fail("needs '.trans'");
  TakeFragment(b, 1, true);
  TakeFragment(b, 1, false);
  WaitForWarp(b);
  b.Execute(&TransposeMatrix);
}

}  // namespace lijit::emulator
