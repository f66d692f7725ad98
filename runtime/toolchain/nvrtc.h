// SPDX-License-Identifier: Apache-2.0
// NVRTC, CUDA's run-time compiler, found and loaded at run time. Needs no driver and no GPU.
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

struct CompileRequest {
  std::string source;                // CUDA C++17 that includes nothing
  std::string name;                  // stands for a file name in messages: "paged_logits.cu"
  std::string architecture;          // "sm_86" makes a cubin, "compute_86" PTX
  std::vector<std::string> options;  // more options, in order; see nvrtc_options.def
  std::vector<std::string> kernels;  // names as in the source; templates are instantiated
};

class Nvrtc {
 public:
  // Unavailable lists where NVRTC was looked for, with the reasons.
  static Result<std::shared_ptr<const Nvrtc>> Open(const SearchPaths& paths,
                                                   const Environment& environment);
  virtual ~Nvrtc() = default;

  virtual const std::string& path() const = 0;
  // "13.0.88 CL-36424714", the exact build, for cache keys. The first call compiles an empty
  // program, which takes some 20 ms.
  virtual const Result<std::string>& Version() const = 0;
  // Compute capabilities it compiles for: 75, 80, 86, ...
  virtual const std::vector<int>& capabilities() const = 0;
  // Safe to call from many threads, which then compile at the same time. InvalidArgument for
  // options and architectures that are not accepted, Unavailable for those that this version is too
  // old for, Failed with the log and the lines it points at when the source does not compile.
  virtual Result<Compilation> Compile(const CompileRequest& request) const = 0;
};

}  // namespace lijit::runtime
