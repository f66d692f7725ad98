// SPDX-License-Identifier: Apache-2.0
// The reference evaluator: runs a kernel of each kind on plain arrays. It says which bits are
// right, for tests, `lijit bench` and `lijit eval`; it is written from the meaning of the ops
// (ops.def, format.def, docs/numerics.md) and shares no method with lowering or the backends.
//
// Module and kernel must be sound (verifier.h), the kernel of the kind that the function is named
// for, and every span as large as its comment says: LIJIT_CHECK otherwise. Indices that an engine
// could get wrong (slots, page ids, lengths, bounds) may have any value. NaN in an f32 result is
// 0x7fffffff, whatever its bits were.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/module.h"

namespace lijit::ir {

// Rows in the order of their numbers, without gaps.
struct EvaluatedRows {
  std::vector<std::uint8_t> values;  // Format::ValueBytes a row
  std::vector<std::uint8_t> scales;  // query rows: BlockScaleBytes a row, as their row scale goes
                                     // into the weight; gathered keys: ScaleBytes a row
};

struct EvaluatedQuery {
  EvaluatedRows rows;          // [T, H]
  std::vector<float> weights;  // [T, H]
};

// The rope table and each token's row of it. Empty where the kernel takes no table.
struct RopeTable {
  std::span<const float> cos_sin;           // [P, R]: R/2 cosines, then R/2 sines
  std::span<const std::int64_t> positions;  // [T], each from 0 to P - 1
};

// The pages of a cache, `stride` bytes from one to the next.
template <typename Byte>
struct PagesOf {
  std::span<Byte> bytes;
  std::int64_t stride = 0;
  std::int64_t count = 0;
};
using Pages = PagesOf<std::uint8_t>;
using ConstPages = PagesOf<const std::uint8_t>;

// Page ids; row b starts at entries[b * stride] and has `width` of them.
struct BlockTable {
  std::span<const std::int32_t> entries;
  std::int64_t stride = 0;
  std::int64_t width = 0;
};

// x [T, H, D] and w [T, H]: numbers of the kernel's input types, as f32.
EvaluatedQuery EvaluateQuantizeQuery(const Module& module, const Kernel& kernel, int heads,
                                     std::span<const float> x, std::span<const float> w,
                                     const RopeTable& rope = {});

// x [T, D]; slots [T]: page * tokens + token. A slot that is negative or beyond the last page is
// skipped.
void EvaluateWriteCache(const Module& module, const Kernel& kernel, std::span<const float> x,
                        std::span<const std::int64_t> slots, const Pages& pages,
                        const RopeTable& rope = {});

// Rows cu_seq_lens[b] to cu_seq_lens[b + 1] come from row b of the block table. A row whose table
// column or page does not exist is zero bytes.
EvaluatedRows EvaluateGatherCache(const Module& module, const Kernel& kernel,
                                  const ConstPages& pages, const BlockTable& block_table,
                                  std::span<const std::int32_t> cu_seq_lens);

struct RowsView {
  std::span<const std::uint8_t> values;
  std::span<const std::uint8_t> scales;
};

// q: rows [T, H] as EvaluateQuantizeQuery gives them; k: rows [N] as EvaluateGatherCache does;
// w [T, H]; starts and ends [T]. The result is [T, width]: -inf but for
// max(start, 0) <= n < min(end, N, width).
std::vector<float> EvaluateLogitsRagged(const Module& module, const Kernel& kernel, RowsView q,
                                        RowsView k, std::span<const float> w,
                                        std::span<const std::int32_t> starts,
                                        std::span<const std::int32_t> ends, std::int64_t width);

// q: rows [B * next_n, H]; w [B * next_n, H]; visible [B * next_n]: how many keys each query row
// sees. The result is [B * next_n, width]: -inf from the visible keys on, and where a key's table
// column or page does not exist.
std::vector<float> EvaluateLogitsPaged(const Module& module, const Kernel& kernel, RowsView q,
                                       int next_n, const ConstPages& pages,
                                       const BlockTable& block_table, std::span<const float> w,
                                       std::span<const std::int64_t> visible, std::int64_t width);

// How many keys query row j of next_n sees in a sequence of `length` tokens of which the cache
// keeps one in `ratio`.
std::int64_t VisibleKeys(std::int64_t length, int next_n, int j, int ratio);

struct LogitsView {
  std::span<const float> numbers;
  std::int64_t stride = 0;   // numbers from one row to the next
  std::int64_t columns = 0;  // of a row
};

// [rows, k]: for each row the k columns of max(start, 0) <= n < min(end, columns) with the largest
// numbers, in ascending order and relative to start; -1 behind them if there are fewer. NaN is less
// than every number and -0 less than +0; among equals the lowest columns are taken.
std::vector<std::int32_t> EvaluateTopK(const Module& module, const Kernel& kernel,
                                       const LogitsView& logits,
                                       std::span<const std::int32_t> starts,
                                       std::span<const std::int32_t> ends, int k);

}  // namespace lijit::ir
