// SPDX-License-Identifier: Apache-2.0
// logits.ragged and logits.paged: a block does 128 keys of one row, a thread a key. Heads are taken
// eight at a time: the block decodes their query rows into shared memory, then every thread decodes
// its key word by word and multiplies it with all eight. Eight heads are one period of the
// canonical order of the weighted sum (docs/numerics.md), so its four partial sums are known
// statically.
#include <fmt/format.h>

#include <optional>

#include "compiler/lower/simt.h"
#include "compiler/support/float_text.h"

namespace lijit::lower {
namespace {

using ir::Builder;
using ir::Memory;
using ir::Op;
using ir::OpCode;

constexpr int kKeysPerBlock = 128;
constexpr int kHeadsAtOnce = 8;
constexpr int kPartialSums = 4;

// Where this thread's key lies: pointers and byte offsets.
struct KeyPlace {
  ValueId values, values_at;
  ValueId scales, scales_at;
};

// The body's ops by when they are computed: before the loop over heads, per head inside of it, or
// after it.
enum class Phase { kBefore, kPerHead, kSum, kAfter };

class LogitsEmitter {
 public:
  LogitsEmitter(Builder& b, const ir::Module& module, const ir::Kernel& kernel,
                const EntryParameters& p)
      : b_(b),
        module_(module),
        kernel_(kernel),
        p_(p),
        query_(kernel.TypeOf(kernel.body.arguments[0])),
        format_(module.FormatOf(query_.format)),
        dim_(query_.dim),
        heads_(query_.heads),
        phases_(kernel.values.size(), Phase::kBefore),
        scalars_(kernel.values.size(), -1) {}

  int SharedBytes() const { return ScalesInShared() + 4 * kHeadsAtOnce * format_.Blocks(dim_); }

  Status Analyse() {
    for (const Op& op : kernel_.body.ops) {
      if (op.code == OpCode::kYield) break;
      LIJIT_TRY(FindPhase(op));
    }
    return {};
  }

  void EmitTile(ValueId row, ValueId first_column) {
    const ValueId thread = b_.WidenU(b_.ThreadId());
    const ValueId column = b_.Add(first_column, thread);
    const auto [begin, end] = Bounds(row);
    const ValueId last_column = b_.AddConst(first_column, kKeysPerBlock);
    const ValueId begins = b_.Compare(OpCode::kLt, first_column, end);
    const ValueId any = b_.And(begins, b_.Compare(OpCode::kLt, begin, last_column));
    const ValueId has_begun = b_.Compare(OpCode::kLe, begin, column);
    const ValueId in_bounds = b_.And(has_begun, b_.Compare(OpCode::kLt, column, end));
    const Builder::Values result = b_.If(
        any, {ir::ScalarType(ir::Scalar::kI1), kF32},
        [&] { return EmitScores(row, column, in_bounds); },
        [&] {
          return Builder::Values{b_.I1(false), b_.F32(0)};
        });
    EmitStore(row, column, result[0], result[1]);
  }

 private:
  int ScalesInShared() const { return 4 * kHeadsAtOnce * dim_; }
  bool HasUe8m0() const {
    return format_.block_scale && format_.block_scale->code == ir::ScaleCode::kUe8m0;
  }

  Phase PhaseOf(ValueId id) const { return phases_[static_cast<std::size_t>(id)]; }
  ValueId& Scalar(ValueId id) { return scalars_[static_cast<std::size_t>(id)]; }

  Status FindPhase(const Op& op) {
    Phase latest = Phase::kBefore;
    for (const ValueId id : op.operands) latest = std::max(latest, PhaseOf(id));
    const bool per_head = kernel_.TypeOf(op.results[0]).IsVec();
    const bool known = IsElementwise(op.code) || op.code == OpCode::kConst ||
                       op.code == OpCode::kDot || op.code == OpCode::kWeightedSum ||
                       op.code == OpCode::kRowScale;
    if (!known) {
      return SimtRefuses(kernel_,
                         fmt::format("a score has no place for {}", ir::RowOf(op.code).mnemonic));
    }
    if ((per_head || op.code == OpCode::kWeightedSum) && latest > Phase::kPerHead) {
      return SimtRefuses(kernel_,
                         fmt::format("{} of heads needs a sum over all heads first; the heads are "
                                     "passed only once",
                                     ir::RowOf(op.code).mnemonic));
    }
    const Phase own = op.code == OpCode::kWeightedSum ? Phase::kSum
                      : per_head                      ? Phase::kPerHead
                      : latest == Phase::kBefore      ? Phase::kBefore
                                                      : Phase::kAfter;
    for (const ValueId id : op.results) phases_[static_cast<std::size_t>(id)] = own;
    return {};
  }

