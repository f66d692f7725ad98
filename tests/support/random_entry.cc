// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_entry.h"

#include <random>

#include "compiler/ir/builder.h"
#include "compiler/support/float_text.h"

namespace lijit::tests {
namespace {

using ir::Builder;
using ir::Memory;
using ir::OpCode;
using ir::Type;
using ir::ValueId;
using Values = std::vector<ValueId>;

constexpr Type kI1 = ir::ScalarType(ir::Scalar::kI1);
constexpr Type kI32 = ir::ScalarType(ir::Scalar::kI32);
constexpr Type kI64 = ir::ScalarType(ir::Scalar::kI64);
constexpr Type kF32 = ir::ScalarType(ir::Scalar::kF32);
constexpr Type kPtr = ir::ScalarType(ir::Scalar::kPtr);
constexpr int kMaxDepth = 3;
// Shared memory: one word of integers a thread, then one of floats, then eight counters.
constexpr int kFloatsAt = 4 * kRandomThreads;
constexpr int kCountersAt = 8 * kRandomThreads;
constexpr int kCounters = 8;

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed), b_(entry_) {
    entry_.name = "random";
    entry_.kind = ir::KernelKind::kTopK;
    entry_.is_entry = true;
    entry_.threads = kRandomThreads;
    entry_.tile_rows = entry_.tile_columns = 1;
    entry_.shared_bytes = kCountersAt + 4 * kCounters;
  }

