// SPDX-License-Identifier: Apache-2.0
// The types of the IR. A scalar; a vector of scalars; one stored row of a format; the rows of all
// heads of one query.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lijit::ir {

enum class Scalar : std::uint8_t {
#define SCALAR(enumerator, text, bytes, doc) enumerator,
#include "compiler/ir/scalars.def"
};

std::string_view ScalarName(Scalar scalar);
std::optional<Scalar> ScalarFromName(std::string_view name);
// Bytes of one value in memory.
int ScalarBytes(Scalar scalar);

// Index of a format in its module.
using FormatId = std::int32_t;

struct Type {
  enum class Shape : std::uint8_t { kScalar, kVec, kRow, kRows };

  Shape shape = Shape::kScalar;
  Scalar scalar = Scalar::kI32;  // of kScalar and kVec
  std::int32_t heads = 0;        // of kRows
  std::int32_t dim = 0;          // of kVec (elements), kRow and kRows
  FormatId format = -1;          // of kRow and kRows

  bool operator==(const Type&) const = default;

  bool IsScalar() const { return shape == Shape::kScalar; }
  bool IsScalar(Scalar which) const { return IsScalar() && scalar == which; }
  bool IsVec() const { return shape == Shape::kVec; }
  bool IsF32() const { return IsScalar(Scalar::kF32); }
  bool IsInteger() const { return IsScalar(Scalar::kI32) || IsScalar(Scalar::kI64); }
};

constexpr Type ScalarType(Scalar scalar) { return {Type::Shape::kScalar, scalar, 0, 0, -1}; }
constexpr Type VecType(std::int32_t dim, Scalar scalar) {
  return {Type::Shape::kVec, scalar, 0, dim, -1};
}
constexpr Type RowType(std::int32_t dim, FormatId format) {
  return {Type::Shape::kRow, Scalar::kI32, 0, dim, format};
}
constexpr Type RowsType(std::int32_t heads, std::int32_t dim, FormatId format) {
  return {Type::Shape::kRows, Scalar::kI32, heads, dim, format};
}

}  // namespace lijit::ir
