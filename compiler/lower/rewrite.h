// SPDX-License-Identifier: Apache-2.0
// Replacing ops of an entry by other ops, in place.
#pragma once

#include <functional>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/module.h"

namespace lijit::lower {

// For every op of the kernel, regions first: if `replace` returns true, the ops that it emitted
// through the builder take the op's place, and `results` (one for each of the op's results) take
// the place of its results everywhere after. The builder appends to the same kernel.
using Replace =
    std::function<bool(const ir::Op& op, ir::Builder& builder, std::vector<ir::ValueId>& results)>;
void RewriteOps(ir::Kernel& kernel, const Replace& replace);

}  // namespace lijit::lower
