// SPDX-License-Identifier: Apache-2.0
// LLVM's builder of instructions with what the rows of llvm_ops.def need besides. Inside of
// codegen/ptx only.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

namespace lijit::codegen {

// The address spaces of NVPTX (LLVM's NVPTXUsage, "Address Spaces").
inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;

class FunctionBuilder : public llvm::IRBuilder<> {
 public:
  using Operands = llvm::ArrayRef<llvm::Value*>;
  using llvm::IRBuilder<>::IRBuilder;

  llvm::Value* Call(llvm::Intrinsic::ID id, Operands operands) {
    return CreateIntrinsic(id, operands);
  }
  // Of an intrinsic with overloads.
  llvm::Value* Call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types, Operands operands) {
    return CreateIntrinsic(id, types, operands);
  }
  llvm::Constant* Float(float value) { return llvm::ConstantFP::get(getFloatTy(), value); }
  llvm::Constant* AllLanes() { return getInt32(0xffffffffu); }
  llvm::Value* Low16(llvm::Value* bits) { return CreateTrunc(bits, getInt16Ty()); }
  // An i8 or i16 as i32.
  llvm::Value* Wide(llvm::Value* bits) { return CreateZExt(bits, getInt32Ty()); }
};

}  // namespace lijit::codegen
