// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/simt.h"

#include <fmt/format.h>

#include "compiler/lower/lower.h"

namespace lijit::lower {

using ir::AttributeKey;
using ir::Builder;
using ir::OpCode;

EntryParameters::EntryParameters(Builder& builder, ir::KernelKind kind)
    : rows_(ParametersOf(kind)) {
  for (const ParameterRow& row : rows_) {
    ids_.push_back(builder.Parameter(std::string(row.name), ir::ScalarType(row.type)));
  }
}

ValueId EntryParameters::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (rows_[i].name == name) return ids_[i];
  }
  AbortAt(__FILE__, __LINE__, std::string(name).c_str());
}

ValueId EmitEncodeScale(Builder& b, ir::FormatId format, ValueId x) {
  return b.Emit1(OpCode::kEncodeScale, {x}, kI32, {{AttributeKey::kFormat, format}});
}

ValueId EmitDecodeScale(Builder& b, ir::FormatId format, ValueId code) {
  return b.Emit1(OpCode::kDecodeScale, {code}, kF32, {{AttributeKey::kFormat, format}});
}

ValueId EmitEncodePair(Builder& b, const ir::Module& module, ir::FormatId format, ValueId even,
                       ValueId odd) {
  if (module.FormatOf(format).element.packing == ir::Packing::kHighFirst) std::swap(even, odd);
  return b.Emit1(OpCode::kEncodePair, {even, odd}, kI32, {{AttributeKey::kFormat, format}});
}

std::vector<ValueId> EmitDecodePair(Builder& b, const ir::Module& module, ir::FormatId format,
                                    ValueId codes) {
  std::vector<ValueId> pair =
      b.Emit(OpCode::kDecodePair, {codes}, {kF32, kF32}, {{AttributeKey::kFormat, format}});
  if (module.FormatOf(format).element.packing == ir::Packing::kHighFirst) {
    std::swap(pair[0], pair[1]);
  }
  return pair;
}

void ForEachTile(Builder& b, ValueId tiles, const std::function<void(ValueId tile)>& body) {
  const ValueId first = b.Widen(b.BlockId());
  const ValueId step = b.Widen(b.BlockCount());
  b.For(first, tiles, step, {}, [&](ValueId tile, const Builder::Values&) {
    body(tile);
    return Builder::Values{};
  });
}

ValueId MinSigned(Builder& b, ValueId x, ValueId y) {
  return b.Select(b.Compare(OpCode::kLt, x, y), x, y);
}

ValueId MaxSigned(Builder& b, ValueId x, ValueId y) {
  return b.Select(b.Compare(OpCode::kLt, x, y), y, x);
}

ValueId LoadIndex(Builder& b, ValueId pointer, ValueId index) {
  return b.Widen(b.Load(ir::Memory::kI32, pointer, b.ShlConst(index, 2)));
}

ValueId VisibleColumns(Builder& b, const EntryParameters& p, ValueId row) {
  const ValueId next_n = p["next_n"];
  const ValueId request = b.Binary(OpCode::kUdiv, row, next_n);
  const ValueId j = b.Sub(row, b.Mul(request, next_n));
  const ValueId request_at = b.Mul(request, p["length_stride"]);
  const ValueId at = b.Add(request_at, b.Mul(j, p["length_row_stride"]));
  const ValueId length = LoadIndex(b, p["lengths"], at);
  const ValueId own = MaxSigned(b, length, b.I64(0));
  // Signed, so that a request shorter than next_n sees nothing in its first rows.
  const ValueId causal = b.AddConst(b.Add(b.Sub(length, next_n), j), 1);
  const ValueId shared = b.Binary(OpCode::kUdiv, MaxSigned(b, causal, b.I64(0)), p["ratio"]);
  const ValueId per_row = b.Compare(OpCode::kNe, p["length_per_row"], b.I64(0));
  return b.Select(per_row, own, shared);
}

bool IsElementwise(OpCode code) {
  switch (code) {
    case OpCode::kAdd:
    case OpCode::kSub:
    case OpCode::kMul:
    case OpCode::kDiv:
    case OpCode::kFma:
    case OpCode::kMax:
    case OpCode::kMin:
    case OpCode::kAbs:
    case OpCode::kRelu:
    case OpCode::kRound:
      return true;
    default:
      return false;
  }
}

namespace {

// Round to nearest even at bit 16; NaN becomes the quiet one.
ValueId RoundToBf16(Builder& b, ValueId x) {
  const ValueId bits = b.Bitcast(x);
  const ValueId odd = b.AndConst(b.ShrConst(bits, 16), 1);
  const ValueId rounded = b.AndConst(b.Add(b.AddConst(bits, 0x7fff), odd), 0xffff0000);
  const ValueId is_nan = b.Compare(OpCode::kNe, x, x);
  return b.Bitcast(b.Select(is_nan, b.I32(0x7fff0000), rounded));
}

ValueId RoundToF16(Builder& b, ValueId x) {
  return b.Emit1(OpCode::kF16ToF32, {b.Emit1(OpCode::kF32ToF16, {x}, kI32)}, kF32);
}

}  // namespace

ValueId EmitElementwise(Builder& b, const ir::Op& op, const std::vector<ValueId>& operands) {
  if (op.code == OpCode::kRound) {
    const bool bf16 = static_cast<ir::Half>(op.Get(AttributeKey::kTo)) == ir::Half::kBf16;
    return bf16 ? RoundToBf16(b, operands[0]) : RoundToF16(b, operands[0]);
  }
  return b.Emit1(op.code, operands, kF32);
}

ir::Kernel StartEntry(const ir::Kernel& kernel) {
  ir::Kernel entry;
  entry.name = kernel.name;
  entry.kind = kernel.kind;
  entry.layout = kernel.layout;
  entry.location = kernel.location;
  entry.is_entry = true;
  return entry;
}

Error SimtRefuses(const ir::Kernel& kernel, std::string why) {
  return Refused(fmt::format("schedule simt cannot do kernel @{}: {}", kernel.name, why));
}

Status ScheduleSimt(ir::Module& module, const target::Target&) {
  for (ir::Kernel& kernel : module.kernels) {
    if (kernel.is_entry) continue;
    ir::Kernel entry = StartEntry(kernel);
    switch (kernel.kind) {
      case ir::KernelKind::kQuantizeQuery:
      case ir::KernelKind::kWriteCache:
        LIJIT_TRY(LowerRows(module, kernel, entry));
        break;
      case ir::KernelKind::kGatherCache:
        LIJIT_TRY(LowerGather(module, kernel, entry));
        break;
      case ir::KernelKind::kLogitsRagged:
      case ir::KernelKind::kLogitsPaged:
        LIJIT_TRY(LowerLogits(module, kernel, entry));
        break;
      case ir::KernelKind::kTopK:
        LIJIT_TRY(LowerTopK(module, kernel, entry));
        break;
    }
    kernel = std::move(entry);
  }
  return {};
}

}  // namespace lijit::lower
