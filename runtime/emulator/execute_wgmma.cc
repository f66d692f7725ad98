// SPDX-License-Identifier: Apache-2.0
// wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"): D = A B + D by four warps,
// 64 rows by N columns. A warp computes its 16 rows when it executes the instruction; whoever
// touches the result, or what is multiplied, before wgmma.wait_group says that it is there, is
// found out.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/memory_access.h"
#include "runtime/emulator/mma_fragments.h"
#include "runtime/emulator/warp_matrix.h"
#include "runtime/emulator/wgmma_sums.h"
#include "runtime/emulator/wgmma_tiles.h"

namespace lijit::emulator {
namespace {

constexpr unsigned kChunks = 2;  // of 16 bytes, in a row of K elements
constexpr AccessMode kAsyncRead{
    .reads = true, .proxy = true, .alignment = MatrixDescriptor::kChunkBytes};

void Report(Warp& warp, const Instruction& in, std::string_view kind, std::string_view what) {
  warp.cta().Report(kind, in, warp.index() * kWarpSize, what);
}

// Where the operands stand: N/2 registers of D, A, the descriptor of B, the predicate of D.
struct Places {
  unsigned a;
  unsigned b;
  unsigned scale_d;

  Places(const Instruction& in, bool a_in_shared)
      : a(in.vector * 4u), b(a + (a_in_shared ? 1 : 4)), scale_d(b + 1) {}
};

// The value that all lanes of a 64-bit operand must have.
bool ReadDescriptor(Warp& warp, const Instruction& in, unsigned i, std::uint64_t& descriptor) {
  const auto* lanes = warp.In<std::uint64_t>(in, i);
  descriptor = lanes[0];
  if (std::all_of(lanes, lanes + kWarpSize, [&](std::uint64_t x) { return x == lanes[0]; })) {
    return true;
  }
  Report(warp, in, "divergence", "has another matrix descriptor than other threads of its warp");
  return false;
}

bool UseRegisters(Warp& warp, const Instruction& in, const Places& places) {
  for (unsigned i = 0; i < places.b; ++i) {
    const bool is_descriptor = places.b == places.a + 1 && i == places.a;
    if (is_descriptor) continue;
    const OperandRef ref = warp.operand(in, i);
    if (ref.is_constant()) continue;
    const std::string_view wrong =
        i < places.a ? warp.watch().UseAccumulator(ref) : warp.watch().UseSource(ref);
    if (wrong.empty()) continue;
    Report(warp, in, "async", wrong);
    return false;
  }
  return true;
}

// Whether the warp may read these lines now. Finds what is out of bounds, not initialized, not
// fenced, not in order, or on its way.
bool CheckLines(Warp& warp, const Instruction& in, const PendingProduct::Operand& operand) {
  const MatrixDescriptor descriptor(operand.descriptor);
  for (unsigned line = 0; line < operand.lines; ++line) {
    for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
      const std::uint64_t offset = descriptor.Offset(operand.first_line + line, chunk);
      if (ResolveIn(Space::kShared, warp, in, 0, offset, MatrixDescriptor::kChunkBytes,
                    kAsyncRead) == nullptr) {
        return false;
      }
    }
  }
  return true;
}

template <typename Element, unsigned K>
void DecodeLine(Cta& cta, MatrixDescriptor descriptor, unsigned line, float (&values)[K]) {
  for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
    std::uint32_t words[4];
    std::memcpy(words, cta.shared() + descriptor.Offset(line, chunk), sizeof words);
    DecodeBlockRow<Element>(words, values + chunk * (K / kChunks));
  }
}

template <typename Element, unsigned K>
void DecodeTile(Cta& cta, WgmmaTile& tile) {
  const MatrixDescriptor descriptor(tile.descriptor);
  tile.matrix.Resize(K, tile.lines);
  tile.begin = std::numeric_limits<std::uint64_t>::max();
  tile.end = 0;
  for (unsigned line = 0; line < tile.lines; ++line) {
    float values[K];
    DecodeLine<Element>(cta, descriptor, line, values);
    PutLine<Element>(tile.matrix, line, values);
    for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
      const std::uint64_t offset = descriptor.Offset(line, chunk);
      tile.begin = std::min(tile.begin, offset);
      tile.end = std::max(tile.end, offset + MatrixDescriptor::kChunkBytes);
    }
  }
  tile.writes = cta.write_counts().Sum(tile.begin, tile.end);
  tile.checked = 0;
}

