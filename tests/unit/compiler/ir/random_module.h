// SPDX-License-Identifier: Apache-2.0
// Sound modules made at random through the Builder, for printing and parsing.
#pragma once

#include "compiler/ir/module.h"

namespace lijit::ir {

// Formats, layouts, a kernel and an entry; the same for the same seed.
Module RandomModule(unsigned seed);

}  // namespace lijit::ir
