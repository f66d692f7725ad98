// SPDX-License-Identifier: Apache-2.0
// top_k: a block a row. Numbers become keys whose unsigned order is theirs; the k-th largest key is
// found a byte at a time from histograms; then the columns above it, and as many equal ones as are
// still wanted, are written in ascending order. The result depends on nothing but the row.
#include "compiler/lower/simt.h"
#include "compiler/support/float_text.h"

namespace lijit::lower {
namespace {

using ir::Builder;
using ir::Memory;
using ir::Op;
using ir::OpCode;

constexpr int kTopKThreads = 256;
constexpr int kTopKWarps = kTopKThreads / kWarp;
constexpr int kDigits = 256;  // one histogram bin a thread
// Shared memory: the histogram, whose place the warps' counts take later, then what thread 0 found.
constexpr int kFoundAt = 4 * kDigits;
constexpr int kTopKSharedBytes = kFoundAt + 8;
constexpr int kEqualCountsAt = 4 * kTopKWarps;

class TopKEmitter {
 public:
  TopKEmitter(Builder& b, const ir::Kernel& kernel, const EntryParameters& p)
      : b_(b), kernel_(kernel), p_(p) {}

  Status CheckBody() const {
    for (const Op& op : kernel_.body.ops) {
      if (op.code != OpCode::kYield && op.code != OpCode::kConst && !IsElementwise(op.code)) {
        return SimtRefuses(kernel_, "a selection's number is computed by arithmetic alone");
      }
    }
    return {};
  }

  void EmitRow(ValueId row) {
    thread_ = b_.ThreadId();
    logits_at_ = b_.Mul(row, p_["logits_stride"]);
    indices_at_ = b_.Mul(row, p_["indices_stride"]);
    const ValueId has_starts =
        b_.Compare(OpCode::kNe, b_.Emit1(OpCode::kAddress, {p_["starts"]}, kI64), b_.I64(0));
    origin_ = b_.If(
        has_starts, {kI64}, [&] { return Builder::Values{LoadIndex(b_, p_["starts"], row)}; },
        [&] { return Builder::Values{b_.I64(0)}; })[0];
    start_ = MaxSigned(b_, origin_, b_.I64(0));
    end_ = MinSigned(b_, VisibleColumns(b_, p_, row), p_["columns"]);
    const ValueId count = MaxSigned(b_, b_.Sub(end_, start_), b_.I64(0));
    b_.If(
        b_.Compare(OpCode::kLe, count, p_["k"]), {},
        [&] {
          EmitAll(count);
          return Builder::Values{};
        },
        [&] {
          const auto [threshold, wanted] = EmitThreshold();
          EmitSelected(threshold, wanted);
          return Builder::Values{};
        });
  }

 private:
  ValueId WideThread() { return b_.WidenU(thread_); }

  // Every column of a short row, then -1.
  void EmitAll(ValueId count) {
    const ValueId first = b_.Sub(start_, origin_);
    b_.For(WideThread(), p_["k"], b_.I64(kTopKThreads), {}, [&](ValueId i, const Builder::Values&) {
      const ValueId is_column = b_.Compare(OpCode::kLt, i, count);
      StoreIndex(i, b_.Select(is_column, b_.Add(first, i), b_.I64(-1)));
      return Builder::Values{};
    });
  }

  void StoreIndex(ValueId position, ValueId index) {
    const ValueId at = b_.ShlConst(b_.Add(indices_at_, position), 2);
    b_.Store(Memory::kI32, p_["indices"], at, b_.Narrow(index));
  }

  // The number that the kernel selects by.
  ValueId EmitBody(ValueId logit) {
    std::vector<ValueId> values(kernel_.values.size(), -1);
    values[static_cast<std::size_t>(kernel_.body.arguments[0])] = logit;
    for (const Op& op : kernel_.body.ops) {
      std::vector<ValueId> operands;
      for (const ValueId id : op.operands) operands.push_back(values[static_cast<std::size_t>(id)]);
      if (op.code == OpCode::kYield) return operands[0];
      values[static_cast<std::size_t>(op.results[0])] =
          op.code == OpCode::kConst ? b_.F32(FloatFromBits(static_cast<std::uint32_t>(op.constant)))
                                    : EmitElementwise(b_, op, operands);
    }
    return logit;
  }

