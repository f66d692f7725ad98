// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/ptx/build_function.h"

#include <fmt/format.h>
#include <llvm/IR/CallingConv.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Metadata.h>

#include <vector>

#include "compiler/codegen/ptx/function_builder.h"

namespace lijit::codegen {
namespace {

using ir::AttributeKey;
using ir::Op;
using ir::OpCode;
using ir::ValueId;

// The types of first operands that a row of llvm_ops.def is for.
enum class OperandType { kAny, kI32, kF32 };

struct LlvmOp {
  OpCode code;
  OperandType type;
  llvm::Value* (*build)(FunctionBuilder& b, FunctionBuilder::Operands x);
};

constexpr LlvmOp kLlvmOps[] = {
#define LLVM_OP(op, type, value)           \
  {OpCode::op, OperandType::type,          \
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

// The row for an op whose first operand has `type` (any, without operands); null if there is none.
const LlvmOp* FindOp(OpCode code, const ir::Type& type) {
  for (const LlvmOp& row : kLlvmOps) {
    if (row.code == code && Matches(row.type, type)) return &row;
  }
  return nullptr;
}

constexpr unsigned kWarpClamp = 31;  // shfl's third operand: lanes up to the last, segments of 32

class EntryBuilder {
 public:
  EntryBuilder(const ir::Kernel& entry, llvm::Module& module)
      : entry_(entry),
        module_(module),
        b_(module.getContext()),
        values_(entry.values.size()),
        is_written_(entry.values.size()) {}

  Status Build() {
    FindWritten(entry_.body);
    DeclareFunction();
    DeclareShared();
    b_.SetInsertPoint(NewBlock("entry"));
    BuildRegion(entry_.body);
    b_.CreateRetVoid();
    if (!unbuildable_.empty()) return InvalidArgument(unbuildable_);
    return {};
  }

 private:
  static std::size_t Index(ValueId id) { return static_cast<std::size_t>(id); }
  llvm::Value* At(ValueId id) const { return values_[Index(id)]; }
  llvm::Value* Operand(const Op& op, std::size_t i) const { return At(op.operands[i]); }
  void Define(ValueId id, llvm::Value* value) { values_[Index(id)] = value; }

  // Pointers that a store goes through; the others are read-only for the whole launch.
  void FindWritten(const ir::Block& block) {
    for (const Op& op : block.ops) {
      if (op.code == OpCode::kStore) is_written_[Index(op.operands[0])] = true;
      for (const ir::Block& region : op.regions) FindWritten(region);
    }
  }

  llvm::Type* TypeOf(const ir::Type& type) {
    switch (type.scalar) {
      case ir::Scalar::kI1:
        return b_.getInt1Ty();
      case ir::Scalar::kI64:
        return b_.getInt64Ty();
      case ir::Scalar::kF32:
        return b_.getFloatTy();
      case ir::Scalar::kPtr:
        return b_.getPtrTy(kGlobalSpace);
      default:
        return b_.getInt32Ty();
    }
  }
  llvm::Type* TypeOf(ValueId id) { return TypeOf(entry_.TypeOf(id)); }

  llvm::Type* MemoryType(const Op& op) {
    switch (static_cast<ir::Memory>(op.Get(AttributeKey::kMemory))) {
      case ir::Memory::kU8:
        return b_.getInt8Ty();
      case ir::Memory::kU16:
        return b_.getInt16Ty();
      case ir::Memory::kI32:
        return b_.getInt32Ty();
      case ir::Memory::kI64:
        return b_.getInt64Ty();
      case ir::Memory::kF32:
        break;
    }
    return b_.getFloatTy();
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }

  void DeclareFunction() {
    std::vector<llvm::Type*> types;
    for (const ValueId id : entry_.body.arguments) types.push_back(TypeOf(id));
    function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                                       llvm::Function::ExternalLinkage, entry_.name, module_);
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    function_->addFnAttr("nvvm.maxntid", fmt::format("{}", entry_.threads));
    for (unsigned i = 0; i < types.size(); ++i) {
      const ValueId id = entry_.body.arguments[i];
      llvm::Argument* const argument = function_->getArg(i);
      argument->setName(entry_.values[Index(id)].name);
      Define(id, argument);
      if (!types[i]->isPointerTy()) continue;
      argument->addAttr(llvm::Attribute::NoAlias);
      if (!is_written_[Index(id)]) argument->addAttr(llvm::Attribute::ReadOnly);
    }
  }

  void DeclareShared() {
    if (entry_.shared_bytes <= 0) return;
    auto* const type =
        llvm::ArrayType::get(b_.getInt8Ty(), static_cast<std::uint64_t>(entry_.shared_bytes));
    shared_ = new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::InternalLinkage,
                                       llvm::PoisonValue::get(type), "shared", nullptr,
                                       llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    shared_->setAlignment(llvm::Align(16));
  }

  // Builds the ops of a region; what it yields is then in yielded_.
  void BuildRegion(const ir::Block& block) {
    for (const Op& op : block.ops) {
      if (op.code != OpCode::kYield) {
        BuildAnyOp(op);
        continue;
      }
      yielded_.clear();
      for (const ValueId id : op.operands) yielded_.push_back(At(id));
    }
  }

  void BuildAnyOp(const Op& op) {
    switch (op.code) {
      case OpCode::kConst:
        return Define(op.results[0], Constant(op));
      case OpCode::kFor:
        return BuildFor(op);
      case OpCode::kIf:
        return BuildIf(op);
      case OpCode::kLoad:
        return BuildLoad(op, Global(op), !is_written_[Index(op.operands[0])]);
      case OpCode::kLoadShared:
        return BuildLoad(op, Shared(op), false);
      case OpCode::kStore:
        return BuildStore(op, Global(op), Operand(op, 2));
      case OpCode::kStoreShared:
        return BuildStore(op, Shared(op), Operand(op, 1));
      case OpCode::kAtomicAddShared:
        return BuildAtomicAdd(op);
      case OpCode::kShuffleXor:
        return BuildShuffle(op);
      case OpCode::kCvtFromE4m3x2:
        return BuildUnpack(op, llvm::Intrinsic::nvvm_e4m3x2_to_f16x2_rn);
      case OpCode::kCvtFromE2m1x2:
        return BuildUnpack(op, llvm::Intrinsic::nvvm_e2m1x2_to_f16x2_rn);
      default:
        return BuildFromTable(op);
    }
  }

  llvm::Value* Constant(const Op& op) {
    llvm::Type* const type = TypeOf(op.results[0]);
    if (!type->isFloatTy()) {
      return llvm::ConstantInt::get(type, llvm::APInt(type->getIntegerBitWidth(), op.constant,
                                                      /*isSigned=*/false, /*implicitTrunc=*/true));
    }
    const llvm::APInt bits(32, op.constant, false, true);
    return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEsingle(), bits));
  }