  // The row's valid columns: [begin, end).
  std::pair<ValueId, ValueId> Bounds(ValueId row) {
    if (kernel_.kind == ir::KernelKind::kLogitsPaged) {
      return {b_.I64(0), MinSigned(b_, VisibleColumns(b_, p_, row), p_["width"])};
    }
    const ValueId begin = MaxSigned(b_, LoadIndex(b_, p_["starts"], row), b_.I64(0));
    const ValueId end = MinSigned(b_, LoadIndex(b_, p_["ends"], row), p_["keys"]);
    return {begin, MinSigned(b_, end, p_["width"])};
  }

  // The key of a valid column, and whether there is one: a page that is none of the pool's has
  // none.
  ValueId FindKey(ValueId row, ValueId column, ValueId in_bounds, KeyPlace& key) {
    if (kernel_.kind == ir::KernelKind::kLogitsRagged) {
      key = {p_["k_values"], b_.MulConst(column, format_.ValueBytes(dim_)), p_["k_scales"],
             b_.MulConst(column, format_.ScaleBytes(dim_))};
      return in_bounds;
    }
    const ir::Layout& layout = module_.layouts[static_cast<std::size_t>(kernel_.layout)];
    const ValueId request = b_.Binary(OpCode::kUdiv, row, p_["next_n"]);
    const ValueId block = b_.UdivConst(column, layout.tokens);
    const ValueId in_page = b_.UremConst(column, layout.tokens);
    const ValueId has_entry = b_.And(in_bounds, b_.Compare(OpCode::kLt, block, p_["table_width"]));
    const ValueId page = b_.If(
        has_entry, {kI64},
        [&] {
          const ValueId at = b_.Add(b_.Mul(request, p_["table_stride"]), block);
          return Builder::Values{LoadIndex(b_, p_["block_table"], at)};
        },
        [&] { return Builder::Values{b_.I64(-1)}; })[0];
    const ValueId base = b_.Mul(page, p_["page_stride"]);
    const auto at = [&](int stride, int offset) {
      return b_.Add(base, b_.AddConst(b_.MulConst(in_page, stride), offset));
    };
    key = {p_["pool"], at(layout.ValueStride(format_, dim_), 0), p_["pool"],
           at(layout.ScaleStride(format_, dim_), layout.ScaleBase(format_, dim_))};
    return b_.Compare(OpCode::kLtU, page, p_["page_count"]);
  }

  // Whether the thread's column has a logit, and the logit.
  Builder::Values EmitScores(ValueId row, ValueId column, ValueId in_bounds) {
    KeyPlace key{};
    const ValueId is_valid = FindKey(row, column, in_bounds, key);
    for (const Op& op : kernel_.body.ops) {
      if (op.code != OpCode::kYield && PhaseOf(op.results[0]) == Phase::kBefore) {
        EmitScalar(op, key, is_valid);
      }
    }
    std::vector<const Op*> sums;
    for (const Op& op : kernel_.body.ops) {
      if (op.code == OpCode::kWeightedSum) sums.push_back(&op);
    }
    const Builder::Values initial(sums.size() * kPartialSums, b_.F32(0));
    const Builder::Values partial = b_.For(
        b_.I64(0), b_.I64(heads_), b_.I64(kHeadsAtOnce), initial,
        [&](ValueId head, const Builder::Values& carried) {
          b_.Barrier();
          ShareQueries(row, head);
          b_.Barrier();
          return b_.If(
              is_valid, std::vector<ir::Type>(carried.size(), kF32),
              [&] { return EmitHeads(row, head, key, sums, carried); }, [&] { return carried; });
        });
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const ValueId* s = &partial[i * kPartialSums];
      const ValueId first = b_.Add(s[0], s[1]);
      Scalar(sums[i]->results[0]) = b_.Add(first, b_.Add(s[2], s[3]));
    }
    for (const Op& op : kernel_.body.ops) {
      if (op.code != OpCode::kYield && PhaseOf(op.results[0]) == Phase::kAfter) {
        EmitScalar(op, key, is_valid);
      }
    }
    return {is_valid, Scalar(kernel_.body.ops.back().operands[0])};
  }

