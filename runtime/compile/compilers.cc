// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/compilers.h"

#include <fmt/format.h>

#include "runtime/compile/llvm_backend.h"
#include "runtime/toolchain/driver.h"
#include "runtime/toolchain/environment.h"
#include "runtime/toolchain/ptx_version.h"

namespace lijit::runtime {
namespace {

template <typename Library>
Result<std::shared_ptr<const Library>> Open() {
  const Result<Environment>& environment = ProcessEnvironment();
  if (!environment.ok()) return environment.error();
  return Library::Open({}, *environment);
}

// What `get` returns as an error, "" if none.
template <typename Get>
std::string ProblemOf(Get get) {
  const auto result = get();
  return result.ok() ? "" : result.error().message;
}

// PTX that stays PTX is for the emulated device or for the driver that is there.
Result<int> PtxVersionForDevices() {
  const Result<const Driver*>& driver = ProcessDriver();
  if (!driver.ok()) return kNewestPtxVersion;
  return PtxVersionFor(WordAfter((*driver)->version, "CUDA "));
}

}  // namespace

Result<std::shared_ptr<const Nvrtc>> ProcessNvrtc() {
  static const auto nvrtc = Open<Nvrtc>();
  return nvrtc;
}

Result<std::shared_ptr<const NvJitLink>> ProcessNvJitLink() {
  static const auto linker = Open<NvJitLink>();
  return linker;
}

Result<BackendChoice> ChooseBackend(std::string_view wanted, ImageKind image) {
  const Result<Environment>& environment = ProcessEnvironment();
  if (!environment.ok()) return environment.error();
  const bool by_environment = wanted == "auto" && !environment->backend.empty();
  LIJIT_ASSIGN(BackendChoice choice,
               ChooseBackend(by_environment ? environment->backend : wanted, image,
                             {.llvm = [] { return ProblemOf(LlvmVersion); },
                              .nvjitlink = [] { return ProblemOf(ProcessNvJitLink); },
                              .nvrtc = [] { return ProblemOf(ProcessNvrtc); }}));
  if (by_environment) choice.reason = "LIJIT_BACKEND asks for it";
  return choice;
}

Result<std::string> CompilerVersion(std::string_view backend, ImageKind image) {
  if (backend == "cuda") {
    LIJIT_ASSIGN(const std::shared_ptr<const Nvrtc> nvrtc, ProcessNvrtc());
    LIJIT_ASSIGN(const std::string version, nvrtc->Version());
    return fmt::format("nvrtc {}", version);
  }
  LIJIT_ASSIGN(const std::string llvm, LlvmVersion());
  if (image == ImageKind::kPtx) {
    LIJIT_ASSIGN(const int ptx, PtxVersionForDevices());
    return fmt::format("llvm {}, ptx {}", llvm, PtxVersionText(ptx));
  }
  LIJIT_ASSIGN(const std::shared_ptr<const NvJitLink> linker, ProcessNvJitLink());
  LIJIT_ASSIGN(const std::string version, linker->Version());
  LIJIT_ASSIGN(const int ptx, PtxVersionFor(version));
  return fmt::format("llvm {}, ptx {}, nvjitlink {}", llvm, PtxVersionText(ptx), version);
}

}  // namespace lijit::runtime
