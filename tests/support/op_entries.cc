// SPDX-License-Identifier: Apache-2.0
#include "tests/support/op_entries.h"

#include <functional>
#include <limits>

#include "compiler/ir/builder.h"
#include "compiler/support/float_text.h"

namespace lijit::tests {
namespace {

using ir::Builder;
using ir::Memory;
using ir::OpCode;
using ir::OpRow;
using ir::Type;
using ir::ValueId;

constexpr int kThreads = 64;
constexpr Type kI1 = ir::ScalarType(ir::Scalar::kI1);
constexpr Type kI32 = ir::ScalarType(ir::Scalar::kI32);
constexpr Type kI64 = ir::ScalarType(ir::Scalar::kI64);
constexpr Type kF32 = ir::ScalarType(ir::Scalar::kF32);
constexpr Type kPtr = ir::ScalarType(ir::Scalar::kPtr);

// What the body of such an entry is made of.
struct Maker {
  Builder& b;
  ValueId in, out;
  ValueId thread;  // of all blocks, i64

  // The thread's operand number `index`, from 0 to 3.
  ValueId Operand(const Type& type, int index) {
    const ValueId at = b.AddConst(b.MulConst(thread, kOpEntryInBytes), 8 * index);
    if (type == kI64) return b.Load(Memory::kI64, in, at);
    if (type == kF32) return b.Load(Memory::kF32, in, at);
    const ValueId word = b.Load(Memory::kI32, in, at);
    return type == kI1 ? b.Compare(OpCode::kNe, b.AndConst(word, 1), b.I32(0)) : word;
  }

  void Result(int index, ValueId value) {
    const ValueId at = b.AddConst(b.MulConst(thread, kOpEntryOutBytes), 8 * index);
    const Type& type = b.TypeOf(value);
    if (type == kI1) {
      const ValueId one = b.I32(1);
      return b.Store(Memory::kI32, out, at, b.Select(value, one, b.I32(0)));
    }
    const Memory memory = type == kI64 ? Memory::kI64 : type == kF32 ? Memory::kF32 : Memory::kI32;
    b.Store(memory, out, at, value);
  }
};

using Body = std::function<std::vector<ValueId>(Maker&)>;

class Entries {
 public:
  void Add(const OpRow& row, const std::string& variant, const Body& body) {
    OpEntry one{
        row.code, std::string(row.mnemonic) + (variant.empty() ? "" : "_" + variant), {}, {}};
    ir::Kernel entry;
    entry.name = "op_" + one.name;
    entry.kind = ir::KernelKind::kTopK;
    entry.is_entry = true;
    entry.threads = kThreads;
    entry.tile_rows = entry.tile_columns = 1;
    entry.shared_bytes = 8 * kThreads;
    Builder b(entry);
    const ValueId in = b.Parameter("in", kPtr);
    const ValueId out = b.Parameter("out", kPtr);
    const ValueId first = b.MulConst(b.BlockId(), kThreads);
    Maker maker{b, in, out, b.WidenU(b.Add(first, b.ThreadId()))};
    const std::vector<ValueId> results = body(maker);
    for (std::size_t i = 0; i < results.size(); ++i) {
      one.results.push_back(b.TypeOf(results[i]).scalar);
      maker.Result(static_cast<int>(i), results[i]);
    }
    b.Yield({});
    b.Finish();
    one.module.kernels.push_back(std::move(entry));
    entries_.push_back(std::move(one));
  }

  // An op that is nothing but operands and results of these types.
  void AddPlain(const OpRow& row, const std::vector<Type>& operands,
                const std::vector<Type>& results) {
    Add(row, std::string(ir::ScalarName(operands.back().scalar)), [&](Maker& m) {
      std::vector<ValueId> ids;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        ids.push_back(m.Operand(operands[i], static_cast<int>(i)));
      }
      MakeDefined(m.b, row.code, ids);
      return m.b.Emit(row.code, ids, results);
    });
  }

  std::vector<OpEntry> Take() { return std::move(entries_); }

 private:
  // Shifts stay below the width and divisors are not 0.
  static void MakeDefined(Builder& b, OpCode code, std::vector<ValueId>& operands) {
    if (code == OpCode::kShl || code == OpCode::kShr) {
      operands[1] = b.AndConst(operands[1], b.TypeOf(operands[0]) == kI64 ? 63 : 31);
    } else if (code == OpCode::kUdiv || code == OpCode::kUrem) {
      operands[1] = b.Or(operands[1], b.Like(operands[1], 1));
    } else if (code == OpCode::kCvtUe8m0) {
      operands[0] = b.Unary(OpCode::kAbs, operands[0]);  // quotients are not negative
    }
  }