  void EmitScalar(const Op& op, const KeyPlace& key, ValueId is_valid) {
    ValueId& result = Scalar(op.results[0]);
    if (op.code == OpCode::kConst) {
      result = b_.F32(FloatFromBits(static_cast<std::uint32_t>(op.constant)));
    } else if (op.code == OpCode::kRowScale) {
      result = EmitRowScale(key, is_valid);
    } else {
      std::vector<ValueId> operands;
      for (const ValueId id : op.operands) operands.push_back(Scalar(id));
      result = EmitElementwise(b_, op, operands);
    }
  }

  ValueId EmitRowScale(const KeyPlace& key, ValueId is_valid) {
    if (!format_.row_scale) return b_.F32(1.0f);
    return b_.If(
        is_valid, {kF32},
        [&] {
          return Builder::Values{b_.Load(
              Memory::kF32, key.scales, b_.AddConst(key.scales_at, format_.BlockScaleBytes(dim_)))};
        },
        [&] { return Builder::Values{b_.F32(1.0f)}; })[0];
  }

  int ElementsPerWord() const { return 32 / format_.element.Bits(); }

  // All elements of a word of codes, in the order of the row.
  std::vector<ValueId> DecodeWord(ValueId word) {
    const int bits = format_.element.Bits();
    std::vector<ValueId> elements;
    for (int shift = 0; shift < 32; shift += 2 * bits) {
      const ValueId pair = shift == 0 ? word : b_.ShrConst(word, shift);
      for (const ValueId element : EmitDecodePair(b_, module_, query_.format, pair)) {
        elements.push_back(element);
      }
    }
    return elements;
  }

  // Every thread's part of decoding eight query rows into shared memory: elements, then scales.
  void ShareQueries(ValueId row, ValueId head) {
    const ValueId query = b_.Add(b_.MulConst(row, heads_), head);
    const ValueId values_at = b_.MulConst(query, format_.ValueBytes(dim_));
    const ValueId thread = b_.ThreadId();
    // The rows follow one another in memory as in shared memory.
    const int words = kHeadsAtOnce * format_.ValueBytes(dim_) / 4;
    b_.For(thread, b_.I32(words), b_.I32(kKeysPerBlock), {},
           [&](ValueId i, const Builder::Values&) {
             const ValueId word = b_.Load(Memory::kI32, p_["q_values"],
                                          b_.Add(values_at, b_.WidenU(b_.ShlConst(i, 2))));
             const ValueId at = b_.MulConst(i, 4 * ElementsPerWord());
             std::int64_t offset = 0;
             for (const ValueId element : DecodeWord(word)) {
               b_.StoreShared(Memory::kF32, b_.AddConst(at, offset), element);
               offset += 4;
             }
             return Builder::Values{};
           });
    if (format_.block_scale) ShareScales(query, thread);
  }

  void ShareScales(ValueId query, ValueId thread) {
    const int blocks = format_.Blocks(dim_);
    const int stride = format_.BlockScaleBytes(dim_);
    const ValueId scales_at = b_.MulConst(query, stride);
    b_.For(thread, b_.I32(kHeadsAtOnce * blocks), b_.I32(kKeysPerBlock), {},
           [&](ValueId i, const Builder::Values&) {
             const ValueId head = b_.UdivConst(i, blocks);
             const ValueId block = b_.UremConst(i, blocks);
             const ValueId offset = b_.WidenU(b_.Add(b_.MulConst(head, stride), block));
             const ValueId code = b_.Load(Memory::kU8, p_["q_scales"], b_.Add(scales_at, offset));
             const ValueId at = b_.AddConst(b_.ShlConst(i, 2), ScalesInShared());
             // UE8M0 stays a code, so that two of them can be added before they become a number.
             if (HasUe8m0()) {
               b_.StoreShared(Memory::kI32, at, code);
             } else {
               b_.StoreShared(Memory::kF32, at, EmitDecodeScale(b_, query_.format, code));
             }
             return Builder::Values{};
           });
  }

