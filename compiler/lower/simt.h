// SPDX-License-Identifier: Apache-2.0
// The schedule `simt`: plain threads, no tensor cores, the same on every target. Writers and
// gathers give a warp to each row; logits give a thread to each key; top-k gives a block to each
// row. Inside of lower/ only.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/module.h"
#include "compiler/lower/parameters.h"
#include "lijit/result.h"

namespace lijit::lower {

constexpr ir::Type kI32 = ir::ScalarType(ir::Scalar::kI32);
constexpr ir::Type kI64 = ir::ScalarType(ir::Scalar::kI64);
constexpr ir::Type kF32 = ir::ScalarType(ir::Scalar::kF32);
constexpr int kWarp = 32;

// The entry's parameters, by the names of parameters.def.
class EntryParameters {
 public:
  EntryParameters(ir::Builder& builder, ir::KernelKind kind);
  ir::ValueId operator[](std::string_view name) const;

 private:
  std::span<const ParameterRow> rows_;
  std::vector<ir::ValueId> ids_;
};

// An element's or scale's code conversions as mid-level ops.
ir::ValueId EmitEncodeScale(ir::Builder& b, ir::FormatId format, ir::ValueId x);
ir::ValueId EmitDecodeScale(ir::Builder& b, ir::FormatId format, ir::ValueId code);
// Element pairs in the order of the row, whatever the packing.
ir::ValueId EmitEncodePair(ir::Builder& b, const ir::Module& module, ir::FormatId format,
                           ir::ValueId even, ir::ValueId odd);
std::vector<ir::ValueId> EmitDecodePair(ir::Builder& b, const ir::Module& module,
                                        ir::FormatId format, ir::ValueId codes);

// Rows of tile_rows that this block does, one after another: body(index of the first).
void ForEachTile(ir::Builder& b, ir::ValueId tiles,
                 const std::function<void(ir::ValueId tile)>& body);

// Columns that a row sees: lengths as in logits.paged, for row `row` of `next_n` a request.
ir::ValueId VisibleColumns(ir::Builder& b, const EntryParameters& p, ir::ValueId row);
ir::ValueId MinSigned(ir::Builder& b, ir::ValueId x, ir::ValueId y);
ir::ValueId MaxSigned(ir::Builder& b, ir::ValueId x, ir::ValueId y);
// An i32 of memory as i64, at an element index.
ir::ValueId LoadIndex(ir::Builder& b, ir::ValueId pointer, ir::ValueId index);

// Elementwise ops of kernels (add ... relu, round): on scalars. Null if the op is none of them.
using ir::ValueId;
bool IsElementwise(ir::OpCode code);
ValueId EmitElementwise(ir::Builder& b, const ir::Op& op, const std::vector<ValueId>& operands);

// The schedules of the kinds. `entry` has name and kind already; each fills the rest.
Status LowerRows(const ir::Module& module, const ir::Kernel& kernel, ir::Kernel& entry);
Status LowerGather(const ir::Module& module, const ir::Kernel& kernel, ir::Kernel& entry);
Status LowerLogits(const ir::Module& module, const ir::Kernel& kernel, ir::Kernel& entry);
Status LowerTopK(const ir::Module& module, const ir::Kernel& kernel, ir::Kernel& entry);

// An entry of the kernel, without threads, tiles and body.
ir::Kernel StartEntry(const ir::Kernel& kernel);

// "schedule simt cannot do @kernel: why".
Error SimtRefuses(const ir::Kernel& kernel, std::string why);

}  // namespace lijit::lower
