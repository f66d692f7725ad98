// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/ir/random_module.h"

#include <random>
#include <string>

#include "compiler/ir/builder.h"
#include "compiler/ir/declarations.h"
#include "compiler/support/float_text.h"

namespace lijit::ir {
namespace {

constexpr Type kI1 = ScalarType(Scalar::kI1);
constexpr Type kI32 = ScalarType(Scalar::kI32);
constexpr Type kI64 = ScalarType(Scalar::kI64);
constexpr Type kF32 = ScalarType(Scalar::kF32);
constexpr Type kPtr = ScalarType(Scalar::kPtr);

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  Module Make() {
    const int formats = 1 + Below(4);
    for (int i = 0; i < formats; ++i) MakeFormat();
    module_.layouts.push_back(
        {"pages", {}, 16 << Below(5), Pick({Order::kPlanar, Order::kInterleaved}), 64 << Below(3)});
    MakeKernel();
    MakeEntry();
    return std::move(module_);
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[Below(static_cast<int>(values.size()))];
  }
  float AnyFloat() { return FloatFromBits(static_cast<std::uint32_t>(random_())); }

  void MakeFormat() {
    Format format;
    format.name = "format" + std::to_string(module_.formats.size());
    const int bits = Pick({4, 8, 16});
    const int exponent = bits == 16 ? 5 + Below(4) : 1 + Below(bits == 4 ? 3 : 7);
    format.element = {
        .exponent = exponent,
        .mantissa = bits - 1 - exponent,
        .bias = (1 << (exponent - 1)) - (exponent > 1 ? 1 : 0),
        .special = exponent == 8 ? Special::kIeee : Pick({Special::kNan, Special::kIeee}),
        .overflow = Overflow::kSaturate,
        .ties = Pick({Ties::kEven, Ties::kZero}),
        .zero = Pick({Zero::kSigned, Zero::kPositive}),
        .nan = Below(1 << bits),
        .packing = Pick({Packing::kLowFirst, Packing::kHighFirst})};
    const bool reaches_1 = format.element.Max() >= 1;  // which a scale needs
    const bool block = Below(2) == 0;
    if (block && reaches_1) {
      format.block_scale = {
          Pick({16, 32}), ScaleCode::kUe8m0,
          Pick({ScaleRule::kPow2Ceil, ScaleRule::kPow2Floor, ScaleRule::kPow2Even}),
          std::ldexp(1.0f, -Below(100)), Pick({Nonfinite::kSaturate, Nonfinite::kPropagate})};
    } else if (bits < 16 && reaches_1 && Below(2) == 0) {
      format.row_scale = {Pick({ScaleRule::kExact, ScaleRule::kPow2Ceil}), format.element.Max()};
    }
    module_.formats.push_back(format);
  }

  // A value of the type among those that are defined, a new constant if there is none.
  ValueId Any(Builder& b, const Type& type, const std::vector<ValueId>& values) {
    std::vector<ValueId> fitting;
    for (const ValueId id : values) {
      if (b.TypeOf(id) == type) fitting.push_back(id);
    }
    if (!fitting.empty() && Below(8) != 0)
      return fitting[static_cast<std::size_t>(Below(static_cast<int>(fitting.size())))];
    if (type == kI1) return b.I1(Below(2) == 0);
    if (type == kI32) return b.I32(static_cast<std::int64_t>(random_()));
    if (type == kI64) return b.I64(static_cast<std::int64_t>(random_() * 0x100000001ull));
    return b.F32(AnyFloat());
  }

  void MakeOp(Builder& b, std::vector<ValueId>& values, int depth) {
    const Type type = Pick({kI32, kI64, kF32});
    const auto any = [&](const Type& t) { return Any(b, t, values); };
    switch (Below(depth < 3 ? 9 : 7)) {
      case 0:
        return values.push_back(b.Binary(Pick({OpCode::kAdd, OpCode::kMul}), any(type), any(type)));
      case 1:
        return values.push_back(b.Compare(Pick({OpCode::kLt, OpCode::kNe}), any(type), any(type)));
      case 2:
        return values.push_back(b.Select(any(kI1), any(type), any(type)));
      case 3:
        return values.push_back(
            b.Load(Pick({Memory::kU8, Memory::kI64, Memory::kF32}), values[0], any(kI64)));
      case 4:
        return b.Store(Memory::kU16, values[0], any(kI64), any(kI32));
      case 5:
        return values.push_back(b.Emit1(OpCode::kEncodePair, {any(kF32), any(kF32)}, kI32,
                                        {{AttributeKey::kFormat, 0}}));
      case 6:
        return values.push_back(b.ShuffleXor(any(kF32), Below(32)));
      case 7:
        return MakeFor(b, values, depth);
      default:
        return MakeIf(b, values, depth);
    }
  }