  // The next partial sums of every weighted sum, after eight more heads.
  Builder::Values EmitHeads(ValueId row, ValueId head, const KeyPlace& key,
                            const std::vector<const Op*>& sums, const Builder::Values& carried) {
    std::vector<Builder::Values> vectors(kernel_.values.size());
    const auto at = [&](ValueId id, int j) {
      const auto& vector = vectors[static_cast<std::size_t>(id)];
      return vector.empty() ? Scalar(id) : vector[static_cast<std::size_t>(j)];
    };
    const ValueId weights = kernel_.body.arguments[2];
    vectors[static_cast<std::size_t>(weights)] = LoadWeights(row, head);
    for (const Op& op : kernel_.body.ops) {
      if (op.code == OpCode::kYield || PhaseOf(op.results[0]) != Phase::kPerHead) continue;
      Builder::Values& result = vectors[static_cast<std::size_t>(op.results[0])];
      if (op.code == OpCode::kDot) {
        result = EmitDot(key);
        continue;
      }
      for (int j = 0; j < kHeadsAtOnce; ++j) {
        std::vector<ValueId> operands;
        for (const ValueId id : op.operands) operands.push_back(at(id, j));
        result.push_back(EmitElementwise(b_, op, operands));
      }
    }
    Builder::Values next = carried;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      for (int j = 0; j < kHeadsAtOnce; ++j) {
        ValueId& sum = next[i * kPartialSums + static_cast<std::size_t>((j >> 1) & 3)];
        sum = b_.Fma(at(sums[i]->operands[0], j), at(sums[i]->operands[1], j), sum);
      }
    }
    return next;
  }

  Builder::Values LoadWeights(ValueId row, ValueId head) {
    const ValueId at = b_.ShlConst(b_.Add(b_.Mul(row, p_["weight_stride"]), head), 2);
    Builder::Values weights;
    for (int j = 0; j < kHeadsAtOnce; ++j) {
      weights.push_back(b_.Load(Memory::kF32, p_["weights"], b_.AddConst(at, 4 * j)));
    }
    return weights;
  }

  // x of eight heads: blocks in order, each a chain of fma over its elements in order.
  Builder::Values EmitDot(const KeyPlace& key) {
    const int blocks = format_.Blocks(dim_);
    if (blocks == 1) return EmitBlock(key, b_.I32(0));
    // -0 is what may be added to any first term without changing it.
    const Builder::Values initial(kHeadsAtOnce, b_.F32(-0.0f));
    return b_.For(
        b_.I32(0), b_.I32(blocks), b_.I32(1), initial,
        [&](ValueId block, const Builder::Values& x) {
          const Builder::Values terms = EmitBlock(key, block);
          Builder::Values next;
          for (std::size_t j = 0; j < x.size(); ++j) {
            next.push_back(b_.Add(x[j], terms[j]));
          }
          return next;
        },
        /*unroll=*/1);  // unrolled, it takes ptxas four times as long and runs no faster
  }

  // One block's terms: its dot products with the block scales applied.
  Builder::Values EmitBlock(const KeyPlace& key, ValueId block) {
    const int size = format_.BlockSize(dim_);
    const int words = size / ElementsPerWord();
    const ValueId first_word = b_.MulConst(block, words);
    const Builder::Values zeros(kHeadsAtOnce, b_.F32(0));
    const Builder::Values dots = b_.For(
        b_.I32(0), b_.I32(words), b_.I32(1), zeros, [&](ValueId w, const Builder::Values& d) {
          const ValueId word_index = b_.Add(first_word, w);
          const ValueId word =
              b_.Load(Memory::kI32, key.values,
                      b_.Add(key.values_at, b_.WidenU(b_.ShlConst(word_index, 2))));
          const ValueId shared_at = b_.MulConst(word_index, 4 * ElementsPerWord());
          Builder::Values next = d;
          std::int64_t offset = 0;
          for (const ValueId k : DecodeWord(word)) {
            for (int j = 0; j < kHeadsAtOnce; ++j) {
              const ValueId q =
                  b_.LoadShared(Memory::kF32, b_.AddConst(shared_at, 4 * j * dim_ + offset));
              auto& sum = next[static_cast<std::size_t>(j)];
              sum = b_.Fma(q, k, sum);
            }
            offset += 4;
          }
          return next;
        });
    return format_.block_scale ? ScaleTerms(key, block, dots) : dots;
  }

  Builder::Values ScaleTerms(const KeyPlace& key, ValueId block, const Builder::Values& dots) {
    const ValueId k_code =
        b_.Load(Memory::kU8, key.scales, b_.Add(key.scales_at, b_.WidenU(block)));
    const ValueId k_scale = HasUe8m0() ? k_code : EmitDecodeScale(b_, query_.format, k_code);
    Builder::Values terms;
    for (int j = 0; j < kHeadsAtOnce; ++j) {
      const int head_at = ScalesInShared() + 4 * j * format_.Blocks(dim_);
      const ValueId at = b_.AddConst(b_.ShlConst(block, 2), head_at);
      const ValueId dot = dots[static_cast<std::size_t>(j)];
      if (HasUe8m0()) {
        terms.push_back(ScaleByPowers(dot, b_.LoadShared(Memory::kI32, at), k_scale));
      } else {
        terms.push_back(b_.Mul(dot, b_.Mul(b_.LoadShared(Memory::kF32, at), k_scale)));
      }
    }
    return terms;
  }

