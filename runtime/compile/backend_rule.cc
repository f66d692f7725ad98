// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/backend_rule.h"

#include <fmt/format.h>

namespace lijit::runtime {
namespace {

// What the backend ptx needs and lacks; "" if it has all.
std::string PtxProblem(ImageKind image, const CompilerProbes& problem_of) {
  std::string problem = problem_of.llvm();
  if (problem.empty() && image == ImageKind::kCubin) problem = problem_of.nvjitlink();
  return problem;
}

Result<BackendChoice> Choice(std::string_view name, std::string reason,
                             const std::string& problem) {
  if (problem.empty()) return BackendChoice{std::string(name), std::move(reason)};
  return Unavailable(fmt::format("backend {}: {}", name, problem));
}

}  // namespace

Result<BackendChoice> ChooseBackend(std::string_view wanted, ImageKind image,
                                    const CompilerProbes& problem_of) {
  if (wanted == "cuda") return Choice(wanted, "it was asked for", problem_of.nvrtc());
  if (wanted == "ptx") return Choice(wanted, "it was asked for", PtxProblem(image, problem_of));
  if (wanted != "auto") {
    return InvalidArgument(
        fmt::format("there is no backend '{}'; there are auto, cuda, ptx", wanted));
  }
  const std::string ptx_problem = PtxProblem(image, problem_of);
  if (ptx_problem.empty()) {
    return BackendChoice{"ptx", image == ImageKind::kPtx
                                    ? "LLVM gives PTX sooner than NVRTC"
                                    : "LLVM and nvJitLink give a first cubin sooner than NVRTC"};
  }
  const std::string cuda_problem = problem_of.nvrtc();
  if (cuda_problem.empty())
    return BackendChoice{"cuda", "backend ptx cannot be used: " + ptx_problem};
  return Unavailable(fmt::format("no backend can compile. Backend ptx: {} Backend cuda: {}",
                                 ptx_problem, cuda_problem));
}

}  // namespace lijit::runtime
