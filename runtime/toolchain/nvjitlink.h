// SPDX-License-Identifier: Apache-2.0
// nvJitLink, used as an assembler of PTX, found and loaded at run time. Needs no driver and no GPU.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"
#include "runtime/toolchain/compilation.h"
#include "runtime/toolchain/environment.h"
#include "runtime/toolchain/library_search.h"

namespace lijit::runtime {

struct AssembleRequest {
  std::string ptx;
  std::string name;                  // for messages
  std::string target;                // "sm_86"
  std::vector<std::string> options;  // of ptxas: "-O1"; see CheckPtxasOption
};

class NvJitLink {
 public:
  // Unavailable lists where nvJitLink was looked for, with the reasons.
  static Result<std::shared_ptr<const NvJitLink>> Open(const SearchPaths& paths,
                                                       const Environment& environment);
  virtual ~NvJitLink() = default;

  virtual const std::string& path() const = 0;
  // "13.0.88", the exact build, for cache keys. The first call assembles an empty kernel.
  virtual const Result<std::string>& Version() const = 0;
  // Safe to call from many threads. InvalidArgument for options and unknown targets, Failed with
  // the log and the lines of PTX that it points at. The compilation's `kernels` are those that
  // ptxas reports.
  virtual Result<Compilation> Assemble(const AssembleRequest& request) const = 0;
};

}  // namespace lijit::runtime
