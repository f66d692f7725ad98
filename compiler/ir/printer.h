// SPDX-License-Identifier: Apache-2.0
// The canonical text of a module. Parsing it gives the same module; printing that gives the same
// text. It is what the cache key holds.
#pragma once

#include <string>

#include "compiler/ir/module.h"

namespace lijit::ir {

std::string Print(const Module& module);
std::string PrintType(const Module& module, const Type& type);

}  // namespace lijit::ir