// B, from what was decoded before if nothing has changed since. Null after a finding.
template <typename Element, unsigned K>
const WgmmaMatrix* FindTile(Warp& warp, const Instruction& in,
                            const PendingProduct::Operand& operand) {
  Cta& cta = warp.cta();
  WgmmaTile& tile = cta.wgmma_tiles().PlaceOf(operand.descriptor);
  const bool known = tile.IsOf(operand.descriptor, Element::kType, operand.lines) &&
                     tile.writes == cta.write_counts().Sum(tile.begin, tile.end);
  const Mask self = Mask{1} << warp.index();
  if (known && (tile.checked & self) != 0) return &tile.matrix;
  if (!CheckLines(warp, in, operand)) return nullptr;
  if (!known) {
    tile.descriptor = operand.descriptor;
    tile.type = Element::kType;
    tile.lines = operand.lines;
    DecodeTile<Element, K>(cta, tile);
  }
  tile.checked |= self;
  return &tile.matrix;
}

template <typename Element, unsigned K>
bool ReadRows(Warp& warp, const Instruction& in, const Places& places,
              const PendingProduct::Operand& operand, WgmmaRow<K> (&rows)[kWgmmaRows]) {
  float values[kWgmmaRows][K];
  if (operand.lines == 0) {
    ReadA<Element>(warp, in, places.a, values);
  } else {
    if (!CheckLines(warp, in, operand)) return false;
    for (unsigned i = 0; i < kWgmmaRows; ++i) {
      DecodeLine<Element>(warp.cta(), MatrixDescriptor(operand.descriptor), operand.first_line + i,
                          values[i]);
    }
  }
  const bool negative = in.immediate != 0;
  for (unsigned i = 0; i < kWgmmaRows; ++i) {
    for (unsigned k = 0; k < K; ++k) rows[i].values[k] = negative ? -values[i][k] : values[i][k];
    DescribeRow<Element>(rows[i]);
  }
  return true;
}

// Element (row, column) of the warp's part of D: its operand, and the lane.
unsigned RegisterOf(unsigned row, unsigned column) {
  return column / 8 * 4 + row / kBlockRows * 2 + column % 2;
}
unsigned LaneOf(unsigned row, unsigned column) { return row % kBlockRows * 4 + column % 8 / 2; }

struct IntegerSums {
  template <unsigned K>
  static void Add(const Instruction& in, const WgmmaRow<K>& row, const WgmmaMatrix& b,
                  unsigned column, std::uint32_t (&sums)[kWgmmaColumns]) {
    // At most 32 products below 2^16: exact in single precision.
    float products[kWgmmaColumns];
    MultiplyBlock(row, b, column, products);
    for (unsigned i = 0; i < kWgmmaColumns; ++i) {
      sums[i] = AddInteger(sums[i], static_cast<std::int32_t>(products[i]), in.satfinite);
    }
  }
};

template <unsigned F, typename Term>
struct FloatSums {
  template <unsigned K>
  static void Add(const Instruction&, const WgmmaRow<K>& row, const WgmmaMatrix& b, unsigned column,
                  std::uint32_t (&bits)[kWgmmaColumns]) {
    float sums[kWgmmaColumns];
    std::memcpy(sums, bits, sizeof sums);
    AddFloats<F, Term>(row, b, column, sums);
    for (unsigned i = 0; i < kWgmmaColumns; ++i) {
      bits[i] = std::isnan(sums[i]) ? kF32Format.nan : std::bit_cast<std::uint32_t>(sums[i]);
    }
  }
};

