// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/printer.h"

#include <fmt/format.h>

#include <map>

#include "compiler/ir/declarations.h"
#include "compiler/support/float_text.h"
#include "compiler/support/text_writer.h"

namespace lijit::ir {
namespace {

void AppendItem(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

std::string FieldText(const FieldRow& row, const void* group) {
  const std::int64_t value = row.get(group);
  if (row.kind == FieldKind::kInteger) return fmt::format("{} = {}", row.key, value);
  if (row.kind == FieldKind::kFloat) {
    const float number = FloatFromBits(static_cast<std::uint32_t>(value));
    return fmt::format("{} = {}", row.key, FloatToText(number));
  }
  return fmt::format("{} = {}", row.key, FieldKeywordText(row.kind, value));
}

std::string GroupText(FieldGroup group, const void* data) {
  std::string text;
  for (const FieldRow& row : AllFields()) {
    if (row.group == group) AppendItem(text, FieldText(row, data));
  }
  return text;
}

void PrintFormat(TextWriter& out, const Format& format) {
  out.Format("format @{} {{", format.name);
  {
    ScopedIndent indent(out);
    out.Format("element {{ {} }}", GroupText(FieldGroup::kElement, &format.element));
    if (format.block_scale) {
      out.Format("block_scale {{ {} }}", GroupText(FieldGroup::kBlockScale, &*format.block_scale));
    }
    if (format.row_scale) {
      out.Format("row_scale {{ {} }}", GroupText(FieldGroup::kRowScale, &*format.row_scale));
    }
  }
  out.Line("}");
}

class KernelPrinter {
 public:
  KernelPrinter(TextWriter& out, const Module& module, const Kernel& kernel)
      : out_(out), module_(module), kernel_(kernel), names_(kernel.values.size()) {}

  void Print() {
    std::string parameters;
    for (const ValueId id : kernel_.body.arguments) {
      AppendItem(parameters, fmt::format("{}: {}", Define(id), TypeText(kernel_.TypeOf(id))));
    }
    std::string head = fmt::format("{} @{} : {}", kernel_.is_entry ? "entry" : "kernel",
                                   kernel_.name, KernelKindName(kernel_.kind));
    if (kernel_.layout >= 0) {
      head += fmt::format(" layout @{}",
                          module_.layouts[static_cast<std::size_t>(kernel_.layout)].name);
    }
    if (kernel_.is_entry) {
      head += fmt::format(" threads {} tile {}, {} shared {}", kernel_.threads, kernel_.tile_rows,
                          kernel_.tile_columns, kernel_.shared_bytes);
    }
    out_.Format("{} ({}){} {{", head, parameters, ResultTypes(kernel_.results));
    PrintBlock(kernel_.body);
    out_.Line("}");
  }

 private:
  std::string TypeText(const Type& type) const { return PrintType(module_, type); }

  std::string ResultTypes(const std::vector<Type>& types) const {
    std::string list;
    for (const Type& type : types) AppendItem(list, TypeText(type));
    return types.empty() ? std::string() : fmt::format(" -> ({})", list);
  }

  // Names a value where it is defined: its own name, made unique, or the next number. A name of
  // digits only is a number, too: the parser takes it for one.
  std::string Define(ValueId id) {
    const std::string& wanted = kernel_.values[static_cast<std::size_t>(id)].name;
    const bool numbered = wanted.find_first_not_of("0123456789") == std::string::npos;
    std::string name = numbered ? fmt::format("{}", next_number_++) : wanted;
    for (int suffix = 2; !used_.emplace(name, id).second; ++suffix) {
      name = fmt::format("{}.{}", wanted, suffix);
    }
    names_[static_cast<std::size_t>(id)] = name;
    return "%" + name;
  }

  std::string Use(ValueId id) const { return "%" + names_[static_cast<std::size_t>(id)]; }

  std::string DefineAll(const std::vector<ValueId>& ids) {
    std::string list;
    for (const ValueId id : ids) AppendItem(list, Define(id));
    return list;
  }

  std::string UseAll(const std::vector<ValueId>& ids) const {
    std::string list;
    for (const ValueId id : ids) AppendItem(list, Use(id));
    return list;
  }

  std::string TypesOf(const std::vector<ValueId>& ids) const {
    std::string list;
    for (const ValueId id : ids) AppendItem(list, TypeText(kernel_.TypeOf(id)));
    return list;
  }

  std::string AttributeText(const Op& op) const {
    std::string list;
    for (const Attribute& attribute : op.attributes) {
      const AttributeRow& row = RowOf(attribute.key);
      std::string value;
      if (row.kind == AttributeKind::kInteger) {
        value = fmt::format("{}", attribute.value);
      } else if (row.kind == AttributeKind::kFormat) {
        value = "@" + module_.FormatOf(static_cast<FormatId>(attribute.value)).name;
      } else {
        value = KeywordText(row.kind, attribute.value);
      }
      AppendItem(list, fmt::format("{} = {}", row.text, value));
    }
    return list.empty() ? list : fmt::format(" {{ {} }}", list);
  }

  std::string ConstantText(const Op& op) const {
    if (kernel_.TypeOf(op.results[0]).IsF32()) {
      return FloatToText(FloatFromBits(static_cast<std::uint32_t>(op.constant)));
    }
    return fmt::format("{}", static_cast<std::int64_t>(op.constant));
  }

  void PrintBlock(const Block& block) {
    ScopedIndent indent(out_);
    for (const Op& op : block.ops) PrintOp(op);
  }

  void PrintOp(const Op& op) {
    if (op.code == OpCode::kFor) return PrintFor(op);
    if (op.code == OpCode::kIf) return PrintIf(op);
    if (op.code == OpCode::kTileScores) return PrintTileScores(op);
    std::string line;
    if (!op.results.empty()) line = DefineAll(op.results) + " = ";
    line += RowOf(op.code).mnemonic;
    if (op.code == OpCode::kConst) line += " " + ConstantText(op);
    if (!op.operands.empty()) line += " " + UseAll(op.operands);
    line += AttributeText(op);
    if (!op.results.empty()) line += " : " + TypesOf(op.results);
    out_.Line(line);
  }

  void PrintFor(const Op& op) {
    const Block& body = op.regions[0];
    std::string line = op.results.empty() ? "" : DefineAll(op.results) + " = ";
    line += fmt::format("for {} = {}, {}, {}", Define(body.arguments[0]), Use(op.operands[0]),
                        Use(op.operands[1]), Use(op.operands[2]));
    std::string carried;
    for (std::size_t i = 1; i < body.arguments.size(); ++i) {
      AppendItem(carried,
                 fmt::format("{} = {}", Define(body.arguments[i]), Use(op.operands[i + 2])));
    }
    if (!carried.empty()) line += fmt::format(" with ({})", carried);
    line += AttributeText(op);
    out_.Line(line + " {");
    PrintBlock(body);
    out_.Line("}");
  }

  void PrintIf(const Op& op) {
    std::string line = op.results.empty() ? "" : DefineAll(op.results) + " = ";
    line += fmt::format("if {}", Use(op.operands[0]));
    if (!op.results.empty()) line += " : " + TypesOf(op.results);
    out_.Line(line + " {");
    PrintBlock(op.regions[0]);
    out_.Line("} else {");
    PrintBlock(op.regions[1]);
    out_.Line("}");
  }

  void PrintTileScores(const Op& op) {
    const auto arguments = [&](const Block& region) {
      std::string list;
      for (const ValueId id : region.arguments) AppendItem(list, Define(id) + ": f32");
      return list;
    };
    out_.Format("tile_scores{} head ({}) {{", AttributeText(op), arguments(op.regions[0]));
    PrintBlock(op.regions[0]);
    out_.Format("}} finish ({}) {{", arguments(op.regions[1]));
    PrintBlock(op.regions[1]);
    out_.Line("}");
  }

  TextWriter& out_;
  const Module& module_;
  const Kernel& kernel_;
  std::vector<std::string> names_;
  std::map<std::string, ValueId> used_;
  int next_number_ = 0;
};

}  // namespace

std::string PrintType(const Module& module, const Type& type) {
  const auto format = [&] { return "@" + module.FormatOf(type.format).name; };
  switch (type.shape) {
    case Type::Shape::kScalar:
      return std::string(ScalarName(type.scalar));
    case Type::Shape::kVec:
      return fmt::format("vec<{} x {}>", type.dim, ScalarName(type.scalar));
    case Type::Shape::kRow:
      return fmt::format("row<{} x {}>", type.dim, format());
    case Type::Shape::kRows:
      break;
  }
  return fmt::format("rows<{} x {} x {}>", type.heads, type.dim, format());
}

std::string Print(const Module& module) {
  TextWriter out;
  for (const Format& format : module.formats) PrintFormat(out, format);
  for (const Layout& layout : module.layouts) {
    out.Format("layout @{} {{ {} }}", layout.name, GroupText(FieldGroup::kLayout, &layout));
  }
  for (const Kernel& kernel : module.kernels) KernelPrinter(out, module, kernel).Print();
  return out.Take();
}

}  // namespace lijit::ir
