// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/verifier.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/ir/printer.h"
#include "compiler/ir/verify_ops.h"
#include "compiler/support/float_text.h"

namespace lijit::ir {
namespace {

using Diagnostics = std::vector<Diagnostic>;

template <typename T>
bool IsOneOf(T value, std::initializer_list<T> accepted) {
  for (const T one : accepted) {
    if (value == one) return true;
  }
  return false;
}

void VerifyElement(const Format& format, Diagnostics& out) {
  const ElementFormat& e = format.element;
  const auto report = [&](const char* rule, std::string message) {
    out.push_back({format.location, rule, std::move(message)});
  };
  if (e.exponent < 1 || e.exponent > 8 || e.mantissa > 10 || !IsOneOf(e.Bits(), {4, 8, 16})) {
    report("element-bits",
           fmt::format("an element of 1 + {} + {} bits cannot be stored; the exponent has 1 to 8 "
                       "bits, the mantissa at most 10, and all are 4, 8 or 16",
                       e.exponent, e.mantissa));
    return;
  }
  const int top = (1 << e.exponent) - 1 - (e.special == Special::kIeee ? 1 : 0) - e.bias;
  if (e.bias < 1 || e.bias > 127 || top > 127) {
    report("element-bits", fmt::format("bias {} puts magnitudes outside of f32", e.bias));
  }
  if (e.nan < 0 || e.nan >= 1 << e.Bits()) {
    report("element-nan",
           fmt::format("{:#x}, which NaN is to become, is no code of {} bits", e.nan, e.Bits()));
  }
  if (e.overflow == Overflow::kInfinity && e.special != Special::kIeee) {
    report("element-nan", "overflow = infinity needs special = ieee, which has an infinity");
  }
}

void VerifyScales(const Format& format, Diagnostics& out) {
  const auto report = [&](const char* rule, std::string message) {
    out.push_back({format.location, rule, std::move(message)});
  };
  const auto bad_floor = [](float floor) { return !std::isfinite(floor) || floor < 0; };
  const auto check_reach = [&](const char* rule) {
    const float max = format.element.Max();
    if (max >= 1) return;
    report(rule,
           fmt::format("an element with a scale reaches 1, so that a / max is an f32; this one "
                       "ends at {}",
                       FloatToText(max)));
  };
  if (const auto& block = format.block_scale) {
    check_reach("block-scale");
    if (!IsOneOf(block->size, {16, 32})) {
      report("block-scale", fmt::format("a block has 16 or 32 elements, not {}", block->size));
    }
    if (bad_floor(block->floor)) report("block-scale", "the floor is finite and not negative");
    const bool exact = block->rule == ScaleRule::kExact;
    if (block->code == ScaleCode::kUe8m0 && exact) {
      report("block-scale", "ue8m0 holds powers of two only; the exact rule gives others");
    }
    if (block->code == ScaleCode::kUe8m0 && format.row_scale) {
      report("block-scale", "ue8m0 spans all of f32 and takes no row_scale");
    }
    if (block->code == ScaleCode::kE4m3 && (!exact || !format.row_scale)) {
      report("block-scale", "e4m3 needs the exact rule and a row_scale that keeps it in range");
    }
  }
  if (const auto& row = format.row_scale) {
    check_reach("row-scale");
    const float max = format.element.Max() * (format.block_scale ? E4m3().Max() : 1.0f);
    if (bad_floor(row->floor) || !std::isnormal(row->floor / max)) {
      report("row-scale",
             fmt::format("the floor is finite and large enough that floor / {} is a normal f32",
                         FloatToText(max)));
    }
    if (!IsOneOf(row->rule, {ScaleRule::kExact, ScaleRule::kPow2Ceil})) {
      report("row-scale", "the rule of a row_scale is exact or pow2_ceil");
    }
  }
}

void VerifyLayout(const Layout& layout, Diagnostics& out) {
  if (!IsOneOf(layout.tokens, {16, 32, 64, 128, 256})) {
    out.push_back(
        {layout.location, "layout",
         fmt::format("a page holds 16, 32, 64, 128 or 256 tokens, not {}", layout.tokens)});
  }
  if (layout.align < 64 || (layout.align & (layout.align - 1)) != 0) {
    out.push_back({layout.location, "layout",
                   fmt::format("a page base is aligned to a power of two of at least 64, not {}",
                               layout.align)});
  }
}

class KernelVerifier {
 public:
  KernelVerifier(const Module& module, const Kernel& kernel, Diagnostics& out)
      : module_(module), kernel_(kernel), out_(out), defined_(kernel.values.size(), false) {}

  void Run() {
    kernel_.is_entry ? VerifyLaunch() : VerifySignature();
    VerifyLayoutUse();
    VerifyBlock(kernel_.body, kernel_.results);
  }

 private:
  void Report(SourceLocation location, const char* rule, std::string message) {
    out_.push_back({location, rule, std::move(message)});
  }

