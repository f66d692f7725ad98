// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/module.h"

#include <utility>

namespace lijit::ir {
namespace {

template <typename T>
std::int32_t IndexOfName(const std::vector<T>& items, std::string_view name) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return static_cast<std::int32_t>(i);
  }
  return -1;
}

}  // namespace

std::int64_t Op::Get(AttributeKey key, std::int64_t fallback) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.key == key) return attribute.value;
  }
  return fallback;
}

ValueId Kernel::NewValue(Type type, std::string value_name) {
  values.push_back({type, std::move(value_name)});
  return static_cast<ValueId>(values.size() - 1);
}

FormatId Module::FindFormat(std::string_view name) const { return IndexOfName(formats, name); }

std::int32_t Module::FindLayout(std::string_view name) const { return IndexOfName(layouts, name); }

const Kernel* Module::FindKernel(std::string_view name) const {
  const std::int32_t index = IndexOfName(kernels, name);
  return index < 0 ? nullptr : &kernels[static_cast<std::size_t>(index)];
}

}  // namespace lijit::ir
