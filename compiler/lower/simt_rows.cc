// SPDX-License-Identifier: Apache-2.0
// quantize_query and write_cache: a warp a row.
#include <fmt/format.h>

#include <optional>

#include "compiler/lower/simt.h"
#include "compiler/lower/spread_row.h"
#include "compiler/support/float_text.h"

namespace lijit::lower {
namespace {

using ir::Builder;
using ir::Memory;
using ir::Op;
using ir::OpCode;

constexpr int kRowThreads = 128;
constexpr int kRowsPerBlock = kRowThreads / kWarp;

// Where the row's inputs lie, as pointer and byte offset.
struct RowInputs {
  ValueId x, x_at;
  ValueId w = -1, w_at = -1;
  ValueId table = -1, table_at = -1;
};

// One value of the kernel's body: a spread vector, a scalar (in every lane), or a stored row.
struct RowValue {
  LaneElements elements;
  std::optional<SpreadCodes> codes;
};

class RowBody {
 public:
  RowBody(Builder& b, const ir::Module& module, const ir::Kernel& kernel, const Spread& spread,
          const RowInputs& inputs)
      : b_(b),
        module_(module),
        kernel_(kernel),
        spread_(spread),
        inputs_(inputs),
        values_(kernel.values.size()) {}

  // Emits the body's ops; the yielded values are then those of Yielded().
  Status Emit() {
    LoadInputs();
    for (const Op& op : kernel_.body.ops) {
      if (op.code == OpCode::kYield) break;
      LIJIT_TRY(EmitOp(op));
    }
    return {};
  }

  const RowValue& Yielded(std::size_t index) const {
    return At(kernel_.body.ops.back().operands[index]);
  }

 private:
  RowValue& At(ValueId id) { return values_[static_cast<std::size_t>(id)]; }
  const RowValue& At(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }

  // Idle lanes hold zeros, which no maximum or sum notices.
  void LoadInputs() {
    const ValueId x = kernel_.body.arguments[0];
    const ir::Scalar type = kernel_.TypeOf(x).scalar;
    const int bytes = ir::ScalarBytes(type);
    const Memory memory = type == ir::Scalar::kF32 ? Memory::kF32 : Memory::kU16;
    const ir::Type held = type == ir::Scalar::kF32 ? kF32 : kI32;
    const auto load = [&] {
      const ValueId at =
          b_.Add(inputs_.x_at,
                 b_.WidenU(b_.MulConst(spread_.lane, std::int64_t{spread_.per_lane} * bytes)));
      Builder::Values loaded;
      for (int i = 0; i < spread_.per_lane; ++i) {
        loaded.push_back(b_.Load(memory, inputs_.x, b_.AddConst(at, std::int64_t{i} * bytes)));
      }
      return loaded;
    };
    if (spread_.lanes == kWarp) {
      At(x).elements = load();
    } else {
      const auto count = static_cast<std::size_t>(spread_.per_lane);
      At(x).elements = b_.If(b_.Compare(OpCode::kLt, spread_.lane, b_.I32(spread_.lanes)),
                             std::vector<ir::Type>(count, held), load, [&] {
                               const ValueId zero = held == kF32 ? b_.F32(0) : b_.I32(0);
                               return Builder::Values(count, zero);
                             });
    }
    if (inputs_.w < 0) return;
    const ValueId w = kernel_.body.arguments[1];
    const bool wide = kernel_.TypeOf(w).scalar == ir::Scalar::kF32;
    At(w).elements = {b_.Load(wide ? Memory::kF32 : Memory::kU16, inputs_.w, inputs_.w_at)};
  }

  ValueId Extend(ir::Scalar from, ValueId raw) {
    if (from == ir::Scalar::kF32) return raw;
    if (from == ir::Scalar::kBf16) return b_.Bitcast(b_.ShlConst(raw, 16));
    return b_.Emit1(OpCode::kF16ToF32, {raw}, kF32);
  }

  // The rope table stays in memory: each lane reads the angles of its elements.
  bool IsTable(ValueId id) const {
    return inputs_.table >= 0 && id == kernel_.body.arguments.back();
  }

