// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/compile_job.h"

#include <fmt/format.h>

#include "compiler/ir/parser.h"
#include "compiler/target/target.h"
#include "runtime/compile/compilers.h"
#include "runtime/compile/llvm_backend.h"
#include "runtime/compile/worker.h"
#include "runtime/device/driver_assembler.h"
#include "runtime/toolchain/driver.h"
#include "runtime/toolchain/environment.h"
#include "runtime/toolchain/ptx_version.h"

namespace lijit::runtime {
namespace {

Result<Compilation> RunCuda(const CompileJob& job, const target::Target& target) {
  LIJIT_ASSIGN(const std::shared_ptr<const Nvrtc> nvrtc, ProcessNvrtc());
  const bool cubin = job.image == "cubin";
  return nvrtc->Compile({.source = job.text,
                         .name = job.kernel + ".cu",
                         .architecture = std::string(cubin ? target.name : target.ptx_architecture),
                         .options = {},
                         .kernels = {job.kernel}});
}

Result<Compilation> Assemble(const CompileJob& job, std::string ptx) {
  if (job.image == "ptx") {
    Compilation compilation;
    compilation.kind = ImageKind::kPtx;
    compilation.image = ToBytes(ptx);
    compilation.kernels = {job.kernel};
    return compilation;
  }
  const AssembleRequest request{
      .ptx = std::move(ptx), .name = job.kernel + ".ptx", .target = job.target, .options = {}};
  if (job.assembler == "nvjitlink") {
    LIJIT_ASSIGN(const std::shared_ptr<const NvJitLink> linker, ProcessNvJitLink());
    LIJIT_ASSIGN(Compilation compilation, linker->Assemble(request));
    // Not what the log names: some of its forms name nothing.
    compilation.kernels = {job.kernel};
    return compilation;
  }
  if (job.assembler == "driver") {
    LIJIT_ASSIGN(const Driver* const driver, ProcessDriver());
    return AssembleByDriver(*driver, request);
  }
  return InvalidArgument(
      fmt::format("assembler '{}'; accepted are nvjitlink and driver", job.assembler));
}

Result<Compilation> RunLir(const CompileJob& job, const target::Target& target) {
  LIJIT_ASSIGN(const ir::Module lowered, ir::ParseAndVerify(job.text, job.kernel));
  LIJIT_ASSIGN(const int version, ParsePtxVersion(job.ptx_version));
  LIJIT_ASSIGN(std::string ptx, EmitPtx(lowered, target, version));
  return Assemble(job, std::move(ptx));
}

}  // namespace

Result<Compilation> RunJob(const CompileJob& job) {
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(job.target));
  if (job.image != "cubin" && job.image != "ptx") {
    return InvalidArgument(fmt::format("image '{}'; accepted are cubin and ptx", job.image));
  }
  if (job.language == "cuda") return RunCuda(job, target);
  if (job.language == "lir") return RunLir(job, target);
  if (job.language == "ptx") return Assemble(job, job.text);
  return InvalidArgument(
      fmt::format("language '{}'; accepted are cuda, lir and ptx", job.language));
}

Result<Compilation> Compile(const CompileJob& job) {
  const Result<Environment>& environment = ProcessEnvironment();
  if (!environment.ok()) return environment.error();
  if (environment->compile == CompileMode::kHere) return RunJob(job);
  LIJIT_ASSIGN(const std::string worker, FindWorker());
  return RunJobInWorker(job, worker, environment->worker_limit);
}

}  // namespace lijit::runtime
