// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/compilers.h"

#include <fmt/format.h>

#include "runtime/toolchain/environment.h"

namespace lijit::runtime {
namespace {

Result<std::shared_ptr<const Nvrtc>> OpenNvrtc() {
  const Result<Environment>& environment = ProcessEnvironment();
  if (!environment.ok()) return environment.error();
  return Nvrtc::Open({}, *environment);
}

}  // namespace

Result<std::shared_ptr<const Nvrtc>> ProcessNvrtc() {
  static const Result<std::shared_ptr<const Nvrtc>> nvrtc = OpenNvrtc();
  return nvrtc;
}

Result<std::string> ChooseBackend(const std::string& wanted) {
  const Result<Environment>& environment = ProcessEnvironment();
  if (!environment.ok()) return environment.error();
  const std::string& name =
      wanted == "auto" && !environment->backend.empty() ? environment->backend : wanted;
  if (name == "auto" || name == "cuda") return std::string("cuda");
  if (name == "ptx") {
    return Unavailable("backend ptx: this build has no LLVM; backend cuda works, through NVRTC");
  }
  return InvalidArgument(fmt::format("there is no backend '{}'; there are auto, cuda, ptx", name));
}

Result<std::string> CompilerVersion(const std::string&) {
  LIJIT_ASSIGN(const std::shared_ptr<const Nvrtc> nvrtc, ProcessNvrtc());
  if (!nvrtc->Version().ok()) return nvrtc->Version().error();
  return fmt::format("nvrtc {}", *nvrtc->Version());
}

}  // namespace lijit::runtime
