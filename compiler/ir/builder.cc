// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/builder.h"

#include <algorithm>

#include "compiler/support/float_text.h"

namespace lijit::ir {
namespace {

constexpr Type kI1 = ScalarType(Scalar::kI1);
constexpr Type kI32 = ScalarType(Scalar::kI32);
constexpr Type kI64 = ScalarType(Scalar::kI64);
constexpr Type kF32 = ScalarType(Scalar::kF32);

Type TypeHolding(Memory memory) {
  return memory == Memory::kI64 ? kI64 : memory == Memory::kF32 ? kF32 : kI32;
}

Attribute MemoryAttribute(Memory memory) {
  return {AttributeKey::kMemory, static_cast<std::int64_t>(memory)};
}

}  // namespace

void Builder::Finish() { kernel_.body.ops = TakeOps(); }

std::vector<Op> Builder::TakeOps(const std::vector<ValueId>& used) {
  LIJIT_CHECK(blocks_.size() == 1);
  PlaceConstants(used);
  return std::move(blocks_.back().ops);
}

ValueId Builder::Parameter(std::string name, Type type) {
  const ValueId id = kernel_.NewValue(type, std::move(name));
  kernel_.body.arguments.push_back(id);
  return id;
}

std::vector<ValueId> Builder::Emit(OpCode code, std::vector<ValueId> operands,
                                   std::vector<Type> results, std::vector<Attribute> attributes) {
  PlaceConstants(operands);
  Op op;
  op.code = code;
  op.operands = std::move(operands);
  op.attributes = std::move(attributes);
  for (const Type& type : results) op.results.push_back(kernel_.NewValue(type));
  std::vector<ValueId> ids = op.results;
  blocks_.back().ops.push_back(std::move(op));
  return ids;
}

ValueId Builder::Emit1(OpCode code, std::vector<ValueId> operands, Type result,
                       std::vector<Attribute> attributes) {
  return Emit(code, std::move(operands), {result}, std::move(attributes))[0];
}

ValueId Builder::Constant(Type type, std::uint64_t bits) {
  Op op;
  op.code = OpCode::kConst;
  op.results = {kernel_.NewValue(type)};
  op.constant = bits;
  unplaced_.push_back({std::move(op), blocks_.size() - 1});
  return unplaced_.back().op.results[0];
}

void Builder::PlaceConstants(const std::vector<ValueId>& operands) {
  for (const ValueId id : operands) {
    const auto found = std::find_if(unplaced_.begin(), unplaced_.end(),
                                    [id](const Unplaced& one) { return one.op.results[0] == id; });
    if (found == unplaced_.end()) continue;
    // In the block that made it, which an inner region's use comes after.
    blocks_[found->block].ops.push_back(std::move(found->op));
    unplaced_.erase(found);
  }
}

ValueId Builder::I1(bool value) { return Constant(kI1, value ? 1 : 0); }
// i32 constants are kept sign-extended, so that one number has one text.
ValueId Builder::I32(std::int64_t value) {
  return Constant(kI32, static_cast<std::uint64_t>(
                            static_cast<std::int64_t>(static_cast<std::int32_t>(value))));
}
ValueId Builder::I64(std::int64_t value) {
  return Constant(kI64, static_cast<std::uint64_t>(value));
}
ValueId Builder::F32(float value) { return Constant(kF32, BitsOfFloat(value)); }

ValueId Builder::Like(ValueId like, std::int64_t value) {
  return TypeOf(like) == kI64 ? I64(value) : I32(value);
}

ValueId Builder::Binary(OpCode code, ValueId a, ValueId b) {
  return Emit1(code, {a, b}, TypeOf(a));
}
ValueId Builder::Unary(OpCode code, ValueId a) { return Emit1(code, {a}, TypeOf(a)); }
ValueId Builder::Compare(OpCode code, ValueId a, ValueId b) { return Emit1(code, {a, b}, kI1); }
ValueId Builder::Select(ValueId condition, ValueId a, ValueId b) {
  return Emit1(OpCode::kSelect, {condition, a, b}, TypeOf(a));
}
ValueId Builder::Fma(ValueId a, ValueId b, ValueId c) {
  return Emit1(OpCode::kFma, {a, b, c}, TypeOf(a));
}

ValueId Builder::Bitcast(ValueId a) {
  return Emit1(OpCode::kBitcast, {a}, TypeOf(a) == kI32 ? kF32 : kI32);
}
ValueId Builder::Widen(ValueId a) { return Emit1(OpCode::kWiden, {a}, kI64); }
ValueId Builder::WidenU(ValueId a) { return Emit1(OpCode::kWidenU, {a}, kI64); }
ValueId Builder::Narrow(ValueId a) { return Emit1(OpCode::kNarrow, {a}, kI32); }

ValueId Builder::Load(Memory memory, ValueId pointer, ValueId offset) {
  return Emit1(OpCode::kLoad, {pointer, offset}, TypeHolding(memory), {MemoryAttribute(memory)});
}
void Builder::Store(Memory memory, ValueId pointer, ValueId offset, ValueId value) {
  Emit(OpCode::kStore, {pointer, offset, value}, {}, {MemoryAttribute(memory)});
}
ValueId Builder::LoadShared(Memory memory, ValueId offset) {
  return Emit1(OpCode::kLoadShared, {offset}, TypeHolding(memory), {MemoryAttribute(memory)});
}
void Builder::StoreShared(Memory memory, ValueId offset, ValueId value) {
  Emit(OpCode::kStoreShared, {offset, value}, {}, {MemoryAttribute(memory)});
}
void Builder::AtomicAddShared(ValueId offset, ValueId value) {
  Emit(OpCode::kAtomicAddShared, {offset, value}, {}, {MemoryAttribute(Memory::kI32)});
}
void Builder::Barrier() { Emit(OpCode::kBarrier, {}, {}); }
ValueId Builder::ShuffleXor(ValueId value, int mask) {
  return Emit1(OpCode::kShuffleXor, {value}, TypeOf(value), {{AttributeKey::kMask, mask}});
}
ValueId Builder::Ballot(ValueId condition) { return Emit1(OpCode::kBallot, {condition}, kI32); }
ValueId Builder::ThreadId() { return Emit1(OpCode::kThreadId, {}, kI32); }
ValueId Builder::BlockId() { return Emit1(OpCode::kBlockId, {}, kI32); }
ValueId Builder::BlockCount() { return Emit1(OpCode::kBlockCount, {}, kI32); }

Block Builder::Region(std::vector<ValueId> arguments, const std::function<Values()>& body) {
  blocks_.push_back({std::move(arguments), {}});
  Yield(body());
  Block block = std::move(blocks_.back());
  blocks_.pop_back();
  std::erase_if(unplaced_, [&](const Unplaced& one) { return one.block == blocks_.size(); });
  return block;
}

Builder::Values Builder::For(
    ValueId first, ValueId end, ValueId step, Values initial,
    const std::function<Values(ValueId index, const Values& carried)>& body, int unroll) {
  Op op;
  op.code = OpCode::kFor;
  op.operands = {first, end, step};
  op.operands.insert(op.operands.end(), initial.begin(), initial.end());
  PlaceConstants(op.operands);
  if (unroll > 0) op.attributes = {{AttributeKey::kUnroll, unroll}};
  const ValueId index = kernel_.NewValue(TypeOf(first));
  Values arguments = {index};
  Values carried;
  for (const ValueId id : initial) {
    const Type type = TypeOf(id);
    carried.push_back(kernel_.NewValue(type));
    arguments.push_back(carried.back());
    op.results.push_back(kernel_.NewValue(type));
  }
  op.regions.push_back(Region(arguments, [&] { return body(index, carried); }));
  Values results = op.results;
  blocks_.back().ops.push_back(std::move(op));
  return results;
}

Builder::Values Builder::If(ValueId condition, std::vector<Type> types,
                            const std::function<Values()>& then,
                            const std::function<Values()>& otherwise) {
  Op op;
  op.code = OpCode::kIf;
  op.operands = {condition};
  PlaceConstants(op.operands);
  op.regions.push_back(Region({}, then));
  op.regions.push_back(Region({}, otherwise));
  for (const Type& type : types) op.results.push_back(kernel_.NewValue(type));
  Values results = op.results;
  blocks_.back().ops.push_back(std::move(op));
  return results;
}

void Builder::If(ValueId condition, const std::function<void()>& then) {
  If(
      condition, {},
      [&] {
        then();
        return Values{};
      },
      [] { return Values{}; });
}

void Builder::TileScores(std::vector<Attribute> attributes,
                         const std::function<ValueId(ValueId dot)>& head,
                         const std::function<ValueId(ValueId sum, ValueId row_scale)>& finish) {
  Op op;
  op.code = OpCode::kTileScores;
  op.attributes = std::move(attributes);
  const ValueId dot = kernel_.NewValue(kF32, "dot");
  op.regions.push_back(Region({dot}, [&] { return Values{head(dot)}; }));
  const ValueId sum = kernel_.NewValue(kF32, "sum");
  const ValueId row_scale = kernel_.NewValue(kF32, "row_scale");
  op.regions.push_back(Region({sum, row_scale}, [&] { return Values{finish(sum, row_scale)}; }));
  blocks_.back().ops.push_back(std::move(op));
}

void Builder::Yield(Values values) { Emit(OpCode::kYield, std::move(values), {}); }

}  // namespace lijit::ir
