// SPDX-License-Identifier: Apache-2.0
// Builds kernels and entries in C++: one call an op, types inferred. Lowering is written with it.
// C++ evaluates arguments in any order, and the text must not depend on its compiler: of one call's
// arguments at most one emits an op other than a constant; braced lists are in order.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/module.h"
#include "lijit/result.h"

namespace lijit::ir {

class Builder {
 public:
  // Appends to `kernel`'s body. The kernel must outlive the builder.
  explicit Builder(Kernel& kernel) : kernel_(kernel) { blocks_.push_back({}); }

  // Moves what was built into the kernel's body, after its arguments.
  void Finish();
  // The ops built so far, for a rewrite that puts them elsewhere. `used` are values among them that
  // are used there.
  std::vector<Op> TakeOps(const std::vector<ValueId>& used = {});

  ValueId Parameter(std::string name, Type type);

  // Any op: operands, result types, attributes. The results' ids.
  std::vector<ValueId> Emit(OpCode code, std::vector<ValueId> operands, std::vector<Type> results,
                            std::vector<Attribute> attributes = {});
  // An op with one result.
  ValueId Emit1(OpCode code, std::vector<ValueId> operands, Type result,
                std::vector<Attribute> attributes = {});

  ValueId I1(bool value);
  ValueId I32(std::int64_t value);
  ValueId I64(std::int64_t value);
  ValueId F32(float value);

  // Two operands of one type, which the result has too.
  ValueId Binary(OpCode code, ValueId a, ValueId b);
  ValueId Unary(OpCode code, ValueId a);
  ValueId Compare(OpCode code, ValueId a, ValueId b);
  ValueId Select(ValueId condition, ValueId a, ValueId b);
  ValueId Fma(ValueId a, ValueId b, ValueId c);

  ValueId Add(ValueId a, ValueId b) { return Binary(OpCode::kAdd, a, b); }
  ValueId Sub(ValueId a, ValueId b) { return Binary(OpCode::kSub, a, b); }
  ValueId Mul(ValueId a, ValueId b) { return Binary(OpCode::kMul, a, b); }
  ValueId And(ValueId a, ValueId b) { return Binary(OpCode::kAnd, a, b); }
  ValueId Or(ValueId a, ValueId b) { return Binary(OpCode::kOr, a, b); }
  ValueId Xor(ValueId a, ValueId b) { return Binary(OpCode::kXor, a, b); }
  ValueId Shl(ValueId a, ValueId b) { return Binary(OpCode::kShl, a, b); }
  ValueId Shr(ValueId a, ValueId b) { return Binary(OpCode::kShr, a, b); }
  // With a constant of a's type.
  ValueId AddConst(ValueId a, std::int64_t b) { return Add(a, Like(a, b)); }
  ValueId MulConst(ValueId a, std::int64_t b) { return Mul(a, Like(a, b)); }
  ValueId AndConst(ValueId a, std::int64_t b) { return And(a, Like(a, b)); }
  ValueId ShlConst(ValueId a, std::int64_t b) { return Shl(a, Like(a, b)); }
  ValueId ShrConst(ValueId a, std::int64_t b) { return Shr(a, Like(a, b)); }
  ValueId UdivConst(ValueId a, std::int64_t b) { return Binary(OpCode::kUdiv, a, Like(a, b)); }
  ValueId UremConst(ValueId a, std::int64_t b) { return Binary(OpCode::kUrem, a, Like(a, b)); }

  ValueId Bitcast(ValueId a);
  ValueId Widen(ValueId a);
  ValueId WidenU(ValueId a);
  ValueId Narrow(ValueId a);

  ValueId Load(Memory memory, ValueId pointer, ValueId offset);
  void Store(Memory memory, ValueId pointer, ValueId offset, ValueId value);
  ValueId LoadShared(Memory memory, ValueId offset);
  void StoreShared(Memory memory, ValueId offset, ValueId value);
  void AtomicAddShared(ValueId offset, ValueId value);
  void Barrier();
  ValueId ShuffleXor(ValueId value, int mask);
  ValueId Ballot(ValueId condition);
  ValueId ThreadId();
  ValueId BlockId();
  ValueId BlockCount();

  using Values = std::vector<ValueId>;
  // for (index = first; index < end; index += step), carrying `initial`; `body` returns the next
  // carried values. The last carried values are the result.
  Values For(ValueId first, ValueId end, ValueId step, Values initial,
             const std::function<Values(ValueId index, const Values& carried)>& body,
             int unroll = 0);
  // `then` and `otherwise` return values of `types`.
  Values If(ValueId condition, std::vector<Type> types, const std::function<Values()>& then,
            const std::function<Values()>& otherwise);
  // Without values or an else.
  void If(ValueId condition, const std::function<void()>& then);
  // tile_scores with its two regions.
  void TileScores(std::vector<Attribute> attributes,
                  const std::function<ValueId(ValueId dot)>& head,
                  const std::function<ValueId(ValueId sum, ValueId row_scale)>& finish);
  void Yield(Values values);

  const Type& TypeOf(ValueId id) const { return kernel_.TypeOf(id); }
  // A constant of the type of `like`.
  ValueId Like(ValueId like, std::int64_t value);

 private:
  ValueId Constant(Type type, std::uint64_t bits);
  // Constants are put before the first op that uses them, so that the text does not depend on the
  // order in which C++ evaluates arguments.
  void PlaceConstants(const std::vector<ValueId>& operands);
  Block Region(std::vector<ValueId> arguments, const std::function<Values()>& body);

  Kernel& kernel_;
  std::vector<Block> blocks_;  // the regions that are being built, innermost last

  struct Unplaced {
    Op op;
    std::size_t block;  // index into blocks_
  };
  std::vector<Unplaced> unplaced_;  // constants that no op has used yet
};

}  // namespace lijit::ir
