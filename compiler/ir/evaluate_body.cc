// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/evaluate_body.h"

#include <cmath>
#include <limits>
#include <utility>

#include "compiler/support/float_text.h"
#include "lijit/result.h"

namespace lijit::ir {
namespace {

using Values = std::vector<EvaluatedValue>;
using Numbers = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float Max(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return kNan;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

float Min(float a, float b) { return -Max(-a, -b); }

// One number each of up to three operands; an op that has fewer ignores the rest.
float Compute(const Op& op, float a, float b, float c) {
  switch (op.code) {
    case OpCode::kAdd:
      return a + b;
    case OpCode::kSub:
      return a - b;
    case OpCode::kMul:
      return a * b;
    case OpCode::kDiv:
      return a / b;
    case OpCode::kFma:
      return std::fma(a, b, c);
    case OpCode::kMax:
      return Max(a, b);
    case OpCode::kMin:
      return Min(a, b);
    case OpCode::kAbs:
      return std::fabs(a);
    case OpCode::kRelu:
      return Max(a, 0.0f);
    case OpCode::kExtend:
      return a;
    case OpCode::kRound:
      return static_cast<Half>(op.Get(AttributeKey::kTo)) == Half::kBf16 ? RoundToBf16(a)
                                                                         : RoundToF16(a);
    default:
      break;
  }
  AbortAt(__FILE__, __LINE__, "an op of entries in a kernel");
}

// Element by element; a scalar operand stands for a vector of it.
Numbers Elementwise(const Op& op, const Values& operands) {
  Numbers out(operands[0].numbers.size());
  const auto at = [&](std::size_t operand, std::size_t i) {
    if (operand >= operands.size()) return 0.0f;
    const Numbers& numbers = operands[operand].numbers;
    return numbers.size() == 1 ? numbers[0] : numbers[i];
  };
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = Compute(op, at(0, i), at(1, i), at(2, i));
  return out;
}

// Integers wrap in 32 or 64 bits.
std::int64_t ComputeInteger(const Op& op, const Type& type, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  const std::uint64_t wide = op.code == OpCode::kAdd   ? x + y
                             : op.code == OpCode::kSub ? x - y
                                                       : x * y;
  return type.IsScalar(Scalar::kI32) ? static_cast<std::int32_t>(wide)
                                     : static_cast<std::int64_t>(wide);
}

EvaluatedValue Constant(const Op& op, const Type& type) {
  if (type.IsF32()) return NumberValue(FloatFromBits(static_cast<std::uint32_t>(op.constant)));
  const auto wide = static_cast<std::int64_t>(op.constant);
  const bool narrow = type.IsScalar(Scalar::kI32);
  return {{}, narrow ? static_cast<std::int32_t>(wide) : wide, nullptr};
}

// Rotates pairs of the first or last table.size() numbers; the table row is [cos | sin].
Numbers Rope(const Op& op, Numbers x, const Numbers& table) {
  const std::size_t half = table.size() / 2;
  const bool last = static_cast<RopePlace>(op.Get(AttributeKey::kPlace)) == RopePlace::kLast;
  const bool neox = static_cast<RopeStyle>(op.Get(AttributeKey::kStyle)) == RopeStyle::kNeox;
  const std::size_t first = last ? x.size() - table.size() : 0;
  for (std::size_t i = 0; i < half; ++i) {
    float& even = x[first + (neox ? i : 2 * i)];
    float& odd = x[first + (neox ? i + half : 2 * i + 1)];
    const float a = even;
    const float b = odd;
    even = a * table[i] - b * table[half + i];
    odd = b * table[i] + a * table[half + i];
  }
  return x;
}

Numbers Hadamard(Numbers x) {
  for (std::size_t distance = 1; distance < x.size(); distance *= 2) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i / distance % 2 == 1) continue;
      const float a = x[i];
      const float b = x[i + distance];
      x[i] = a + b;
      x[i + distance] = a - b;
    }
  }
  return x;
}

// The chain of fused multiply-adds over block `block` of two rows.
float BlockDot(const StoredRow& q, const StoredRow& k, std::size_t block, std::size_t size) {
  float sum = 0;
  for (std::size_t i = block * size; i < (block + 1) * size; ++i) {
    sum = std::fma(q.elements[i], k.elements[i], sum);
  }
  return sum;
}

float ApplyScales(const BlockScale& scale, const StoredRow& q, const StoredRow& k,
                  std::size_t block, float sum) {
  if (scale.code == ScaleCode::kE4m3) return sum * (q.block_scales[block] * k.block_scales[block]);
  if (std::isnan(q.block_scales[block]) || std::isnan(k.block_scales[block])) return kNan;
  return std::ldexp(sum, q.scale_codes[block] + k.scale_codes[block] - 254);
}

