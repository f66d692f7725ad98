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

Result<Assembler> ProcessAssembler() {
  const auto linker = ProcessNvJitLink();
  if (linker.ok()) {
    LIJIT_ASSIGN(const std::string version, (*linker)->Version());
    return Assembler{"nvjitlink", version, version};
  }
  const Result<const Driver*>& driver = ProcessDriver();
  if (!driver.ok()) {
    return Unavailable(fmt::format("{} {}", linker.error().message, driver.error().message));
  }
  const std::string& version = (*driver)->version;
  return Assembler{"driver", version, WordAfter(version, "CUDA ")};
}

Result<BackendChoice> ChooseBackend(std::string_view wanted, ImageKind image) {
  const Result<Environment>& environment = ProcessEnvironment();
  if (!environment.ok()) return environment.error();
  const bool by_environment = wanted == "auto" && !environment->backend.empty();
  LIJIT_ASSIGN(BackendChoice choice,
               ChooseBackend(by_environment ? environment->backend : wanted, image,
                             {.llvm = [] { return ProblemOf(LlvmVersion); },
                              .nvjitlink = [] { return ProblemOf(ProcessNvJitLink); },
                              .driver = [] { return ProblemOf(ProcessDriver); },
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
  LIJIT_ASSIGN(const Assembler assembler, ProcessAssembler());
  LIJIT_ASSIGN(const int ptx, PtxVersionFor(assembler.release));
  return fmt::format("llvm {}, ptx {}, {} {}", llvm, PtxVersionText(ptx), assembler.name,
                     assembler.version);
}

std::string AssemblerIn(std::string_view compiler_version) {
  for (const char* name : {"nvjitlink", "driver"}) {
    if (!WordAfter(compiler_version, fmt::format(", {} ", name)).empty()) return name;
  }
  return "";
}

}  // namespace lijit::runtime