  ir::Module Make() {
    in_ = b_.Parameter("in", kPtr);
    out_ = b_.Parameter("out", kPtr);
    const ValueId count = b_.Parameter("count", kI64);
    thread_ = b_.ThreadId();
    const ValueId first = b_.MulConst(b_.BlockId(), kRandomThreads);
    global_ = b_.WidenU(b_.Add(first, thread_));
    Values values = {thread_, b_.BlockId(), b_.BlockCount(), count, global_};
    LoadInputs(values);
    for (int i = 0; i < 3; ++i) {
      MakeOps(values, 0);
      MakeExchange(values);
    }
    StoreResults(values);
    b_.Yield({});
    b_.Finish();
    ir::Module module;
    module.kernels.push_back(std::move(entry_));
    return module;
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  template <typename T>
  T Pick(std::initializer_list<T> choices) {
    return choices.begin()[Below(static_cast<int>(choices.size()))];
  }

  void LoadInputs(Values& values) {
    const ValueId at = b_.MulConst(global_, kRandomInBytes);
    values.push_back(b_.Load(Memory::kI64, in_, at));
    values.push_back(b_.Load(Memory::kI32, in_, b_.AddConst(at, 8)));
    values.push_back(b_.Load(Memory::kU16, in_, b_.AddConst(at, 12)));
    values.push_back(b_.Load(Memory::kU8, in_, b_.AddConst(at, 15)));
    for (int i = 16; i < 32; i += 4) {
      values.push_back(b_.Load(Memory::kF32, in_, b_.AddConst(at, i)));
    }
  }

  void StoreResults(const Values& values) {
    const ValueId at = b_.MulConst(global_, kRandomOutBytes);
    for (int i = 0; i < 2; ++i) {
      b_.Store(Memory::kI64, out_, b_.AddConst(at, 8 * i), Any(kI64, values));
    }
    for (int i = 16; i < 32; i += 4) {
      b_.Store(Memory::kF32, out_, b_.AddConst(at, i), Any(kF32, values));
    }
  }

  ValueId AnyConstant(const Type& type) {
    const auto bits = static_cast<std::uint32_t>(random_());
    if (type == kI1) return b_.I1(bits % 2 == 0);
    if (type == kI32) return b_.I32(Pick<std::int64_t>({0, 1, -1, 31, std::int64_t{bits}}));
    if (type == kI64) return b_.I64(Pick<std::int64_t>({0, 1, -1, 63, std::int64_t{bits} << 17}));
    return b_.F32(Pick({0.0f, -0.0f, 1.0f, 0x1p-130f, FloatFromBits(bits & 0xff7fffff),
                        FloatFromBits(0x7f800000)}));
  }

  // A value of the type, late ones more often; a constant if there is none, and sometimes else.
  ValueId Any(const Type& type, const Values& values) {
    Values fitting;
    for (const ValueId id : values) {
      if (b_.TypeOf(id) == type) fitting.push_back(id);
    }
    if (fitting.empty() || Below(10) == 0) return AnyConstant(type);
    const auto count = static_cast<int>(fitting.size());
    return fitting[static_cast<std::size_t>(std::max(Below(count), Below(count)))];
  }

  ValueId MakeInteger(const Type& type, const Values& values) {
    const int width = type == kI64 ? 64 : 32;
    const ValueId x = Any(type, values);
    const ValueId y = Any(type, values);
    const auto code = Pick({OpCode::kAdd, OpCode::kSub, OpCode::kMul, OpCode::kAnd, OpCode::kOr,
                            OpCode::kXor, OpCode::kShl, OpCode::kShr, OpCode::kUdiv, OpCode::kUrem,
                            OpCode::kMinU, OpCode::kMaxU, OpCode::kPopcount});
    switch (code) {
      case OpCode::kShl:
      case OpCode::kShr:
        return b_.Binary(code, x, b_.AndConst(y, width - 1));
      case OpCode::kUdiv:
      case OpCode::kUrem:
        return b_.Binary(code, x, b_.Or(y, b_.Like(y, 1)));
      case OpCode::kPopcount:
        return b_.Unary(code, x);
      default:
        return b_.Binary(code, x, y);
    }
  }

  ValueId MakeFloat(const Values& values) {
    const ValueId x = Any(kF32, values);
    const auto code = Pick({OpCode::kAdd, OpCode::kSub, OpCode::kMul, OpCode::kDiv, OpCode::kFma,
                            OpCode::kMax, OpCode::kMin, OpCode::kAbs, OpCode::kRelu});
    if (code == OpCode::kFma) return b_.Fma(x, Any(kF32, values), Any(kF32, values));
    if (code == OpCode::kAbs || code == OpCode::kRelu) return b_.Unary(code, x);
    return b_.Binary(code, x, Any(kF32, values));
  }

  ValueId MakeTruth(const Values& values) {
    if (Below(4) == 0) {
      const ValueId x = Any(kI1, values);
      return b_.Binary(Pick({OpCode::kAnd, OpCode::kOr, OpCode::kXor}), x, Any(kI1, values));
    }
    const Type type = Pick({kI32, kI64, kF32});
    const ValueId x = Any(type, values);
    const auto code = Pick({OpCode::kEq, OpCode::kNe, OpCode::kLt, OpCode::kLe, OpCode::kLtU});
    const bool unsigned_of_floats = code == OpCode::kLtU && type == kF32;
    return b_.Compare(unsigned_of_floats ? OpCode::kLt : code, x, Any(type, values));
  }

  // The bits of a number that is not NaN, whose bits nobody promises.
  ValueId BitsOf(ValueId x) {
    const ValueId is_nan = b_.Compare(OpCode::kNe, x, x);
    return b_.Select(is_nan, b_.I32(7), b_.Bitcast(x));
  }

  ValueId MakeConversion(const Values& values) {
    switch (Below(7)) {
      case 0:
        return b_.Widen(Any(kI32, values));
      case 1:
        return b_.WidenU(Any(kI32, values));
      case 2:
        return b_.Narrow(Any(kI64, values));
      case 3:
        return BitsOf(Any(kF32, values));
      case 4:
        return b_.Bitcast(Any(kI32, values));
      case 5:
        return b_.Emit1(OpCode::kF16ToF32, {b_.AndConst(Any(kI32, values), 0xffff)}, kF32);
      default:
        return b_.Emit1(OpCode::kF32ToF16, {Any(kF32, values)}, kI32);
    }
  }

  ValueId MakePlain(const Values& values) {
    switch (Below(6)) {
      case 0:
        return MakeInteger(kI32, values);
      case 1:
        return MakeInteger(kI64, values);
      case 2:
        return MakeFloat(values);
      case 3:
        return MakeTruth(values);
      case 4: {
        const Type type = Pick({kI1, kI32, kI64, kF32});
        const ValueId condition = Any(kI1, values);
        const ValueId x = Any(type, values);
        return b_.Select(condition, x, Any(type, values));
      }
      default:
        return MakeConversion(values);
    }
  }

  void MakeOps(Values& values, int depth) {
    for (int count = 4 + Below(8); count > 0; --count) {
      const int kind = Below(depth < kMaxDepth ? 8 : 6);
      if (kind == 6) {
        MakeFor(values, depth);
      } else if (kind == 7) {
        MakeIf(values, depth);
      } else {
        values.push_back(MakePlain(values));
      }
    }
  }

  std::vector<Type> AnyTypes() {
    std::vector<Type> types;
    for (int count = Below(4); count > 0; --count) types.push_back(Pick({kI1, kI32, kI64, kF32}));
    return types;
  }

  Values AnyOf(const std::vector<Type>& types, const Values& values) {
    Values any;
    for (const Type& type : types) any.push_back(Any(type, values));
    return any;
  }

  // At most eight times around.
  void MakeFor(Values& values, int depth) {
    const Type type = Pick({kI32, kI64});
    const std::vector<Type> types = AnyTypes();
    const ValueId end = b_.AndConst(Any(type, values), 7);
    const ValueId first = b_.Like(end, Below(4) - 2);
    const ValueId step = b_.Like(end, 1 + Below(3));
    const Values results = b_.For(
        first, end, step, AnyOf(types, values),
        [&](ValueId index, const Values& carried) {
          Values inner = values;
          inner.push_back(index);
          inner.insert(inner.end(), carried.begin(), carried.end());
          MakeOps(inner, depth + 1);
          return AnyOf(types, inner);
        },
        Below(4));
    values.insert(values.end(), results.begin(), results.end());
  }

  void MakeIf(Values& values, int depth) {
    const std::vector<Type> types = AnyTypes();
    const auto branch = [&] {
      Values inner = values;
      MakeOps(inner, depth + 1);
      return AnyOf(types, inner);
    };
    const Values results = b_.If(Any(kI1, values), types, branch, branch);
    values.insert(values.end(), results.begin(), results.end());
  }

  // What threads do together, where all of them are.
  void MakeExchange(Values& values) {
    values.push_back(b_.ShuffleXor(Any(kI32, values), Below(32)));
    values.push_back(b_.ShuffleXor(Any(kF32, values), Below(32)));
    values.push_back(b_.Ballot(Any(kI1, values)));
    b_.Barrier();
    const ValueId own = b_.ShlConst(thread_, 2);
    b_.StoreShared(Memory::kI32, own, Any(kI32, values));
    b_.StoreShared(Memory::kF32, b_.AddConst(own, kFloatsAt), Any(kF32, values));
    b_.If(b_.Compare(OpCode::kLtU, thread_, b_.I32(kCounters)),
          [&] { b_.StoreShared(Memory::kI32, b_.AddConst(own, kCountersAt), b_.I32(0)); });
    b_.Barrier();
    const ValueId counter = b_.ShlConst(b_.AndConst(Any(kI32, values), kCounters - 1), 2);
    b_.AtomicAddShared(b_.AddConst(counter, kCountersAt), Any(kI32, values));
    const ValueId other = b_.ShlConst(b_.AndConst(Any(kI32, values), kRandomThreads - 1), 2);
    values.push_back(b_.LoadShared(Memory::kI32, other));
    values.push_back(b_.LoadShared(Memory::kF32, b_.AddConst(other, kFloatsAt)));
    b_.Barrier();
    values.push_back(b_.LoadShared(Memory::kI32, b_.AddConst(counter, kCountersAt)));
  }

  std::mt19937 random_;
  ir::Kernel entry_;
  Builder b_;
  ValueId in_ = -1;
  ValueId out_ = -1;
  ValueId thread_ = -1;
  ValueId global_ = -1;
};

}  // namespace

ir::Module RandomEntry(unsigned seed) { return Maker(seed).Make(); }

}  // namespace lijit::tests
