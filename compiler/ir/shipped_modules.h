// SPDX-License-Identifier: Apache-2.0
// The .lir files of compiler/modules: formats.lir and the models' kernels.
#pragma once

#include <span>

#include "compiler/support/embedded_file.h"

namespace lijit::ir {

std::span<const EmbeddedFile> ShippedModules();

}  // namespace lijit::ir