  // Unsigned order of keys is the order of numbers, -0 below +0; NaN is 0, below -inf.
  ValueId EmitKey(ValueId column) {
    const ValueId x =
        EmitBody(b_.Load(Memory::kF32, p_["logits"], b_.ShlConst(b_.Add(logits_at_, column), 2)));
    const ValueId bits = b_.Bitcast(x);
    const ValueId is_negative = b_.Compare(OpCode::kLt, bits, b_.I32(0));
    const ValueId flip = b_.Select(is_negative, b_.I32(-1), b_.I32(std::int64_t{1} << 31));
    const ValueId is_nan = b_.Compare(OpCode::kNe, x, x);
    return b_.Select(is_nan, b_.I32(0), b_.Xor(bits, flip));
  }

  // The k-th largest key, and how many of the columns with this key are wanted.
  std::pair<ValueId, ValueId> EmitThreshold() {
    const Builder::Values found =
        b_.For(b_.I32(0), b_.I32(4), b_.I32(1), {b_.I32(0), b_.Narrow(p_["k"])},
               [&](ValueId pass, const Builder::Values& carried) {
                 const ValueId shift = b_.Sub(b_.I32(24), b_.ShlConst(pass, 3));
                 CountDigits(carried[0], pass, shift);
                 FindDigit(carried[1]);
                 const ValueId digit = b_.LoadShared(Memory::kI32, b_.I32(kFoundAt));
                 const ValueId wanted = b_.LoadShared(Memory::kI32, b_.I32(kFoundAt + 4));
                 return Builder::Values{b_.Or(carried[0], b_.Shl(digit, shift)), wanted};
               });
    return {found[0], found[1]};
  }

  // Histogram of the next byte of those keys that agree with `prefix` so far.
  void CountDigits(ValueId prefix, ValueId pass, ValueId shift) {
    b_.Barrier();
    b_.StoreShared(Memory::kI32, b_.ShlConst(thread_, 2), b_.I32(0));
    b_.Barrier();
    const ValueId above = b_.Shl(b_.I32(-1), b_.AndConst(b_.AddConst(shift, 8), 31));
    const ValueId is_first = b_.Compare(OpCode::kEq, pass, b_.I32(0));
    const ValueId mask = b_.Select(is_first, b_.I32(0), above);
    b_.For(b_.Add(start_, WideThread()), end_, b_.I64(kTopKThreads), {},
           [&](ValueId column, const Builder::Values&) {
             const ValueId key = EmitKey(column);
             const ValueId differs = b_.And(b_.Xor(key, prefix), mask);
             b_.If(b_.Compare(OpCode::kEq, differs, b_.I32(0)), [&] {
               const ValueId digit = b_.AndConst(b_.Shr(key, shift), kDigits - 1);
               b_.AtomicAddShared(b_.ShlConst(digit, 2), b_.I32(1));
             });
             return Builder::Values{};
           });
    b_.Barrier();
  }

  // Thread 0 goes down the histogram to the bin that holds the wanted-th largest key.
  void FindDigit(ValueId wanted) {
    b_.If(b_.Compare(OpCode::kEq, thread_, b_.I32(0)), [&] {
      // Carried: keys in the bins above, and once the bin is found, its digit and what is wanted of
      // it.
      const Builder::Values found =
          b_.For(b_.I32(0), b_.I32(kDigits), b_.I32(1), {b_.I32(0), b_.I32(-1), b_.I32(0)},
                 [&](ValueId i, const Builder::Values& carried) {
                   const ValueId digit = b_.Sub(b_.I32(kDigits - 1), i);
                   const ValueId total =
                       b_.Add(carried[0], b_.LoadShared(Memory::kI32, b_.ShlConst(digit, 2)));
                   const ValueId is_open = b_.Compare(OpCode::kLt, carried[1], b_.I32(0));
                   const ValueId reaches = b_.Compare(OpCode::kLe, wanted, total);
                   const ValueId takes = b_.And(is_open, reaches);
                   return Builder::Values{total, b_.Select(takes, digit, carried[1]),
                                          b_.Select(takes, b_.Sub(wanted, carried[0]), carried[2])};
                 });
      b_.StoreShared(Memory::kI32, b_.I32(kFoundAt), found[1]);
      b_.StoreShared(Memory::kI32, b_.I32(kFoundAt + 4), found[2]);
    });
    b_.Barrier();
  }

