// SPDX-License-Identifier: Apache-2.0
// This process's compilers, opened once at their first use, and the rule that picks a backend.
#pragma once

#include <memory>
#include <string>

#include "lijit/result.h"
#include "runtime/toolchain/nvrtc.h"

namespace lijit::runtime {

// Unavailable says where it was looked for.
Result<std::shared_ptr<const Nvrtc>> ProcessNvrtc();

// "cuda" or "auto" give "cuda". Unavailable for "ptx", which this build does not have;
// InvalidArgument for anything else.
Result<std::string> ChooseBackend(const std::string& wanted);

// The exact version of a backend's compilers, for cache keys.
Result<std::string> CompilerVersion(const std::string& backend);

}  // namespace lijit::runtime