template <typename Sums, unsigned K>
void AddProducts(Warp& warp, const Instruction& in, const WgmmaRow<K> (&rows)[kWgmmaRows],
                 const WgmmaMatrix& b, bool keeps_sums) {
  for (unsigned column = 0; column < b.lines; column += kWgmmaColumns) {
    std::uint32_t* registers[4];
    for (unsigned i = 0; i < 4; ++i) {
      registers[i] = warp.Out<std::uint32_t>(in, RegisterOf(0, column) + i);
    }
    for (unsigned row = 0; row < kWgmmaRows; ++row) {
      std::uint32_t sums[kWgmmaColumns] = {};
      for (unsigned i = 0; i < kWgmmaColumns && keeps_sums; ++i) {
        sums[i] = registers[RegisterOf(row, i)][LaneOf(row, i)];
      }
      Sums::Add(in, rows[row], b, column, sums);
      for (unsigned i = 0; i < kWgmmaColumns; ++i) {
        registers[RegisterOf(row, i)][LaneOf(row, i)] = sums[i];
      }
    }
  }
}

template <typename A, typename B, unsigned K, typename Sums>
void Multiply(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  const bool a_in_shared = in.register_bits == 64;
  const Places places(in, a_in_shared);
  PendingProduct product;
  product.instruction = warp.cta().IndexOf(in);
  product.b.lines = in.vector * kWgmmaColumns;
  if (!ReadDescriptor(warp, in, places.b, product.b.descriptor)) return;
  if (a_in_shared) {
    product.a.first_line = warp.index() % 4 * kWgmmaRows;
    product.a.lines = kWgmmaRows;
    if (!ReadDescriptor(warp, in, places.a, product.a.descriptor)) return;
  }
  const Mask keeps_sums = warp.PredicateIn(in, places.scale_d);
  if (keeps_sums != 0 && keeps_sums != kFullMask) {
    return Report(warp, in, "divergence", "has another scale-d than other threads of its warp");
  }
  if (!StepTogether(warp, in, product.a.descriptor, product.b.descriptor)) return;
  if (!UseRegisters(warp, in, places)) return;
  WgmmaRow<K> rows[kWgmmaRows];
  if (!ReadRows<A>(warp, in, places, product.a, rows)) return;
  const WgmmaMatrix* b = FindTile<B, K>(warp, in, product.b);
  if (b == nullptr) return;
  AddProducts<Sums>(warp, in, rows, *b, keeps_sums != 0);
  product.group = warp.watch().open_group();
  warp.pending_products().push_back(product);
}

void Fence(Warp& warp, const Instruction& in, Mask mask) {
  if (IsWholeWarp(warp, in, mask)) warp.watch().Fence();
}

void CommitGroup(Warp& warp, const Instruction& in, Mask mask) {
  if (IsWholeWarp(warp, in, mask)) warp.watch().Commit();
}

// What a product multiplied must still have been there when it was done: reading it again finds who
// was in the way, and tells those who come later.
void WaitGroup(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask)) return;
  warp.watch().Wait(static_cast<std::uint64_t>(in.immediate));
  auto& pending = warp.pending_products();
  std::size_t done = 0;
  for (; done < pending.size() && pending[done].group <= warp.watch().done_groups(); ++done) {
    const Instruction& product = warp.cta().kernel().code[pending[done].instruction];
    if (!CheckLines(warp, product, pending[done].a)) return;
    if (!CheckLines(warp, product, pending[done].b)) return;
  }
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(done));
}

struct WgmmaForm {
  unsigned k;
  Type sums;
  Type a;
  Type b;
  Handler handler;
};

template <typename A, typename B>
constexpr WgmmaForm Integers() {
  return {32, Type::kS32, A::kType, B::kType, &Multiply<A, B, 32, IntegerSums>};
}
template <typename A, typename B>
constexpr WgmmaForm Floats8() {
  return {32, Type::kF32, A::kType, B::kType, &Multiply<A, B, 32, FloatSums<13, float>>};
}
template <typename A>
constexpr WgmmaForm Floats16() {
  return {16, Type::kF32, A::kType, A::kType, &Multiply<A, A, 16, FloatSums<25, double>>};
}

constexpr WgmmaForm kForms[] = {
    Integers<S8Element, S8Element>(),
    Integers<S8Element, U8Element>(),
    Integers<U8Element, S8Element>(),
    Integers<U8Element, U8Element>(),
    Floats8<E4m3Element, E4m3Element>(),
    Floats8<E4m3Element, E5m2Element>(),
    Floats8<E5m2Element, E4m3Element>(),
    Floats8<E5m2Element, E5m2Element>(),
    Floats16<F16Element>(),
    Floats16<Bf16Element>(),
};