  Status EmitOp(const Op& op) {
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (IsTable(op.operands[i]) && (op.code != OpCode::kRope || i == 0)) {
        return SimtRefuses(kernel_, "only rope reads the table, as its second operand");
      }
    }
    if (IsElementwise(op.code)) return EmitElements(op);
    RowValue& result = At(op.results[0]);
    switch (op.code) {
      case OpCode::kConst:
        result.elements = {b_.F32(FloatFromBits(static_cast<std::uint32_t>(op.constant)))};
        return {};
      case OpCode::kExtend:
        for (const ValueId raw : At(op.operands[0]).elements) {
          result.elements.push_back(Extend(kernel_.TypeOf(op.operands[0]).scalar, raw));
        }
        return {};
      case OpCode::kRope:
        return EmitRope(op);
      case OpCode::kHadamard:
        result.elements = HadamardSpread(b_, spread_, At(op.operands[0]).elements);
        return {};
      case OpCode::kEncode:
        result.codes = EncodeSpread(b_, module_, spread_, kernel_.TypeOf(op.results[0]).format,
                                    At(op.operands[0]).elements);
        At(op.results[1]).elements = {result.codes->row_scale};
        return {};
      default:
        return SimtRefuses(
            kernel_, fmt::format("a row's body has no place for {}", ir::RowOf(op.code).mnemonic));
    }
  }

  Status EmitElements(const Op& op) {
    std::size_t count = 1;
    for (const ValueId id : op.operands) count = std::max(count, At(id).elements.size());
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<ValueId> operands;
      for (const ValueId id : op.operands) {
        const LaneElements& elements = At(id).elements;
        operands.push_back(elements[elements.size() == 1 ? 0 : i]);
      }
      At(op.results[0]).elements.push_back(EmitElementwise(b_, op, operands));
    }
    return {};
  }

  Status EmitRope(const Op& op) {
    const int rotary_dim = kernel_.TypeOf(op.operands[1]).dim;
    const auto style = static_cast<ir::RopeStyle>(op.Get(ir::AttributeKey::kStyle));
    const auto place = static_cast<ir::RopePlace>(op.Get(ir::AttributeKey::kPlace));
    if (!IsTable(op.operands[1])) {
      return SimtRefuses(kernel_, "rope takes its table from the kernel's last parameter");
    }
    if (std::string problem = RopeProblem(spread_.dim, rotary_dim, place); !problem.empty()) {
      return SimtRefuses(kernel_, std::move(problem));
    }
    At(op.results[0]).elements = RopeSpread(b_, spread_, At(op.operands[0]).elements, rotary_dim,
                                            style, place, inputs_.table, inputs_.table_at);
    return {};
  }

  Builder& b_;
  const ir::Module& module_;
  const ir::Kernel& kernel_;
  const Spread& spread_;
  const RowInputs& inputs_;
  std::vector<RowValue> values_;
};

// Runs `then` with the table's row for `token`, if the position is one of the table's.
void IfPositionHolds(Builder& b, const EntryParameters& p, bool rotates, ValueId token,
                     RowInputs& inputs, const std::function<void()>& then) {
  if (!rotates) return then();
  const ValueId position = b.Load(Memory::kI64, p["positions"], b.ShlConst(token, 3));
  b.If(b.Compare(OpCode::kLtU, position, p["table_rows"]), [&] {
    inputs.table = p["table"];
    inputs.table_at = b.ShlConst(b.Mul(position, p["table_stride"]), 2);
    then();
  });
}

struct RowEmitter {
  Builder& b;
  const ir::Module& module;
  const ir::Kernel& kernel;
  const EntryParameters& p;
  Spread spread;
  Status status;  // of the body, which is emitted inside of the loop

  bool Rotates() const {
    return kernel.body.arguments.size() > (kernel.kind == ir::KernelKind::kQuantizeQuery ? 2 : 1);
  }
  const ir::Format& format() const { return module.FormatOf(kernel.results[0].format); }
  ValueId Scaled(ValueId elements, ir::Scalar type) {
    return b.MulConst(elements, ir::ScalarBytes(type));
  }

