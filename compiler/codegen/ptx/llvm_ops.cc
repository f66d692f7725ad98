// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/ptx/llvm_ops.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace lijit::codegen {
namespace {

// The types of first operands that a row of llvm_ops.def is for.
enum class OperandType { kAny, kI32, kF32 };

struct LlvmOp {
  ir::OpCode code;
  OperandType type;
  llvm::Value* (*build)(FunctionBuilder& b, FunctionBuilder::Operands x);
};

constexpr LlvmOp kLlvmOps[] = {
#define LLVM_OP(op, type, value)           \
  {ir::OpCode::op, OperandType::type,      \
   []([[maybe_unused]] FunctionBuilder& b, \
      [[maybe_unused]] FunctionBuilder::Operands x) -> llvm::Value* { return value; }},
#include "compiler/codegen/ptx/llvm_ops.def"
};

bool Matches(OperandType wanted, const ir::Type& type) {
  switch (wanted) {
    case OperandType::kI32:
      return type.IsScalar(ir::Scalar::kI32);
    case OperandType::kF32:
      return type.IsF32();
    case OperandType::kAny:
      break;
  }
  return true;
}

}  // namespace

llvm::Value* BuildOp(FunctionBuilder& builder, ir::OpCode code, const ir::Type& type,
                     FunctionBuilder::Operands operands) {
  for (const LlvmOp& row : kLlvmOps) {
    if (row.code == code && Matches(row.type, type)) return row.build(builder, operands);
  }
  return nullptr;
}

}  // namespace lijit::codegen
