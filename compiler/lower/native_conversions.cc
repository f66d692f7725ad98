// SPDX-License-Identifier: Apache-2.0
// Replaces conversions by those of the target where the target has one that agrees in every bit.
#include <array>
#include <optional>

#include "compiler/ir/builder.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/rewrite.h"
#include "compiler/target/feature.h"

namespace lijit::lower {
namespace {

using ir::Builder;
using ir::ElementFormat;
using ir::OpCode;
using ir::ValueId;

// E2M1 as the instruction rounds it: ties to even, saturating, sign of zero kept, NaN to +6.
constexpr ElementFormat kNativeE2m1 = {.exponent = 2, .mantissa = 1, .bias = 1, .nan = 0x7};

struct NativeConversion {
  ElementFormat element;
  target::Feature feature;
  OpCode encode;
  OpCode decode;
};

std::array<NativeConversion, 2> Conversions() {
  return {{
      {ir::E4m3(), target::Feature::kE4m3Convert, OpCode::kCvtE4m3x2, OpCode::kCvtFromE4m3x2},
      {kNativeE2m1, target::Feature::kE2m1Convert, OpCode::kCvtE2m1x2, OpCode::kCvtFromE2m1x2},
  }};
}

// Whether two elements have the same codes for the same numbers: what decoding depends on.
bool SameCodes(const ElementFormat& a, const ElementFormat& b) {
  return a.exponent == b.exponent && a.mantissa == b.mantissa && a.bias == b.bias &&
         a.special == b.special;
}

// The packing says where nibbles lie in memory, not how one is rounded.
bool SameRounding(ElementFormat a, const ElementFormat& b) {
  a.packing = b.packing;
  return a == b;
}

std::optional<OpCode> NativeOp(const ElementFormat& element, OpCode code,
                               const target::Target& target) {
  for (const NativeConversion& row : Conversions()) {
    if (!target::Has(target, row.feature)) continue;
    if (code == OpCode::kEncodePair && SameRounding(element, row.element)) return row.encode;
    if (code == OpCode::kDecodePair && SameCodes(element, row.element)) return row.decode;
  }
  return std::nullopt;
}

// The instruction gives 0 for quotients up to 2^-127, where the format's smallest code is 1.
bool UseNativeScale(const ir::BlockScale& scale, const ir::Op& op, Builder& b,
                    std::vector<ValueId>& results) {
  if (scale.code != ir::ScaleCode::kUe8m0 || scale.rule != ir::ScaleRule::kPow2Ceil ||
      scale.nonfinite != ir::Nonfinite::kSaturate) {
    return false;
  }
  const ValueId code = b.Emit1(OpCode::kCvtUe8m0, op.operands, ir::ScalarType(ir::Scalar::kI32));
  results = {b.Binary(OpCode::kMaxU, code, b.I32(1))};
  return true;
}

bool UseNative(const ir::Module& module, const ir::Kernel& kernel, const target::Target& target,
               const ir::Op& op, Builder& b, std::vector<ValueId>& results) {
  const auto id = static_cast<ir::FormatId>(op.Get(ir::AttributeKey::kFormat, -1));
  if (id < 0) return false;
  const ir::Format& format = module.FormatOf(id);
  if (op.code == OpCode::kEncodeScale) {
    return target::Has(target, target::Feature::kUe8m0Convert) &&
           UseNativeScale(*format.block_scale, op, b, results);
  }
  const std::optional<OpCode> native = NativeOp(format.element, op.code, target);
  if (!native) return false;
  std::vector<ir::Type> types;
  for (const ValueId result : op.results) types.push_back(kernel.TypeOf(result));
  results = b.Emit(*native, op.operands, types);
  return true;
}

}  // namespace

Status UseNativeConversions(ir::Module& module, const target::Target& target) {
  for (ir::Kernel& kernel : module.kernels) {
    RewriteOps(kernel, [&](const ir::Op& op, Builder& b, std::vector<ValueId>& results) {
      return UseNative(module, kernel, target, op, b, results);
    });
  }
  return {};
}

}  // namespace lijit::lower
