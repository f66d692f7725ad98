// SPDX-License-Identifier: Apache-2.0
// The table of llvm_ops.def. Inside of codegen/ptx only.
#pragma once

#include "compiler/codegen/ptx/function_builder.h"
#include "compiler/ir/op.h"
#include "compiler/ir/type.h"

namespace lijit::codegen {

// Builds the value of an op whose first operand has `type` (of ops without operands, any). Null if
// the table has no row for it.
llvm::Value* BuildOp(FunctionBuilder& builder, ir::OpCode code, const ir::Type& type,
                     FunctionBuilder::Operands operands);

}  // namespace lijit::codegen
