// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/backend_rule.h"

#include <fmt/format.h>

namespace lijit::runtime {
namespace {

// Why the backend ptx cannot be used, or how it can.
struct PtxWay {
  std::string problem;    // "" if it has all that it needs
  std::string nvjitlink;  // why there is no nvJitLink; "" if there is, or it is not needed
  bool by_driver() const { return problem.empty() && !nvjitlink.empty(); }
};

PtxWay FindPtxWay(ImageKind image, const CompilerProbes& problem_of) {
  PtxWay way{problem_of.llvm(), ""};
  if (!way.problem.empty() || image == ImageKind::kPtx) return way;
  way.nvjitlink = problem_of.nvjitlink();
  if (way.nvjitlink.empty()) return way;
  const std::string driver = problem_of.driver();
  if (!driver.empty()) way.problem = fmt::format("{} {}", way.nvjitlink, driver);
  return way;
}

std::string ByDriver(const PtxWay& way) {
  return fmt::format("the CUDA driver assembles, for its own devices, since {}", way.nvjitlink);
}

Error Missing(std::string_view backend, const std::string& problem) {
  return Unavailable(fmt::format("backend {}: {}", backend, problem));
}

Result<BackendChoice> AskedFor(std::string_view wanted, ImageKind image,
                               const CompilerProbes& problem_of) {
  constexpr const char* kAsked = "it was asked for";
  if (wanted == "cuda") {
    const std::string problem = problem_of.nvrtc();
    if (!problem.empty()) return Missing(wanted, problem);
    return BackendChoice{"cuda", kAsked};
  }
  const PtxWay way = FindPtxWay(image, problem_of);
  if (!way.problem.empty()) return Missing(wanted, way.problem);
  return BackendChoice{"ptx",
                       way.by_driver() ? fmt::format("{}; {}", kAsked, ByDriver(way)) : kAsked};
}

}  // namespace

Result<BackendChoice> ChooseBackend(std::string_view wanted, ImageKind image,
                                    const CompilerProbes& problem_of) {
  if (wanted == "cuda" || wanted == "ptx") return AskedFor(wanted, image, problem_of);
  if (wanted != "auto") {
    return InvalidArgument(
        fmt::format("there is no backend '{}'; there are auto, cuda, ptx", wanted));
  }
  const PtxWay way = FindPtxWay(image, problem_of);
  if (way.problem.empty() && !way.by_driver()) {
    return BackendChoice{"ptx", image == ImageKind::kPtx
                                    ? "LLVM gives PTX sooner than NVRTC"
                                    : "LLVM and nvJitLink give a first cubin sooner than NVRTC"};
  }
  const std::string nvrtc = problem_of.nvrtc();
  if (nvrtc.empty()) {
    return BackendChoice{
        "cuda", way.by_driver()
                    ? "NVRTC compiles for every target, and backend ptx cannot: " + way.nvjitlink
                    : "backend ptx cannot be used: " + way.problem};
  }
  if (way.by_driver()) {
    return BackendChoice{"ptx", fmt::format("{} Backend cuda: {}", ByDriver(way), nvrtc)};
  }
  return Unavailable(
      fmt::format("no backend can compile. Backend ptx: {} Backend cuda: {}", way.problem, nvrtc));
}

}  // namespace lijit::runtime