  void MakeOps(Builder& b, std::vector<ValueId>& values, int depth) {
    for (int count = Below(6); count > 0; --count) MakeOp(b, values, depth);
  }

  void MakeFor(Builder& b, std::vector<ValueId>& values, int depth) {
    const ValueId first = Any(b, kI32, values);
    std::vector<ValueId> initial;
    for (int count = Below(3); count > 0; --count)
      initial.push_back(Any(b, Pick({kI64, kF32}), values));
    const auto results = b.For(
        first, Any(b, kI32, values), b.I32(1), initial,
        [&](ValueId index, const Builder::Values& carried) {
          std::vector<ValueId> inner = values;
          inner.push_back(index);
          inner.insert(inner.end(), carried.begin(), carried.end());
          MakeOps(b, inner, depth + 1);
          Builder::Values next;
          for (const ValueId id : carried) next.push_back(Any(b, b.TypeOf(id), inner));
          return next;
        },
        Below(3));
    values.insert(values.end(), results.begin(), results.end());
  }

  void MakeIf(Builder& b, std::vector<ValueId>& values, int depth) {
    std::vector<Type> types;
    for (int count = Below(3); count > 0; --count) types.push_back(Pick({kI1, kI32, kF32}));
    const auto branch = [&] {
      std::vector<ValueId> inner = values;
      MakeOps(b, inner, depth + 1);
      Builder::Values out;
      for (const Type& type : types) out.push_back(Any(b, type, inner));
      return out;
    };
    const auto results = b.If(Any(b, kI1, values), types, branch, branch);
    values.insert(values.end(), results.begin(), results.end());
  }

  void MakeEntry() {
    Kernel entry;
    entry.name = "entry";
    entry.kind = KernelKind::kTopK;
    entry.is_entry = true;
    entry.threads = 32 << Below(6);
    entry.tile_rows = 1 + Below(8);
    entry.tile_columns = 1 + Below(256);
    entry.shared_bytes = Below(1 << 16);
    Builder b(entry);
    // Equal names, names that are numbers and values without a name.
    std::vector<ValueId> values = {b.Parameter("p", kPtr), b.Parameter("n", kI64),
                                   b.Parameter("n", kI64), b.Parameter("7", kI64),
                                   b.Parameter("", kI64)};
    MakeOps(b, values, 0);
    MakeOps(b, values, 0);
    b.Yield({});
    b.Finish();
    module_.kernels.push_back(std::move(entry));
  }

  void MakeKernel() {
    const auto format = static_cast<FormatId>(Below(static_cast<int>(module_.formats.size())));
    const int dim = 32 << Below(4);
    Kernel kernel;
    kernel.name = "write";
    kernel.kind = KernelKind::kWriteCache;
    kernel.layout = 0;
    kernel.results = {RowType(dim, format)};
    Builder b(kernel);
    const Type wide = VecType(dim, kF32.scalar);
    const ValueId x =
        b.Parameter("x", VecType(dim, Pick({Scalar::kBf16, Scalar::kF16, Scalar::kF32})));
    const ValueId table = b.Parameter("table", VecType(16, kF32.scalar));
    ValueId y = b.Emit1(OpCode::kExtend, {x}, wide);
    for (int count = Below(5); count > 0; --count) {
      if (Below(3) == 0) y = b.Emit1(OpCode::kHadamard, {y}, wide);
      if (Below(3) == 0) y = b.Emit1(OpCode::kMul, {y, b.F32(AnyFloat())}, wide);
      if (Below(3) == 0) {
        y = b.Emit1(OpCode::kRope, {y, table}, wide,
                    {{AttributeKey::kStyle, Below(2)}, {AttributeKey::kPlace, Below(2)}});
      }
      if (Below(3) == 0) y = b.Emit1(OpCode::kRound, {y}, wide, {{AttributeKey::kTo, Below(2)}});
    }
    b.Yield({b.Emit(OpCode::kEncode, {y}, {RowType(dim, format), kF32})[0]});
    b.Finish();
    module_.kernels.push_back(std::move(kernel));
  }

  std::mt19937 random_;
  Module module_;
};

}  // namespace

Module RandomModule(unsigned seed) { return Maker(seed).Make(); }

}  // namespace lijit::ir