  void VerifyLaunch() {
    if (kernel_.threads < 32 || kernel_.threads > 1024 || kernel_.threads % 32 != 0 ||
        kernel_.tile_rows < 1 || kernel_.tile_columns < 1) {
      Report(kernel_.location, "launch",
             "an entry has 32 to 1024 threads in whole warps and tiles of at least one row and "
             "column");
    }
    bool plain = kernel_.results.empty();
    for (const ValueId id : kernel_.body.arguments) {
      const Type& type = kernel_.TypeOf(id);
      plain = plain && (type.IsScalar(Scalar::kPtr) || type.IsScalar(Scalar::kI64));
    }
    if (!plain) {
      Report(kernel_.location, "signature",
             "an entry's parameters are of ptr and i64, and it has no results");
    }
  }

  // The text of a kernel kind's signature, and whether this kernel has it.
  bool SignatureHolds(std::string& expected) const {
    std::vector<Type> p;
    for (const ValueId id : kernel_.body.arguments) p.push_back(kernel_.TypeOf(id));
    const std::vector<Type>& r = kernel_.results;
    const auto is_input = [](const Type& type) {
      return IsOneOf(type.scalar, {Scalar::kF32, Scalar::kBf16, Scalar::kF16});
    };
    const auto is_row = [](const Type& type) { return type.shape == Type::Shape::kRow; };
    const auto is_table = [](const Type& type) {
      return type.IsVec() && type.scalar == Scalar::kF32;
    };
    switch (kernel_.kind) {
      case KernelKind::kQuantizeQuery:
        expected =
            "(vec<D x f32|bf16|f16>, f32|bf16|f16 [, rope table vec<R x f32>]) -> (row<D x @F>, "
            "f32)";
        return (p.size() == 2 || (p.size() == 3 && is_table(p[2]))) && p[0].IsVec() &&
               is_input(p[0]) && p[1].IsScalar() && is_input(p[1]) && r.size() == 2 &&
               is_row(r[0]) && r[0].dim == p[0].dim && r[1].IsF32();
      case KernelKind::kWriteCache:
        expected = "(vec<D x f32|bf16|f16> [, rope table vec<R x f32>]) -> (row<D x @F>)";
        return (p.size() == 1 || (p.size() == 2 && is_table(p[1]))) && p[0].IsVec() &&
               is_input(p[0]) && r.size() == 1 && is_row(r[0]) && r[0].dim == p[0].dim;
      case KernelKind::kGatherCache:
        expected = "(row<D x @F>) -> (row<D x @F>)";
        return p.size() == 1 && is_row(p[0]) && r.size() == 1 && r[0] == p[0];
      case KernelKind::kLogitsRagged:
      case KernelKind::kLogitsPaged:
        expected = "(rows<H x D x @F>, row<D x @F>, vec<H x f32>) -> (f32)";
        return p.size() == 3 && p[0].shape == Type::Shape::kRows && is_row(p[1]) &&
               p[0].dim == p[1].dim && p[2].IsVec() && p[2].scalar == Scalar::kF32 &&
               p[2].dim == p[0].heads && r.size() == 1 && r[0].IsF32();
      case KernelKind::kTopK:
        break;
    }
    expected = "(f32) -> (f32)";
    return p.size() == 1 && p[0].IsF32() && r.size() == 1 && r[0].IsF32();
  }

  void VerifySignature() {
    std::string expected;
    if (!SignatureHolds(expected)) {
      Report(kernel_.location, "signature",
             fmt::format("a {} kernel is {}", KernelKindName(kernel_.kind), expected));
    }
    for (const ValueId id : kernel_.body.arguments) {
      VerifyDimensions(kernel_.location, kernel_.TypeOf(id));
    }
    for (const Type& type : kernel_.results) VerifyDimensions(kernel_.location, type);
  }

  void VerifyDimensions(SourceLocation location, const Type& type) {
    if (type.shape != Type::Shape::kRow && type.shape != Type::Shape::kRows) return;
    const Format& format = module_.FormatOf(type.format);
    if (!IsOneOf(type.dim, {32, 64, 128, 256}) || type.dim % format.BlockSize(type.dim) != 0) {
      Report(location, "dimensions",
             fmt::format("head_dim is 32, 64, 128 or 256 and whole blocks of @{}, not {}",
                         format.name, type.dim));
    }
    if (type.shape == Type::Shape::kRows && !IsOneOf(type.heads, {8, 16, 32, 64, 128})) {
      Report(location, "dimensions",
             fmt::format("heads are 8, 16, 32, 64 or 128, not {}", type.heads));
    }
  }

  void VerifyLayoutUse() {
    const bool uses_pages =
        IsOneOf(kernel_.kind,
                {KernelKind::kWriteCache, KernelKind::kGatherCache, KernelKind::kLogitsPaged});
    if (uses_pages != (kernel_.layout >= 0)) {
      Report(kernel_.location, "layout-use",
             fmt::format("a {} kernel {}", KernelKindName(kernel_.kind),
                         uses_pages ? "says the layout of its pages: layout @name"
                                    : "has no pages and no layout"));
    }
  }

