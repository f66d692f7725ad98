// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/lower/lower.h"

namespace lijit::lower {
namespace {

// Copies the formats and layouts that a kernel mentions, and renames them to their new places.
class Extraction {
 public:
  explicit Extraction(const ir::Module& from) : from_(from), formats_(from.formats.size(), -1) {}

  ir::Module Take(ir::Kernel kernel) {
    for (ir::ValueInfo& value : kernel.values) Visit(value.type);
    for (ir::Type& type : kernel.results) Visit(type);
    Visit(kernel.body);
    if (kernel.layout >= 0) {
      to_.layouts.push_back(from_.layouts[static_cast<std::size_t>(kernel.layout)]);
      kernel.layout = 0;
    }
    to_.kernels.push_back(std::move(kernel));
    return std::move(to_);
  }

 private:
  ir::FormatId Moved(ir::FormatId id) {
    ir::FormatId& moved = formats_[static_cast<std::size_t>(id)];
    if (moved < 0) {
      moved = static_cast<ir::FormatId>(to_.formats.size());
      to_.formats.push_back(from_.FormatOf(id));
    }
    return moved;
  }

  void Visit(ir::Type& type) {
    if (type.format >= 0) type.format = Moved(type.format);
  }

  void Visit(ir::Block& block) {
    for (ir::Op& op : block.ops) {
      for (ir::Attribute& attribute : op.attributes) {
        if (RowOf(attribute.key).kind == ir::AttributeKind::kFormat) {
          attribute.value = Moved(static_cast<ir::FormatId>(attribute.value));
        }
      }
      for (ir::Block& region : op.regions) Visit(region);
    }
  }

  const ir::Module& from_;
  ir::Module to_;
  std::vector<ir::FormatId> formats_;
};

}  // namespace

Result<ir::Module> ExtractKernel(const ir::Module& module, std::string_view name) {
  const ir::Kernel* kernel = module.FindKernel(name);
  if (kernel != nullptr) return Extraction(module).Take(*kernel);
  std::string known;
  for (const ir::Kernel& one : module.kernels) known += fmt::format(" @{}", one.name);
  return InvalidArgument(
      fmt::format("the module has no kernel @{}; it has{}", name, known.empty() ? " none" : known));
}

}  // namespace lijit::lower