  // Columns in order, a block's width at a time. A selected column's position is the number of
  // selected ones before it: all that are larger, and of the equal ones at most those wanted.
  void EmitSelected(ValueId threshold, ValueId wanted) {
    const ValueId wanted64 = b_.WidenU(wanted);
    b_.For(start_, end_, b_.I64(kTopKThreads), {b_.I64(0), b_.I64(0)},
           [&](ValueId first, const Builder::Values& before) {
             const ValueId column = b_.Add(first, WideThread());
             const Builder::Values relation = b_.If(
                 b_.Compare(OpCode::kLt, column, end_),
                 {ir::ScalarType(ir::Scalar::kI1), ir::ScalarType(ir::Scalar::kI1)},
                 [&] {
                   const ValueId key = EmitKey(column);
                   return Builder::Values{b_.Compare(OpCode::kLtU, threshold, key),
                                          b_.Compare(OpCode::kEq, threshold, key)};
                 },
                 [&] {
                   return Builder::Values{b_.I1(false), b_.I1(false)};
                 });
             const ValueId larger = EmitRanks(relation[0], 0);
             const ValueId equal = EmitRanks(relation[1], kEqualCountsAt);
             b_.Barrier();
             const Counts larger_counts = SumCounts(0);
             const Counts equal_counts = SumCounts(kEqualCountsAt);
             b_.Barrier();
             const auto rank = [&](ValueId base, const Counts& counts, ValueId in_warp) {
               return b_.Add(base, b_.WidenU(b_.Add(counts.before, in_warp)));
             };
             const ValueId larger_rank = rank(before[0], larger_counts, larger);
             const ValueId equal_rank = rank(before[1], equal_counts, equal);
             const ValueId takes_equal =
                 b_.And(relation[1], b_.Compare(OpCode::kLt, equal_rank, wanted64));
             b_.If(b_.Or(relation[0], takes_equal), [&] {
               const ValueId position = b_.Add(larger_rank, MinSigned(b_, equal_rank, wanted64));
               StoreIndex(position, b_.Sub(column, origin_));
             });
             return Builder::Values{b_.Add(before[0], b_.WidenU(larger_counts.total)),
                                    b_.Add(before[1], b_.WidenU(equal_counts.total))};
           });
  }

  struct Counts {
    ValueId before;  // in lower warps
    ValueId total;
  };

  // The number of lower lanes for which the condition holds; leaves the warp's count at
  // `counts_at`.
  ValueId EmitRanks(ValueId condition, int counts_at) {
    const ValueId votes = b_.Ballot(condition);
    const ValueId lane = b_.AndConst(thread_, kWarp - 1);
    const ValueId lower = b_.AddConst(b_.Shl(b_.I32(1), lane), -1);
    b_.If(b_.Compare(OpCode::kEq, lane, b_.I32(0)), [&] {
      const ValueId warp = b_.UdivConst(thread_, kWarp);
      const ValueId at = b_.AddConst(b_.ShlConst(warp, 2), counts_at);
      b_.StoreShared(Memory::kI32, at, b_.Unary(OpCode::kPopcount, votes));
    });
    return b_.Unary(OpCode::kPopcount, b_.And(votes, lower));
  }

  Counts SumCounts(int counts_at) {
    const ValueId warp = b_.UdivConst(thread_, kWarp);
    Counts counts{b_.I32(0), b_.I32(0)};
    for (int w = 0; w < kTopKWarps; ++w) {
      const ValueId count = b_.LoadShared(Memory::kI32, b_.I32(counts_at + 4 * w));
      const ValueId is_lower = b_.Compare(OpCode::kLt, b_.I32(w), warp);
      counts.before = b_.Add(counts.before, b_.Select(is_lower, count, b_.I32(0)));
      counts.total = b_.Add(counts.total, count);
    }
    return counts;
  }

  Builder& b_;
  const ir::Kernel& kernel_;
  const EntryParameters& p_;
  ValueId thread_ = -1;
  ValueId logits_at_ = -1;
  ValueId indices_at_ = -1;
  ValueId origin_ = -1;  // the row's start as it was given, to which indices are relative
  ValueId start_ = -1;   // the first valid column
  ValueId end_ = -1;
};

}  // namespace

Status LowerTopK(const ir::Module&, const ir::Kernel& kernel, ir::Kernel& entry) {
  entry.threads = kTopKThreads;
  entry.tile_rows = 1;
  entry.tile_columns = 1;
  entry.shared_bytes = kTopKSharedBytes;
  Builder b(entry);
  const EntryParameters p(b, kernel.kind);
  TopKEmitter emitter(b, kernel, p);
  LIJIT_TRY(emitter.CheckBody());
  ForEachTile(b, p["rows"], [&](ValueId row) { emitter.EmitRow(row); });
  b.Yield({});
  b.Finish();
  return {};
}

}  // namespace lijit::lower