  llvm::Value* Global(const Op& op) { return b_.CreatePtrAdd(Operand(op, 0), Operand(op, 1)); }
  // Offsets are below the size of shared memory, so that zero-extension is right.
  llvm::Value* Shared(const Op& op) {
    return b_.CreatePtrAdd(shared_, b_.CreateZExt(Operand(op, 0), b_.getInt64Ty()));
  }

  // Addresses are aligned to what lies there (docs/ir.md).
  llvm::Align AlignmentOf(llvm::Type* type) {
    return llvm::Align(type->getPrimitiveSizeInBits().getFixedValue() / 8);
  }

  void BuildLoad(const Op& op, llvm::Value* pointer, bool is_constant) {
    llvm::Type* const type = MemoryType(op);
    llvm::LoadInst* const load = b_.CreateAlignedLoad(type, pointer, AlignmentOf(type));
    if (is_constant) {
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(b_.getContext(), {}));
    }
    const bool narrow = type->isIntegerTy(8) || type->isIntegerTy(16);
    Define(op.results[0], narrow ? b_.Wide(load) : load);
  }

  void BuildStore(const Op& op, llvm::Value* pointer, llvm::Value* value) {
    llvm::Type* const type = MemoryType(op);
    if (type->isIntegerTy(8) || type->isIntegerTy(16)) value = b_.CreateTrunc(value, type);
    b_.CreateAlignedStore(value, pointer, AlignmentOf(type));
  }

