// SPDX-License-Identifier: Apache-2.0
// gather_cache: a warp a row, copied word by word.
#include <algorithm>

#include "compiler/lower/simt.h"

namespace lijit::lower {
namespace {

using ir::Builder;
using ir::Memory;
using ir::OpCode;

constexpr int kGatherThreads = 128;
constexpr int kRowsPerBlock = kGatherThreads / kWarp;
constexpr int kSearchSteps = 32;  // enough for any batch of int32

// The request whose rows hold `row`: the last one with starts[request] <= row.
ValueId FindRequest(Builder& b, const EntryParameters& p, ValueId row) {
  const Builder::Values bounds = b.For(
      b.I32(0), b.I32(kSearchSteps), b.I32(1), {b.I64(0), p["batch"]},
      [&](ValueId, const Builder::Values& range) {
        const ValueId middle = b.ShrConst(b.Add(range[0], range[1]), 1);
        const ValueId is_open = b.Compare(OpCode::kLt, b.AddConst(range[0], 1), range[1]);
        const ValueId start = LoadIndex(b, p["starts"], middle);
        const ValueId right = b.Compare(OpCode::kLe, start, row);
        const ValueId low = b.Select(right, middle, range[0]);
        const ValueId high = b.Select(right, range[1], middle);
        return Builder::Values{b.Select(is_open, low, range[0]), b.Select(is_open, high, range[1])};
      });
  return bounds[0];
}

// Copies `bytes` from the pool to out; zeros if the page is none of the pool's.
struct Copy {
  ValueId out, out_at, pool_at;
  int bytes;
};

void CopyWords(Builder& b, const EntryParameters& p, ValueId lane, ValueId is_valid,
               const Copy& copy) {
  for (int first = 0; first < copy.bytes / 4; first += kWarp) {
    const int count = std::min(kWarp, copy.bytes / 4 - first);
    const ValueId offset = b.WidenU(b.ShlConst(b.AddConst(lane, first), 2));
    b.If(b.Compare(OpCode::kLt, lane, b.I32(count)), [&] {
      const ValueId word = b.If(
          is_valid, {kI32},
          [&] {
            return Builder::Values{b.Load(Memory::kI32, p["pool"], b.Add(copy.pool_at, offset))};
          },
          [&] { return Builder::Values{b.I32(0)}; })[0];
      b.Store(Memory::kI32, copy.out, b.Add(copy.out_at, offset), word);
    });
  }
}

void GatherRow(Builder& b, const ir::Module& module, const ir::Kernel& kernel,
               const EntryParameters& p, ValueId lane, ValueId row) {
  const ir::Layout& layout = module.layouts[static_cast<std::size_t>(kernel.layout)];
  const ir::Type& type = kernel.results[0];
  const ir::Format& format = module.FormatOf(type.format);
  const ValueId request = FindRequest(b, p, row);
  const ValueId token = b.Sub(row, LoadIndex(b, p["starts"], request));
  const ValueId column = b.UdivConst(token, layout.tokens);
  const ValueId in_page = b.UremConst(token, layout.tokens);
  const ValueId page = b.If(
      b.Compare(OpCode::kLtU, column, p["table_width"]), {kI64},
      [&] {
        const ValueId at = b.Add(b.Mul(request, p["table_stride"]), column);
        return Builder::Values{LoadIndex(b, p["block_table"], at)};
      },
      [&] { return Builder::Values{b.I64(-1)}; })[0];
  const ValueId is_valid = b.Compare(OpCode::kLtU, page, p["page_count"]);
  const ValueId base = b.Mul(page, p["page_stride"]);
  const auto at = [&](int stride, int offset) {
    return b.Add(base, b.AddConst(b.MulConst(in_page, stride), offset));
  };
  const int dim = type.dim;
  CopyWords(b, p, lane, is_valid,
            {p["values"], b.MulConst(row, format.ValueBytes(dim)),
             at(layout.ValueStride(format, dim), 0), format.ValueBytes(dim)});
  CopyWords(
      b, p, lane, is_valid,
      {p["scales"], b.MulConst(row, format.ScaleBytes(dim)),
       at(layout.ScaleStride(format, dim), layout.ScaleBase(format, dim)), format.ScaleBytes(dim)});
}

}  // namespace

Status LowerGather(const ir::Module& module, const ir::Kernel& kernel, ir::Kernel& entry) {
  if (kernel.body.ops.back().operands != kernel.body.arguments) {
    return SimtRefuses(kernel, "a gather hands out the row that it was given");
  }
  entry.threads = kGatherThreads;
  entry.tile_rows = kRowsPerBlock;
  entry.tile_columns = 1;
  Builder b(entry);
  const EntryParameters p(b, kernel.kind);
  const ValueId thread = b.ThreadId();
  const ValueId lane = b.AndConst(thread, kWarp - 1);
  const ValueId warp = b.WidenU(b.UdivConst(thread, kWarp));
  // Rows that the requests have, and that the outputs hold.
  const ValueId total = MinSigned(b, LoadIndex(b, p["starts"], p["batch"]), p["rows"]);
  const ValueId tiles =
      b.UdivConst(b.AddConst(MaxSigned(b, total, b.I64(0)), kRowsPerBlock - 1), kRowsPerBlock);
  ForEachTile(b, tiles, [&](ValueId tile) {
    const ValueId row = b.Add(b.MulConst(tile, kRowsPerBlock), warp);
    b.If(b.Compare(OpCode::kLt, row, total), [&] { GatherRow(b, module, kernel, p, lane, row); });
  });
  b.Yield({});
  b.Finish();
  return {};
}

}  // namespace lijit::lower