  // Whether dot * 2^h, for any h that is about half of an exponent, is exact or so small that the
  // other half makes it 0: products of elements are not below 2^-99.
  bool HalvesAreExact() const {
    return 2 * (format_.element.bias + format_.element.mantissa - 1) < 99;
  }

  // Codes of two powers of two whose product is 2^(sum - 254), so that dot times the first is
  // exact, or the term is 0 or infinity.
  std::pair<ValueId, ValueId> SplitPower(ValueId sum) {
    if (HalvesAreExact()) {
      const ValueId half = b_.ShrConst(sum, 1);
      return {half, b_.Sub(sum, half)};
    }
    const ValueId above = b_.AddConst(b_.Binary(OpCode::kMaxU, sum, b_.I32(127)), -127);
    const ValueId second = b_.Binary(OpCode::kMinU, above, b_.I32(254));
    return {b_.Sub(sum, second), second};
  }

  // dot * 2^(q + k - 254), rounded once. Code 255 is NaN.
  ValueId ScaleByPowers(ValueId dot, ValueId q_code, ValueId k_code) {
    const auto [first, second] = SplitPower(b_.Add(q_code, k_code));
    const ValueId halfway = b_.Mul(dot, EmitDecodeScale(b_, query_.format, first));
    const ValueId term = b_.Mul(halfway, EmitDecodeScale(b_, query_.format, second));
    const ValueId is_nan =
        b_.Compare(OpCode::kEq, b_.Binary(OpCode::kMaxU, q_code, k_code), b_.I32(255));
    return b_.Select(is_nan, b_.F32(FloatFromBits(0x7fc00000u)), term);
  }

  // The logit; -inf outside of the valid columns unless the tail is kept.
  void EmitStore(ValueId row, ValueId column, ValueId is_valid, ValueId logit) {
    const ValueId fills = b_.Compare(OpCode::kEq, p_["keep_tail"], b_.I64(0));
    const ValueId in_width = b_.Compare(OpCode::kLt, column, p_["width"]);
    const ValueId at = b_.ShlConst(b_.Add(b_.Mul(row, p_["out_stride"]), column), 2);
    const ValueId value = b_.Select(is_valid, logit, b_.F32(-__builtin_inff()));
    b_.If(b_.And(in_width, b_.Or(is_valid, fills)),
          [&] { b_.Store(Memory::kF32, p_["out"], at, value); });
  }

  Builder& b_;
  const ir::Module& module_;
  const ir::Kernel& kernel_;
  const EntryParameters& p_;
  const ir::Type query_;
  const ir::Format& format_;
  const int dim_;
  const int heads_;
  std::vector<Phase> phases_;
  std::vector<ValueId> scalars_;
};

}  // namespace

Status LowerLogits(const ir::Module& module, const ir::Kernel& kernel, ir::Kernel& entry) {
  entry.threads = kKeysPerBlock;
  entry.tile_rows = 1;
  entry.tile_columns = kKeysPerBlock;
  Builder b(entry);
  const EntryParameters p(b, kernel.kind);
  LogitsEmitter emitter(b, module, kernel, p);
  LIJIT_TRY(emitter.Analyse());
  entry.shared_bytes = emitter.SharedBytes();
  const bool paged = kernel.kind == ir::KernelKind::kLogitsPaged;
  const ValueId rows = paged ? b.Mul(p["batch"], p["next_n"]) : p["rows"];
  const ValueId tiles_a_row = b.UdivConst(b.AddConst(p["width"], kKeysPerBlock - 1), kKeysPerBlock);
  ForEachTile(b, b.Mul(rows, tiles_a_row), [&](ValueId tile) {
    const ValueId row = b.Binary(OpCode::kUdiv, tile, tiles_a_row);
    const ValueId in_row = b.Sub(tile, b.Mul(row, tiles_a_row));
    emitter.EmitTile(row, b.MulConst(in_row, kKeysPerBlock));
  });
  b.Yield({});
  b.Finish();
  return {};
}

}  // namespace lijit::lower
