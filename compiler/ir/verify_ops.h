// SPDX-License-Identifier: Apache-2.0
// The type rules of ops.def, one function each.
#pragma once

#include <optional>
#include <string>

#include "compiler/ir/module.h"

namespace lijit::ir {

// What is wrong with the op's types; nothing if they obey the rule of its row. The numbers of
// operands and results are already known to be the row's.
std::optional<std::string> CheckTypes(const Module& module, const Kernel& kernel, const Op& op);

}  // namespace lijit::ir
