// SPDX-License-Identifier: Apache-2.0
// The device-code skeletons of templates/.
#pragma once

#include <span>

#include "compiler/support/embedded_file.h"

namespace lijit::codegen {

std::span<const EmbeddedFile> Templates();

}  // namespace lijit::codegen