  bool LevelFits(const OpRow& row) const {
    if (row.level == Level::kAny) return true;
    return kernel_.is_entry == (row.level != Level::kHigh);
  }

  void VerifyBlock(const Block& block, const std::vector<Type>& yields) {
    std::vector<ValueId> scope = block.arguments;
    for (const ValueId id : scope) defined_[static_cast<std::size_t>(id)] = true;
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
      const Op& op = block.ops[i];
      VerifyOperation(op);
      if ((op.code == OpCode::kYield) != (i + 1 == block.ops.size())) {
        Report(op.location, "yield", "a region ends in its only yield");
      }
      for (const ValueId id : op.results) {
        defined_[static_cast<std::size_t>(id)] = true;
        scope.push_back(id);
      }
    }
    VerifyYield(block, yields);
    // What a region defines is not seen outside of it.
    for (const ValueId id : scope) defined_[static_cast<std::size_t>(id)] = false;
  }

  void VerifyYield(const Block& block, const std::vector<Type>& yields) {
    if (block.ops.empty()) {
      return Report(kernel_.location, "yield", "a region ends in a yield; this one is empty");
    }
    const Op& last = block.ops.back();
    bool equal = last.operands.size() == yields.size();
    for (std::size_t i = 0; equal && i < yields.size(); ++i) {
      equal = kernel_.TypeOf(last.operands[i]) == yields[i];
    }
    if (!equal) {
      std::string list;
      for (const Type& type : yields) list += (list.empty() ? "" : ", ") + PrintType(module_, type);
      Report(last.location, "yield", fmt::format("this region yields ({})", list));
    }
  }

  void VerifyOperation(const Op& op) {
    const OpRow& row = RowOf(op.code);
    if (!LevelFits(row)) {
      Report(op.location, "level",
             fmt::format("{} is not an op of {}", row.mnemonic,
                         kernel_.is_entry ? "an entry" : "a kernel"));
    }
    for (const ValueId id : op.operands) {
      if (!defined_[static_cast<std::size_t>(id)]) {
        Report(op.location, "dominance",
               fmt::format("operand %{} is not defined before here",
                           kernel_.values[static_cast<std::size_t>(id)].name));
        return;
      }
    }
    for (const ValueId id : op.results) VerifyDimensions(op.location, kernel_.TypeOf(id));
    VerifyAttributes(op, row);
    if (!VerifyCounts(op, row)) return;
    if (auto problem = CheckTypes(module_, kernel_, op)) {
      Report(op.location, "type-mismatch", std::move(*problem));
    }
    VerifyRegions(op);
  }

  void VerifyAttributes(const Op& op, const OpRow& row) {
    for (const AttributeRow& attribute : AllAttributes()) {
      int count = 0;
      for (const Attribute& given : op.attributes) count += given.key == attribute.key ? 1 : 0;
      const AttributeUse use = UseOf(row, attribute.key);
      if (count > (use == AttributeUse::kNo ? 0 : 1) ||
          (count == 0 && use == AttributeUse::kRequired)) {
        Report(
            op.location, "attributes",
            fmt::format("{} {} attribute '{}'", row.mnemonic,
                        use == AttributeUse::kNo ? "has no" : "has exactly one", attribute.text));
      }
    }
  }

  bool VerifyCounts(const Op& op, const OpRow& row) {
    const std::size_t regions = RegionsOf(op.code);
    const bool operands =
        row.operands < 0 || op.operands.size() == static_cast<std::size_t>(row.operands);
    const bool results =
        row.results < 0 || op.results.size() == static_cast<std::size_t>(row.results);
    if (operands && results && op.regions.size() == regions) return true;
    Report(op.location, "operands",
           fmt::format("{} takes {} operands and has {} results, here {} and {}", row.mnemonic,
                       row.operands, row.results, op.operands.size(), op.results.size()));
    return false;
  }

  void VerifyRegions(const Op& op) {
    std::vector<Type> yields;
    for (const ValueId id : op.results) yields.push_back(kernel_.TypeOf(id));
    if (op.code == OpCode::kTileScores) yields = {ScalarType(Scalar::kF32)};
    for (const Block& region : op.regions) VerifyBlock(region, yields);
  }

  const Module& module_;
  const Kernel& kernel_;
  Diagnostics& out_;
  std::vector<bool> defined_;
};

}  // namespace

std::vector<Diagnostic> Verify(const Module& module) {
  Diagnostics out;
  for (const Format& format : module.formats) {
    const std::size_t before = out.size();
    VerifyElement(format, out);
    // The scales of an element that is none have no meaning.
    if (out.size() == before) VerifyScales(format, out);
  }
  for (const Layout& layout : module.layouts) VerifyLayout(layout, out);
  // Kernels of unsound formats would only repeat what is wrong.
  if (!out.empty()) return out;
  for (const Kernel& kernel : module.kernels) KernelVerifier(module, kernel, out).Run();
  return out;
}

}  // namespace lijit::ir