  void QuantizeRow(ValueId row) {
    const ValueId token = b.Binary(OpCode::kUdiv, row, p["heads"]);
    const ValueId head = b.Sub(row, b.Mul(token, p["heads"]));
    const ir::Scalar x_type = kernel.TypeOf(kernel.body.arguments[0]).scalar;
    const ir::Scalar w_type = kernel.TypeOf(kernel.body.arguments[1]).scalar;
    RowInputs inputs;
    inputs.x = p["x"];
    const ValueId token_at = b.Mul(token, p["x_token_stride"]);
    inputs.x_at = Scaled(b.Add(token_at, b.Mul(head, p["x_head_stride"])), x_type);
    inputs.w = p["w"];
    inputs.w_at = Scaled(b.Add(b.Mul(token, p["w_token_stride"]), head), w_type);
    IfPositionHolds(b, p, Rotates(), token, inputs, [&] {
      RowBody body(b, module, kernel, spread, inputs);
      status = body.Emit();
      if (!status.ok()) return;
      const int dim = spread.dim;
      StoreSpread(b, module, spread, *body.Yielded(0).codes,
                  {p["values"], b.MulConst(row, format().ValueBytes(dim)), p["scales"],
                   b.MulConst(row, format().BlockScaleBytes(dim)), false});
      b.If(b.Compare(OpCode::kEq, spread.lane, b.I32(0)), [&] {
        b.Store(Memory::kF32, p["weights"], b.ShlConst(row, 2), body.Yielded(1).elements[0]);
      });
    });
  }

  void WriteRow(ValueId token) {
    const ir::Layout& layout = module.layouts[static_cast<std::size_t>(kernel.layout)];
    const ValueId slot = b.Load(Memory::kI64, p["slots"], b.ShlConst(token, 3));
    const ValueId page = b.UdivConst(slot, layout.tokens);
    const ValueId in_page = b.UremConst(slot, layout.tokens);
    // A negative slot is a huge unsigned one, so its page is outside of the pool too.
    b.If(b.Compare(OpCode::kLtU, page, p["page_count"]), [&] {
      const ir::Scalar x_type = kernel.TypeOf(kernel.body.arguments[0]).scalar;
      RowInputs inputs;
      inputs.x = p["x"];
      inputs.x_at = Scaled(b.Mul(token, p["x_token_stride"]), x_type);
      IfPositionHolds(b, p, Rotates(), token, inputs, [&] {
        RowBody body(b, module, kernel, spread, inputs);
        status = body.Emit();
        if (!status.ok()) return;
        const int dim = spread.dim;
        const ValueId base = b.Mul(page, p["page_stride"]);
        const auto at = [&](int stride, int offset) {
          return b.Add(base, b.AddConst(b.MulConst(in_page, stride), offset));
        };
        StoreSpread(b, module, spread, *body.Yielded(0).codes,
                    {p["pool"], at(layout.ValueStride(format(), dim), 0), p["pool"],
                     at(layout.ScaleStride(format(), dim), layout.ScaleBase(format(), dim)), true});
      });
    });
  }
};

}  // namespace

Status LowerRows(const ir::Module& module, const ir::Kernel& kernel, ir::Kernel& entry) {
  entry.threads = kRowThreads;
  entry.tile_rows = kRowsPerBlock;
  entry.tile_columns = 1;
  Builder b(entry);
  const EntryParameters p(b, kernel.kind);
  const bool quantizes = kernel.kind == ir::KernelKind::kQuantizeQuery;
  const ValueId thread = b.ThreadId();
  const ValueId lane = b.AndConst(thread, kWarp - 1);
  const ValueId warp = b.WidenU(b.UdivConst(thread, kWarp));
  RowEmitter emitter{
      b, module, kernel, p, Spread::Of(kernel.TypeOf(kernel.body.arguments[0]).dim, lane), {}};
  const ValueId rows = quantizes ? b.Mul(p["tokens"], p["heads"]) : p["tokens"];
  const ValueId tiles = b.UdivConst(b.AddConst(rows, kRowsPerBlock - 1), kRowsPerBlock);
  ForEachTile(b, tiles, [&](ValueId tile) {
    const ValueId row = b.Add(b.MulConst(tile, kRowsPerBlock), warp);
    b.If(b.Compare(OpCode::kLt, row, rows),
         [&] { quantizes ? emitter.QuantizeRow(row) : emitter.WriteRow(row); });
  });
  LIJIT_TRY(emitter.status);
  b.Yield({});
  b.Finish();
  return {};
}

}  // namespace lijit::lower