  void BuildAtomicAdd(const Op& op) {
    b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, Shared(op), Operand(op, 1), llvm::Align(4),
                       llvm::AtomicOrdering::Monotonic,
                       b_.getContext().getOrInsertSyncScopeID("block"));
  }

  void BuildShuffle(const Op& op) {
    llvm::Value* const value = Operand(op, 0);
    const auto id = value->getType()->isFloatTy() ? llvm::Intrinsic::nvvm_shfl_sync_bfly_f32
                                                  : llvm::Intrinsic::nvvm_shfl_sync_bfly_i32;
    const auto mask = static_cast<std::uint32_t>(op.Get(AttributeKey::kMask));
    Define(op.results[0],
           b_.Call(id, {b_.AllLanes(), value, b_.getInt32(mask), b_.getInt32(kWarpClamp)}));
  }

  // Two codes to two halves to two floats, exactly.
  void BuildUnpack(const Op& op, llvm::Intrinsic::ID conversion) {
    llvm::Value* const halves = b_.Call(conversion, {b_.Low16(Operand(op, 0))});
    for (unsigned i = 0; i < 2; ++i) {
      Define(op.results[i], b_.CreateFPExt(b_.CreateExtractElement(halves, i), b_.getFloatTy()));
    }
  }

  void BuildFromTable(const Op& op) {
    std::vector<llvm::Value*> operands;
    for (const ValueId id : op.operands) operands.push_back(At(id));
    const ir::Type type = op.operands.empty() ? ir::Type{} : entry_.TypeOf(op.operands[0]);
    const LlvmOp* const row = FindOp(op.code, type);
    if (row == nullptr) {
      unbuildable_ = fmt::format(
          "{} is not built for LLVM; the passes of lower turn it into ops "
          "that are",
          ir::RowOf(op.code).mnemonic);
      for (const ValueId id : op.results) Define(id, llvm::PoisonValue::get(TypeOf(id)));
      return;
    }
    llvm::Value* const value = row->build(b_, operands);
    if (!op.results.empty()) Define(op.results[0], value);
  }

  // before: br head; head: phis, br body or after; body: ..., br head; after.
  void BuildFor(const Op& op) {
    const ir::Block& region = op.regions[0];
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    llvm::BasicBlock* const head = NewBlock("for");
    llvm::BasicBlock* const body = NewBlock("do");
    llvm::BasicBlock* const after = NewBlock("done");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    std::vector<llvm::PHINode*> phis;
    for (std::size_t i = 0; i < region.arguments.size(); ++i) {
      phis.push_back(b_.CreatePHI(TypeOf(region.arguments[i]), 2));
      // The index, then the carried values, whose first ones follow first, end and step.
      phis[i]->addIncoming(Operand(op, i == 0 ? 0 : i + 2), before);
      Define(region.arguments[i], phis[i]);
    }
    b_.CreateCondBr(b_.CreateICmpSLT(phis[0], Operand(op, 1)), body, after);
    b_.SetInsertPoint(body);
    BuildRegion(region);
    llvm::Value* const next = b_.CreateAdd(phis[0], Operand(op, 2));
    SetUnroll(b_.CreateBr(head), op.Get(AttributeKey::kUnroll));
    for (std::size_t i = 0; i < phis.size(); ++i) {
      phis[i]->addIncoming(i == 0 ? next : yielded_[i - 1], b_.GetInsertBlock());
    }
    for (std::size_t i = 0; i < op.results.size(); ++i) Define(op.results[i], phis[i + 1]);
    b_.SetInsertPoint(after);
  }

  // How often LLVM repeats the loop's body; 0 leaves it to LLVM.
  void SetUnroll(llvm::BranchInst* latch, std::int64_t count) {
    if (count <= 0) return;
    llvm::LLVMContext& context = b_.getContext();
    llvm::Metadata* const option[] = {
        llvm::MDString::get(context, "llvm.loop.unroll.count"),
        llvm::ConstantAsMetadata::get(b_.getInt32(static_cast<std::uint32_t>(count)))};
    llvm::Metadata* const parts[] = {nullptr, llvm::MDNode::get(context, option)};
    llvm::MDNode* const loop = llvm::MDNode::getDistinct(context, parts);
    loop->replaceOperandWith(0, loop);
    latch->setMetadata(llvm::LLVMContext::MD_loop, loop);
  }

  void BuildIf(const Op& op) {
    llvm::BasicBlock* const after = NewBlock("join");
    llvm::BasicBlock* const starts[] = {NewBlock("then"), NewBlock("else")};
    b_.CreateCondBr(Operand(op, 0), starts[0], starts[1]);
    std::vector<llvm::Value*> yielded[2];
    llvm::BasicBlock* ends[2];
    for (std::size_t i = 0; i < 2; ++i) {
      b_.SetInsertPoint(starts[i]);
      BuildRegion(op.regions[i]);
      yielded[i] = yielded_;
      ends[i] = b_.GetInsertBlock();
      b_.CreateBr(after);
    }
    b_.SetInsertPoint(after);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      llvm::PHINode* const phi = b_.CreatePHI(TypeOf(op.results[i]), 2);
      for (std::size_t side = 0; side < 2; ++side) phi->addIncoming(yielded[side][i], ends[side]);
      Define(op.results[i], phi);
    }
  }

  const ir::Kernel& entry_;
  llvm::Module& module_;
  FunctionBuilder b_;
  llvm::Function* function_ = nullptr;
  llvm::GlobalVariable* shared_ = nullptr;
  std::vector<llvm::Value*> values_;  // by ValueId
  std::vector<bool> is_written_;
  std::vector<llvm::Value*> yielded_;  // of the region built last
  std::string unbuildable_;
};

}  // namespace

Status BuildFunction(const ir::Kernel& entry, llvm::Module& module) {
  return EntryBuilder(entry, module).Build();
}

}  // namespace lijit::codegen
