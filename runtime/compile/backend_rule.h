// SPDX-License-Identifier: Apache-2.0
// Which backend compiles, as a function of what there is.
//
// "auto" takes the backend that gives the first result soonest: ptx, whose compilers need no front
// end for C++ (docs/performance.md), if LLVM is built in and, for cubins, nvJitLink is found; else
// cuda, if NVRTC is found; else ptx with the CUDA driver as the assembler, which needs a context
// and makes cubins for the devices that are here alone. Which kernels a backend supports is not
// asked here, but by ChooseWay.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lijit/device.h"
#include "lijit/result.h"

namespace lijit::runtime {

// Each says why a compiler cannot be used, "" if it can. Called only where it matters, since
// looking means loading.
struct CompilerProbes {
  std::function<std::string()> llvm;
  std::function<std::string()> nvjitlink;
  std::function<std::string()> driver;
  std::function<std::string()> nvrtc;
};

struct BackendChoice {
  std::string name;    // "cuda" or "ptx"
  std::string reason;  // about what was wanted and what there is, the assembler included
};

// InvalidArgument: no such backend. Unavailable: a compiler of the backend is missing, or those of
// all; the message has the reasons.
Result<BackendChoice> ChooseBackend(std::string_view wanted, ImageKind image,
                                    const CompilerProbes& problem_of);

}  // namespace lijit::runtime
