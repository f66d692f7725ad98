// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/verify_ops.h"

#include <fmt/format.h>

#include "compiler/ir/printer.h"

namespace lijit::ir {
namespace {

constexpr Type kI1 = ScalarType(Scalar::kI1);
constexpr Type kI32 = ScalarType(Scalar::kI32);
constexpr Type kI64 = ScalarType(Scalar::kI64);
constexpr Type kF32 = ScalarType(Scalar::kF32);
constexpr Type kPtr = ScalarType(Scalar::kPtr);

// The types of one op, by position.
struct Types {
  std::vector<Type> in;
  std::vector<Type> out;
};

bool IsFloat(const Type& type) {
  return type.scalar == Scalar::kF32 && (type.IsScalar() || type.IsVec());
}

bool AllEqual(const Types& t) {
  for (const Type& type : t.in) {
    if (type != t.in[0]) return false;
  }
  return t.out[0] == t.in[0];
}

Type TypeInMemory(const Op& op) {
  switch (static_cast<Memory>(op.Get(AttributeKey::kMemory))) {
    case Memory::kI64:
      return kI64;
    case Memory::kF32:
      return kF32;
    default:
      return kI32;
  }
}

bool CheckConst(const Op& op, const Types& t) {
  if (t.out[0] == kF32 || t.out[0] == kI64) return true;
  const auto value = static_cast<std::int64_t>(op.constant);
  if (t.out[0] == kI1) return value == 0 || value == 1;
  return t.out[0] == kI32 && value >= -(std::int64_t{1} << 31) && value < std::int64_t{1} << 32;
}

bool CheckNumeric(const Op& op, const Types& t) {
  const bool scales = op.code == OpCode::kMul && t.in[0].IsVec() && t.in[1] == kF32;
  if (scales) return IsFloat(t.in[0]) && t.out[0] == t.in[0];
  return AllEqual(t) && (IsFloat(t.in[0]) || t.in[0].IsInteger());
}

bool CheckExtend(const Types& t) {
  Type expected = t.in[0];
  const bool input = expected.scalar == Scalar::kF32 || expected.scalar == Scalar::kBf16 ||
                     expected.scalar == Scalar::kF16;
  expected.scalar = Scalar::kF32;
  return input && (expected.IsScalar() || expected.IsVec()) && t.out[0] == expected;
}

bool CheckRope(const Types& t) {
  const Type& row = t.in[0];
  const Type& table = t.in[1];
  return row.IsVec() && IsFloat(row) && table.IsVec() && IsFloat(table) && table.dim >= 4 &&
         table.dim % 4 == 0 && table.dim <= row.dim && t.out[0] == row;
}

bool CheckHadamard(const Types& t) {
  const Type& row = t.in[0];
  return row.IsVec() && IsFloat(row) && (row.dim & (row.dim - 1)) == 0 && t.out[0] == row;
}

bool CheckEncode(const Types& t) {
  return t.in[0].IsVec() && IsFloat(t.in[0]) && t.out[0].shape == Type::Shape::kRow &&
         t.out[0].dim == t.in[0].dim && t.out[1] == kF32;
}

bool CheckDot(const Types& t) {
  return t.in[0].shape == Type::Shape::kRows && t.in[1].shape == Type::Shape::kRow &&
         t.in[0].dim == t.in[1].dim && t.in[0].format == t.in[1].format &&
         t.out[0] == VecType(t.in[0].heads, Scalar::kF32);
}

bool CheckWeightedSum(const Types& t) {
  return t.in[0].IsVec() && IsFloat(t.in[0]) && t.in[0].dim % 8 == 0 && t.in[1] == t.in[0] &&
         t.out[0] == kF32;
}

bool CheckBits(const Types& t) { return AllEqual(t) && (t.in[0].IsInteger() || t.in[0] == kI1); }

bool CheckInteger(const Types& t) { return AllEqual(t) && t.in[0].IsInteger(); }

bool CheckCompare(const Types& t, bool integers_only) {
  return t.in[0] == t.in[1] && t.out[0] == kI1 &&
         (t.in[0].IsInteger() || (!integers_only && t.in[0] == kF32));
}

bool CheckSelect(const Types& t) {
  return t.in[0] == kI1 && t.in[1].IsScalar() && t.in[2] == t.in[1] && t.out[0] == t.in[1];
}

bool CheckFor(const Types& t) {
  if (t.in.size() < 3 || !t.in[0].IsInteger() || t.in[1] != t.in[0] || t.in[2] != t.in[0]) {
    return false;
  }
  if (t.in.size() - 3 != t.out.size()) return false;
  for (std::size_t i = 0; i < t.out.size(); ++i) {
    if (t.in[i + 3] != t.out[i]) return false;
  }
  return true;
}

// The body's arguments are the index and the carried values.
bool CheckForArguments(const Kernel& kernel, const Op& op, const Types& t) {
  const std::vector<ValueId>& arguments = op.regions[0].arguments;
  if (arguments.size() != t.out.size() + 1) return false;
  if (kernel.TypeOf(arguments[0]) != t.in[0]) return false;
  for (std::size_t i = 0; i < t.out.size(); ++i) {
    if (kernel.TypeOf(arguments[i + 1]) != t.out[i]) return false;
  }
  return true;
}

// head(dot product) and finish(weighted sum, row scale).
bool CheckTileScores(const Kernel& kernel, const Op& op) {
  for (std::size_t i = 0; i < op.regions.size(); ++i) {
    if (op.regions[i].arguments.size() != i + 1) return false;
    for (const ValueId id : op.regions[i].arguments) {
      if (kernel.TypeOf(id) != kF32) return false;
    }
  }
  return true;
}

// Whether the rule holds; `wanted` says what it asks for.
bool Holds(const Kernel& kernel, const Op& op, const Types& t, std::string_view& wanted) {
  switch (RowOf(op.code).rule) {
    case TypeRule::kConst:
      wanted = "a number that fits i1, i32, i64 or f32";
      return CheckConst(op, t);
    case TypeRule::kNumeric:
      wanted = "operands and result of one type of i32, i64, f32 or vec of f32; mul also vec, f32";
      return CheckNumeric(op, t);
    case TypeRule::kFloat:
      wanted = "operands and result of one type of f32 or vec of f32";
      return AllEqual(t) && IsFloat(t.in[0]);
    case TypeRule::kExtend:
      wanted = "bf16, f16 or f32 to f32, scalar or vec";
      return CheckExtend(t);
    case TypeRule::kRope:
      wanted = "vec<D x f32>, vec<R x f32> -> vec<D x f32>, R a multiple of 4 and at most D";
      return CheckRope(t);
    case TypeRule::kHadamard:
      wanted = "vec<D x f32> -> vec<D x f32>, D a power of two";
      return CheckHadamard(t);
    case TypeRule::kEncode:
      wanted = "vec<D x f32> -> row<D x @F>, f32";
      return CheckEncode(t);
    case TypeRule::kRowScale:
      wanted = "row<D x @F> -> f32";
      return t.in[0].shape == Type::Shape::kRow && t.out[0] == kF32;
    case TypeRule::kDot:
      wanted = "rows<H x D x @F>, row<D x @F> -> vec<H x f32>, both of one format";
      return CheckDot(t);
    case TypeRule::kWeightedSum:
      wanted = "vec<H x f32>, vec<H x f32> -> f32";
      return CheckWeightedSum(t);
    case TypeRule::kBits:
      wanted = "operands and result of one type of i1, i32 or i64";
      return CheckBits(t);
    case TypeRule::kInteger:
      wanted = "operands and result of one type of i32 or i64";
      return CheckInteger(t);
    case TypeRule::kCompare:
      wanted = "two of one type of i32, i64 or f32 -> i1";
      return CheckCompare(t, false);
    case TypeRule::kCompareInteger:
      wanted = "two of one type of i32 or i64 -> i1";
      return CheckCompare(t, true);
    case TypeRule::kSelect:
      wanted = "i1 and two scalars of the result's type";
      return CheckSelect(t);
    case TypeRule::kBitcast:
      wanted = "i32 -> f32 or f32 -> i32";
      return (t.in[0] == kI32 && t.out[0] == kF32) || (t.in[0] == kF32 && t.out[0] == kI32);
    case TypeRule::kWiden:
      wanted = "i32 -> i64";
      return t.in[0] == kI32 && t.out[0] == kI64;
    case TypeRule::kNarrow:
      wanted = "i64 -> i32";
      return t.in[0] == kI64 && t.out[0] == kI32;
    case TypeRule::kBitsToF32:
      wanted = "i32 -> f32";
      return t.in[0] == kI32 && t.out[0] == kF32;
    case TypeRule::kF32ToBits:
      wanted = "f32 -> i32";
      return t.in[0] == kF32 && t.out[0] == kI32;
    case TypeRule::kEncodePair:
      wanted = "f32, f32 -> i32";
      return t.in[0] == kF32 && t.in[1] == kF32 && t.out[0] == kI32;
    case TypeRule::kDecodePair:
      wanted = "i32 -> f32, f32";
      return t.in[0] == kI32 && t.out[0] == kF32 && t.out[1] == kF32;
    case TypeRule::kIndex:
      wanted = "an i32 result";
      return t.out[0] == kI32;
    case TypeRule::kAddress:
      wanted = "ptr -> i64";
      return t.in[0] == kPtr && t.out[0] == kI64;
    case TypeRule::kLoad:
      wanted = "ptr, i64 -> the type that holds the memory attribute's";
      return t.in[0] == kPtr && t.in[1] == kI64 && t.out[0] == TypeInMemory(op);
    case TypeRule::kStore:
      wanted = "ptr, i64 and a value of the type that holds the memory attribute's";
      return t.in[0] == kPtr && t.in[1] == kI64 && t.in[2] == TypeInMemory(op);
    case TypeRule::kLoadShared:
      wanted = "i32 -> the type that holds the memory attribute's";
      return t.in[0] == kI32 && t.out[0] == TypeInMemory(op);
    case TypeRule::kStoreShared:
      wanted = "i32 and a value of the type that holds the memory attribute's";
      return t.in[0] == kI32 && t.in[1] == TypeInMemory(op);
    case TypeRule::kShuffle:
      wanted = "i32 or f32, and the same result";
      return AllEqual(t) && (t.in[0] == kI32 || t.in[0] == kF32) &&
             op.Get(AttributeKey::kMask) < 32;
    case TypeRule::kBallot:
      wanted = "i1 -> i32";
      return t.in[0] == kI1 && t.out[0] == kI32;
    case TypeRule::kFor:
      wanted = "first, end and step of one integer type, then values of the results' types";
      return CheckFor(t) && CheckForArguments(kernel, op, t);
    case TypeRule::kTileScores:
      wanted = "regions of (f32) and of (f32, f32)";
      return CheckTileScores(kernel, op);
    case TypeRule::kIf:
      wanted = "an i1 condition";
      return t.in[0] == kI1;
    case TypeRule::kNone:
    case TypeRule::kYield:
      break;
  }
  return true;
}

std::string List(const Module& module, const std::vector<Type>& types) {
  std::string list;
  for (const Type& type : types) list += (list.empty() ? "" : ", ") + PrintType(module, type);
  return list.empty() ? "nothing" : list;
}

}  // namespace

std::optional<std::string> CheckTypes(const Module& module, const Kernel& kernel, const Op& op) {
  Types types;
  for (const ValueId id : op.operands) types.in.push_back(kernel.TypeOf(id));
  for (const ValueId id : op.results) types.out.push_back(kernel.TypeOf(id));
  std::string_view wanted;
  if (Holds(kernel, op, types, wanted)) return std::nullopt;
  return fmt::format("{} wants {}; here it is {} -> {}", RowOf(op.code).mnemonic, wanted,
                     List(module, types.in), List(module, types.out));
}

}  // namespace lijit::ir
