// SPDX-License-Identifier: Apache-2.0
// This process's compilers, opened once at their first use, and the backend that they make.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lijit/device.h"
#include "lijit/result.h"
#include "runtime/compile/backend_rule.h"
#include "runtime/toolchain/nvjitlink.h"
#include "runtime/toolchain/nvrtc.h"

namespace lijit::runtime {

// Unavailable says where it was looked for.
Result<std::shared_ptr<const Nvrtc>> ProcessNvrtc();
Result<std::shared_ptr<const NvJitLink>> ProcessNvJitLink();

// By the rule of backend_rule.h, from what this process finds; LIJIT_BACKEND stands for "auto".
Result<BackendChoice> ChooseBackend(std::string_view wanted, ImageKind image);

// What turns PTX into cubins.
struct Assembler {
  std::string name;     // "nvjitlink" or "driver"
  std::string version;  // the exact build: "13.0.88", "580.159.03, CUDA 13.0"
  std::string release;  // of CUDA, at its start: what PTX it reads
};

// nvJitLink, or where there is none the CUDA driver. Unavailable says why there is neither.
Result<Assembler> ProcessAssembler();

// The exact versions of a backend's compilers and of the language between them, for cache keys:
// "nvrtc 13.0.88 CL-36424714", "llvm 22.1.8, ptx 9.0, nvjitlink 13.0.88".
// AssemblerIn finds "nvjitlink" or "driver" again, "" if none is in it.
Result<std::string> CompilerVersion(std::string_view backend, ImageKind image);
std::string AssemblerIn(std::string_view compiler_version);

}  // namespace lijit::runtime
