// SPDX-License-Identifier: Apache-2.0
#include "lijit/compiler.h"

#include <fmt/format.h>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/schedule.h"
#include "lijit/targets.h"
#include "runtime/compile/compilers.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/compile/kernel_request.h"

namespace lijit {
namespace {

std::vector<ir::ParameterOverride> Overrides(const std::vector<ParameterValue>& values) {
  std::vector<ir::ParameterOverride> overrides;
  for (const ParameterValue& value : values) overrides.push_back({value.name, value.value});
  return overrides;
}

// The text alone, or after the shipped formats if it is not complete by itself. Text that fails
// either way is reported as it was written.
Result<ir::Module> ParseText(const std::string& text, const std::string& name,
                             const std::vector<ParameterValue>& values) {
  Result<ir::Module> alone = ir::ParseAndVerify(text, name, Overrides(values));
  if (alone.ok()) return alone;
  LIJIT_ASSIGN(ir::Module module, runtime::ShippedFormats());
  if (!ir::ParseInto(module, text, name, Overrides(values)).ok()) return alone;
  if (const auto problems = ir::Verify(module); !problems.empty()) {
    return InvalidArgument(RenderDiagnostics(problems, name, text));
  }
  return module;
}

Result<runtime::KernelRequest> RequestFor(const ir::Module& module, const EmitRequest& request,
                                          const std::string& backend) {
  runtime::KernelRequest kernel;
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(request.target));
  // Templates are CUDA C++.
  const bool only_simt = backend == "ptx" && request.config.schedule == "auto";
  LIJIT_ASSIGN(const lower::ScheduleRow schedule,
               lower::ScheduleFor(only_simt ? "simt" : request.config.schedule, module, target));
  kernel.module = ir::Print(module);
  kernel.target_name = request.target;
  kernel.schedule = schedule.name;
  kernel.backend = backend;
  kernel.image = request.output == "ptx" ? "ptx" : "cubin";
  return kernel;
}

struct EmitOutput {
  std::string_view name;
  std::string_view backend;  // the only one that makes it, or ""
  bool is_source;            // what a compiler reads
};

constexpr EmitOutput kOutputs[] = {
    {"cuda", "cuda", true}, {"llvm", "ptx", true}, {"ptx", "", false}, {"cubin", "", false}};

const EmitOutput* OutputNamed(std::string_view name) {
  for (const EmitOutput& output : kOutputs) {
    if (output.name == name) return &output;
  }
  return nullptr;
}

// Sources need no compiler, so that "auto" is not asked for one.
Result<std::string> BackendFor(const EmitRequest& request) {
  const EmitOutput* const output = OutputNamed(request.output);
  if (output == nullptr) {
    return InvalidArgument(
        fmt::format("output '{}'; accepted are cuda, llvm, ptx and cubin", request.output));
  }
  if (output->backend.empty()) {
    const ImageKind image = request.output == "ptx" ? ImageKind::kPtx : ImageKind::kCubin;
    LIJIT_ASSIGN(runtime::BackendChoice choice, runtime::ChooseBackend(request.backend, image));
    return std::move(choice.name);
  }
  if (request.backend != "auto" && request.backend != output->backend) {
    return InvalidArgument(fmt::format("output {} is of backend {}, and backend {} is wanted",
                                       output->name, output->backend, request.backend));
  }
  return std::string(output->backend);
}

// A shipped kernel by its name, or the text's.
Result<ir::Module> KernelFor(const EmitRequest& request) {
  if (!request.text.empty()) {
    LIJIT_ASSIGN(const ir::Module module,
                 ParseText(request.text, request.name, request.parameters));
    const bool only_one = request.kernel.empty() && module.kernels.size() == 1;
    return lower::ExtractKernel(module, only_one ? module.kernels[0].name : request.kernel);
  }
  LIJIT_ASSIGN(const runtime::KernelModules modules,
               runtime::KernelModules::Create(request.config));
  std::string known;
  for (const ir::KernelKindRow& row : ir::AllKernelKinds()) {
    LIJIT_ASSIGN(ir::Module module, modules.Extract(row.kind));
    if (module.kernels[0].name == request.kernel) return module;
    known += fmt::format(" {}", module.kernels[0].name);
  }
  return InvalidArgument(
      fmt::format("there is no shipped kernel '{}'; there are{}", request.kernel, known));
}

}  // namespace

std::vector<PassInfo> Passes() {
  std::vector<PassInfo> passes;
  for (const lower::Pass& pass : lower::AllPasses()) passes.push_back({pass.name, pass.doc});
  return passes;
}

Result<std::string> Optimize(const OptimizeRequest& request) {
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(request.target));
  LIJIT_ASSIGN(ir::Module module, ParseText(request.text, request.name, request.parameters));
  std::vector<std::string> passes = request.passes;
  if (request.all_passes) {
    for (const lower::Pass& pass : lower::AllPasses()) passes.emplace_back(pass.name);
  }
  for (const std::string& pass : passes) LIJIT_TRY(lower::RunPass(module, target, pass));
  return ir::Print(module);
}

Result<std::vector<std::string>> DeclaredFormats(const std::string& text, const std::string& name) {
  LIJIT_ASSIGN(ir::Module module, runtime::ShippedFormats());
  const std::size_t shipped = module.formats.size();
  LIJIT_TRY(ir::ParseInto(module, text, name));
  std::vector<std::string> names;
  for (std::size_t i = shipped; i < module.formats.size(); ++i) {
    names.push_back(module.formats[i].name);
  }
  return names;
}

Result<std::string> Emit(const EmitRequest& request) {
  LIJIT_ASSIGN(const std::string backend, BackendFor(request));
  LIJIT_ASSIGN(const ir::Module module, KernelFor(request));
  LIJIT_ASSIGN(runtime::KernelRequest kernel, RequestFor(module, request, backend));
  if (OutputNamed(request.output)->is_source) return runtime::GenerateSource(kernel);
  LIJIT_ASSIGN(kernel.compiler, runtime::CompilerVersion(backend, kernel.image_kind()));
  LIJIT_ASSIGN(const cache::Entry entry, runtime::CompileKernel(kernel));
  return std::string(runtime::ToText(entry.image));
}

}  // namespace lijit