// The columns of a shape m64nNkK, or 0 if the instruction has another K or its type no such N.
unsigned ColumnsOf(Modifier shape, const WgmmaForm& form) {
  const std::string_view name = Suffix(shape);
  if (!name.starts_with("m64n") || !name.ends_with(fmt::format("k{}", form.k))) return 0;
  unsigned columns = 0;
  for (const char c : name.substr(4, name.size() - 7)) {
    columns = columns * 10 + static_cast<unsigned>(c - '0');
  }
  const bool fits = form.sums != Type::kS32 || columns <= 32 || columns % 16 == 0;
  return fits && (form.sums != Type::kS32 || columns != 40) ? columns : 0;
}

const WgmmaForm* FindForm(InstructionBuilder& b) {
  if (b.modifiers().type_count() != 3) return nullptr;
  for (const WgmmaForm& form : kForms) {
    if (form.sums == b.TypeAt(0) && form.a == b.TypeAt(1) && form.b == b.TypeAt(2)) return &form;
  }
  return nullptr;
}

// 1 or -1.
bool TakeSign(InstructionBuilder& b) {
  const auto value = static_cast<std::int64_t>(b.IntegerOperand());
  if (value != 1 && value != -1) b.Fail("an element's sign is 1 or -1");
  return value == -1;
}

void TakeSigns(InstructionBuilder& b, const WgmmaForm& form, bool a_in_shared) {
  b.out().immediate = 0;
  if (form.sums == Type::kS32) return;
  const bool negative_a = TakeSign(b);
  const bool negative_b = TakeSign(b);
  b.out().immediate = negative_a != negative_b ? 1 : 0;
  if (form.k != 16) return;
  for (unsigned i = a_in_shared ? 0 : 1; i < 2; ++i) {
    if (b.IntegerOperand() != 0) b.Fail("transposed operands are not known to the emulator");
  }
}

void DecodeMmaAsync(InstructionBuilder& b) {
  const WgmmaForm* form = FindForm(b);
  const unsigned columns = form == nullptr ? 0 : ColumnsOf(b.Of(Category::kShape), *form);
  if (columns == 0) return b.Fail("this shape with these types is not known to the emulator");
  b.out().satfinite = b.Has(Category::kSatfinite);
  if (b.out().satfinite && form->sums != Type::kS32) b.Fail("'.satfinite' is for .s32");
  b.out().vector = static_cast<std::uint8_t>(columns / kWgmmaColumns);
  TakeFragment(b, columns / 2, true);
  const Operand* a = b.Peek();
  const bool a_in_shared = a != nullptr && a->kind != Operand::Kind::kVector;
  b.out().register_bits = a_in_shared ? 64 : 32;
  if (a_in_shared) {
    b.Source(Type::kB64);
  } else {
    TakeFragment(b, 4, false);
  }
  b.Source(Type::kB64);
  b.PredicateSource();
  TakeSigns(b, *form, a_in_shared);
  b.out().use = RegisterUse::kProduct;
  b.Execute(form->handler);
}

}  // namespace

void DecodeWgmma(InstructionBuilder& b) {
  if (b.kernel().module().target != "sm_90a") b.Fail("needs '.target sm_90a'");
  b.kernel().kernel().has_wgmma = true;
  switch (b.Of(Category::kAsyncGroup)) {
    case Modifier::kCommitGroup:
      b.Execute(&CommitGroup);
      break;
    case Modifier::kWaitGroup:
      b.out().immediate = static_cast<std::int64_t>(b.IntegerOperand());
      b.Execute(&WaitGroup);
      break;
    case Modifier::kNone:
      if (b.Of(Category::kWgmmaForm) == Modifier::kWgmmaFence) {
        b.Execute(&Fence);
      } else if (b.Of(Category::kWgmmaForm) == Modifier::kMmaAsync) {
        DecodeMmaAsync(b);
      } else {
        b.Fail("is no known form of wgmma");
      }
      break;
    default:
      return b.Fail("is no known form of wgmma");
  }
  WaitForWarp(b);
}

}  // namespace lijit::emulator