float Dot(const Format& format, const StoredRow& q, const StoredRow& k) {
  const std::size_t dim = q.elements.size();
  if (!format.block_scale) return BlockDot(q, k, 0, dim);
  const auto size = static_cast<std::size_t>(format.block_scale->size);
  float x = 0;
  for (std::size_t block = 0; block < dim / size; ++block) {
    const float term = ApplyScales(*format.block_scale, q, k, block, BlockDot(q, k, block, size));
    x = block == 0 ? term : x + term;
  }
  return x;
}

// Four chains of fused multiply-adds over the heads, as four lanes hold them (docs/numerics.md).
float WeightedSum(const Numbers& values, const Numbers& weights) {
  float sums[4] = {};
  for (std::size_t head = 0; head < values.size(); ++head) {
    float& sum = sums[head / 2 % 4];
    sum = std::fma(values[head], weights[head], sum);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

EvaluatedValue NumberValue(float number) { return NumbersValue({number}); }

EvaluatedValue NumbersValue(std::vector<float> numbers) { return {std::move(numbers), 0, nullptr}; }

EvaluatedValue RowsValue(std::vector<StoredRow> rows) {
  return {{}, 0, std::make_shared<const std::vector<StoredRow>>(std::move(rows))};
}

EvaluatedValue RowValue(StoredRow row) {
  std::vector<StoredRow> rows;
  rows.push_back(std::move(row));
  return RowsValue(std::move(rows));
}

BodyEvaluator::BodyEvaluator(const Module& module, const Kernel& kernel)
    : module_(module), kernel_(kernel) {
  LIJIT_CHECK(!kernel.is_entry);
  for (const ValueInfo& value : kernel.values) {
    const FormatId id = value.type.format;
    if (id >= 0) codes_.try_emplace(id, module.FormatOf(id));
  }
}

std::vector<EvaluatedValue> BodyEvaluator::Run(
    const std::vector<EvaluatedValue>& parameters) const {
  LIJIT_CHECK(parameters.size() == kernel_.body.arguments.size());
  Values values(kernel_.values.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    values[static_cast<std::size_t>(kernel_.body.arguments[i])] = parameters[i];
  }
  Values results;
  for (const Op& op : kernel_.body.ops) {
    if (op.code != OpCode::kYield) RunOp(op, values);
  }
  for (const ValueId id : kernel_.body.ops.back().operands) {
    results.push_back(values[static_cast<std::size_t>(id)]);
  }
  return results;
}

void BodyEvaluator::RunOp(const Op& op, Values& values) const {
  Values operands;
  for (const ValueId id : op.operands) operands.push_back(values[static_cast<std::size_t>(id)]);
  Values results = Results(op, operands);
  for (std::size_t i = 0; i < results.size(); ++i) {
    values[static_cast<std::size_t>(op.results[i])] = std::move(results[i]);
  }
}

std::vector<EvaluatedValue> BodyEvaluator::Results(const Op& op, const Values& operands) const {
  const Type& type = kernel_.TypeOf(op.results[0]);
  switch (op.code) {
    case OpCode::kConst:
      return {Constant(op, type)};
    case OpCode::kRope:
      return {NumbersValue(Rope(op, operands[0].numbers, operands[1].numbers))};
    case OpCode::kHadamard:
      return {NumbersValue(Hadamard(operands[0].numbers))};
    case OpCode::kEncode: {
      StoredRow row = CodesOf(type).Encode(operands[0].numbers);
      const float scale = row.row_scale;
      return {RowValue(std::move(row)), NumberValue(scale)};
    }
    case OpCode::kRowScale:
      return {NumberValue(operands[0].rows->front().row_scale)};
    case OpCode::kDot: {
      const Format& format = module_.FormatOf(kernel_.TypeOf(op.operands[0]).format);
      Numbers dots;
      for (const StoredRow& q : *operands[0].rows) {
        dots.push_back(Dot(format, q, operands[1].rows->front()));
      }
      return {NumbersValue(std::move(dots))};
    }
    case OpCode::kWeightedSum:
      return {NumberValue(WeightedSum(operands[0].numbers, operands[1].numbers))};
    default:
      break;
  }
  if (!type.IsInteger()) return {NumbersValue(Elementwise(op, operands))};
  return {{{}, ComputeInteger(op, type, operands[0].integer, operands[1].integer), nullptr}};
}

}  // namespace lijit::ir
