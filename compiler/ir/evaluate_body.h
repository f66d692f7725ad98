// SPDX-License-Identifier: Apache-2.0
// Walks the body of a kernel (not of an entry) once: per row, or per (query, key) pair.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "compiler/ir/evaluate_codes.h"
#include "compiler/ir/module.h"

namespace lijit::ir {

// A value of the body. Which member holds it follows from its type: an f32 is one number.
struct EvaluatedValue {
  std::vector<float> numbers;                          // f32, vec
  std::int64_t integer = 0;                            // i1, i32, i64
  std::shared_ptr<const std::vector<StoredRow>> rows;  // row (one), rows (one a head)
};

EvaluatedValue NumberValue(float number);
EvaluatedValue NumbersValue(std::vector<float> numbers);
EvaluatedValue RowsValue(std::vector<StoredRow> rows);
EvaluatedValue RowValue(StoredRow row);

class BodyEvaluator {
 public:
  // Both must be sound (verifier.h) and outlive this.
  BodyEvaluator(const Module& module, const Kernel& kernel);

  // The kernel's results for these parameters.
  std::vector<EvaluatedValue> Run(const std::vector<EvaluatedValue>& parameters) const;

  // The codes of the format of a row or rows type.
  const FormatCodes& CodesOf(const Type& type) const { return codes_.at(type.format); }

 private:
  using Values = std::vector<EvaluatedValue>;

  void RunOp(const Op& op, Values& values) const;
  std::vector<EvaluatedValue> Results(const Op& op, const Values& operands) const;

  const Module& module_;
  const Kernel& kernel_;
  std::map<FormatId, FormatCodes> codes_;
};

}  // namespace lijit::ir