  std::vector<OpEntry> entries_;
};

std::vector<Type> Repeated(const Type& type, int count) {
  return std::vector<Type>(static_cast<std::size_t>(count), type);
}

void AddConstants(Entries& entries, const OpRow& row) {
  for (const std::int64_t x : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31}) {
    entries.Add(row, "i32_" + std::to_string(x & 0xff),
                [x](Maker& m) { return std::vector{m.b.I32(x)}; });
  }
  for (const std::int64_t x :
       {std::int64_t{7}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    entries.Add(row, "i64_" + std::to_string(x & 0xff),
                [x](Maker& m) { return std::vector{m.b.I64(x)}; });
  }
  for (const std::uint32_t bits : {0u, 0x80000000u, 1u, 0x80000001u, 0x7f7fffffu, 0x7f800000u,
                                   0xff800000u, 0x7fc00000u, 0x3dcccccdu, 0xcb800001u}) {
    entries.Add(row, "f32_" + std::to_string(bits),
                [bits](Maker& m) { return std::vector{m.b.F32(FloatFromBits(bits))}; });
  }
  entries.Add(row, "i1", [](Maker& m) { return std::vector{m.b.I1(true), m.b.I1(false)}; });
}

constexpr Memory kMemories[] = {Memory::kU8, Memory::kU16, Memory::kI32, Memory::kI64,
                                Memory::kF32};

Type TypeIn(Memory memory) {
  return memory == Memory::kI64 ? kI64 : memory == Memory::kF32 ? kF32 : kI32;
}

void AddMemory(Entries& entries, const OpRow& row) {
  for (const Memory memory : kMemories) {
    const std::string name(
        ir::KeywordText(ir::AttributeKind::kMemory, static_cast<std::int64_t>(memory)));
    entries.Add(row, name, [&](Maker& m) {
      Builder& b = m.b;
      if (row.code == OpCode::kLoad) {
        return std::vector{b.Load(memory, m.in, b.MulConst(m.thread, kOpEntryInBytes))};
      }
      const ValueId value = m.Operand(TypeIn(memory), 0);
      if (row.code == OpCode::kStore) {
        b.Store(memory, m.out, b.MulConst(m.thread, kOpEntryOutBytes), value);
        return std::vector<ValueId>{};
      }
      // To the place of the thread's neighbour, which reads it.
      const ValueId at = b.ShlConst(b.ThreadId(), 3);
      b.StoreShared(memory, b.Xor(at, b.I32(8)), value);
      b.Barrier();
      return std::vector{b.LoadShared(memory, at)};
    });
  }
}

void AddAtomic(Entries& entries, const OpRow& row) {
  entries.Add(row, "", [](Maker& m) {
    Builder& b = m.b;
    const ValueId slot = b.ShlConst(b.ThreadId(), 2);
    b.StoreShared(Memory::kI32, slot, b.I32(0));
    b.Barrier();
    const ValueId digit = b.AndConst(m.Operand(kI32, 0), 7);
    b.AtomicAddShared(b.ShlConst(digit, 2), m.Operand(kI32, 1));
    b.Barrier();
    return std::vector{b.LoadShared(Memory::kI32, slot)};
  });
}

void AddFor(Entries& entries, const OpRow& row) {
  // Two carried values change places; the bounds differ between threads.
  for (const int unroll : {0, 1, 4}) {
    entries.Add(row, "unroll" + std::to_string(unroll), [unroll](Maker& m) {
      Builder& b = m.b;
      const ValueId end = b.AndConst(m.Operand(kI32, 0), 15);
      const Builder::Values initial = {m.Operand(kF32, 1), m.Operand(kF32, 2)};
      return b.For(
          b.I32(-3), end, b.I32(2), initial,
          [&](ValueId index, const Builder::Values& carried) {
            const ValueId is_low = b.Compare(OpCode::kLt, index, b.I32(4));
            return Builder::Values{carried[1], b.Select(is_low, carried[0], carried[1])};
          },
          unroll);
    });
  }
  entries.Add(row, "i64", [](Maker& m) {
    Builder& b = m.b;
    const ValueId end = b.AndConst(m.Operand(kI64, 0), 31);
    return b.For(b.I64(0), end, b.I64(3), {m.Operand(kI64, 1)},
                 [&](ValueId index, const Builder::Values& carried) {
                   return Builder::Values{b.Add(b.Mul(carried[0], carried[0]), index)};
                 });
  });
}

void AddIf(Entries& entries, const OpRow& row) {
  entries.Add(row, "", [](Maker& m) {
    Builder& b = m.b;
    const ValueId x = m.Operand(kF32, 1);
    const ValueId y = m.Operand(kI32, 2);
    return b.If(
        m.Operand(kI1, 0), {kF32, kI32},
        [&] {
          return Builder::Values{b.Add(x, x), y};
        },
        [&] {
          return Builder::Values{x, b.Add(y, y)};
        });
  });
}

void AddOther(Entries& entries, const OpRow& row) {
  entries.Add(row, "", [&](Maker& m) {
    Builder& b = m.b;
    switch (row.code) {
      case OpCode::kBarrier:
        b.Barrier();
        return std::vector<ValueId>{};
      case OpCode::kAddress: {
        const ValueId address = b.Emit1(OpCode::kAddress, {m.in}, kI64);
        return std::vector{b.Compare(OpCode::kEq, address, b.I64(0))};
      }
      case OpCode::kBallot:
        return std::vector{b.Ballot(m.Operand(kI1, 0))};
      default:
        return std::vector{b.Emit1(row.code, {}, kI32)};
    }
  });
}

void AddRow(Entries& entries, const OpRow& row) {
  using enum ir::TypeRule;
  const auto same = [&](std::initializer_list<Type> types) {
    for (const Type& type : types) entries.AddPlain(row, Repeated(type, row.operands), {type});
  };
  const auto compare = [&](std::initializer_list<Type> types) {
    for (const Type& type : types) entries.AddPlain(row, {type, type}, {kI1});
  };
  switch (row.rule) {
    case kConst:
      return AddConstants(entries, row);
    case kNumeric:
      return same({kI32, kI64, kF32});
    case kFloat:
      return same({kF32});
    case kBits:
      return same({kI1, kI32, kI64});
    case kInteger:
      return same({kI32, kI64});
    case kCompare:
      return compare({kI32, kI64, kF32});
    case kCompareInteger:
      return compare({kI32, kI64});
    case kSelect:
      for (const Type& type : {kI1, kI32, kI64, kF32}) {
        entries.AddPlain(row, {kI1, type, type}, {type});
      }
      return;
    case kBitcast:
      entries.AddPlain(row, {kI32}, {kF32});
      return entries.AddPlain(row, {kF32}, {kI32});
    case kWiden:
      return entries.AddPlain(row, {kI32}, {kI64});
    case kNarrow:
      return entries.AddPlain(row, {kI64}, {kI32});
    case kBitsToF32:
      return entries.AddPlain(row, {kI32}, {kF32});
    case kF32ToBits:
      return entries.AddPlain(row, {kF32}, {kI32});
    case kEncodePair:
      return entries.AddPlain(row, {kF32, kF32}, {kI32});
    case kDecodePair:
      return entries.AddPlain(row, {kI32}, {kF32, kF32});
    case kShuffle:
      for (const Type& type : {kI32, kF32}) {
        entries.Add(row, std::string(ir::ScalarName(type.scalar)), [&](Maker& m) {
          const ValueId x = m.Operand(type, 0);
          return std::vector{m.b.ShuffleXor(x, 1), m.b.ShuffleXor(x, 21)};
        });
      }
      return;
    case kLoad:
    case kStore:
    case kLoadShared:
      return AddMemory(entries, row);
    case kStoreShared:
      return row.code == OpCode::kAtomicAddShared ? AddAtomic(entries, row)
                                                  : AddMemory(entries, row);
    case kFor:
      return AddFor(entries, row);
    case kIf:
      return AddIf(entries, row);
    case kIndex:
    case kAddress:
    case kBallot:
    case kNone:
      return AddOther(entries, row);
    case kTileScores:  // a template's, which tests/emulated/tensor_core_test.cc runs
      return;
    default:
      AbortAt(__FILE__, __LINE__, row.mnemonic.data());  // a rule of ops of kernels
  }
}

}  // namespace

std::vector<OpEntry> AllOpEntries() {
  Entries entries;
  for (const OpRow& row : ir::AllOps()) {
    const bool printed = row.level == ir::Level::kAny || row.level == ir::Level::kLow;
    if (printed && row.code != OpCode::kYield) AddRow(entries, row);
  }
  return entries.Take();
}

}  // namespace lijit::tests
