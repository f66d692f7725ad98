// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/kernel_module.h"

#include <fmt/format.h>

#include "compiler/ir/shipped_modules.h"
#include "compiler/ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/spread_row.h"

namespace lijit::runtime {
namespace {

Status ParseShipped(ir::Module& module, std::string_view name,
                    const std::vector<ir::ParameterOverride>& parameters) {
  return ir::ParseInto(module, ShippedText(name), name, parameters);
}

Status CheckSound(const ir::Module& module, std::string_view name, std::string_view text) {
  const std::vector<Diagnostic> problems = ir::Verify(module);
  if (problems.empty()) return {};
  // Shipped kernels are sound; it is the configuration's numbers that do not suit them.
  if (text.empty()) return InvalidArgument(problems[0].message);
  return InvalidArgument(RenderDiagnostics(problems, name, text));
}

const ir::Kernel* FindKind(const ir::Module& module, ir::KernelKind kind) {
  for (const ir::Kernel& kernel : module.kernels) {
    if (kernel.kind == kind) return &kernel;
  }
  return nullptr;
}

std::string FormatNames(const ir::Module& module) {
  std::string names;
  for (const ir::Format& format : module.formats) names += fmt::format(" {}", format.name);
  return names;
}

// Writers and gathers of a rotating indexer come from rotated.lir, everything else from
// indexer.lir.
Status AddShippedKernels(ir::Module& module, const IndexerConfig& config) {
  const std::vector<ir::ParameterOverride> parameters = ParametersOf(config, config.format);
  if (config.rotation) {
    std::vector<ir::ParameterOverride> rotated = parameters;
    rotated.push_back({"rope_dim", fmt::format("{}", config.rotation->rope_dim)});
    rotated.push_back({"style", config.rotation->interleaved ? "interleaved" : "neox"});
    rotated.push_back({"place", config.rotation->last ? "last" : "first"});
    LIJIT_TRY(ParseShipped(module, "rotated.lir", rotated));
    // indexer.lir declares the same names; those of rotated.lir were found first.
    ir::Module plain;
    plain.formats = module.formats;
    LIJIT_TRY(ParseShipped(plain, "indexer.lir", parameters));
    for (const ir::Kernel& kernel : plain.kernels) {
      if (FindKind(module, kernel.kind) == nullptr) module.kernels.push_back(kernel);
    }
    return {};
  }
  return ParseShipped(module, "indexer.lir", parameters);
}

Status CheckTypes(const IndexerConfig& config) {
  const auto is_float = [](DType dtype) {
    return dtype == DType::kF32 || dtype == DType::kBf16 || dtype == DType::kF16;
  };
  if (is_float(config.input) && is_float(config.weight)) return {};
  return InvalidArgument(fmt::format("input {} and weight {}: both are f32, bf16 or f16",
                                     DTypeName(config.input), DTypeName(config.weight)));
}

Status CheckRotation(const IndexerConfig& config) {
  if (!config.rotation) return {};
  const auto place = config.rotation->last ? ir::RopePlace::kLast : ir::RopePlace::kFirst;
  std::string problem = lower::RopeProblem(config.head_dim, config.rotation->rope_dim, place);
  if (problem.empty()) return {};
  return InvalidArgument(std::move(problem));
}

}  // namespace

std::string_view ShippedText(std::string_view name) {
  for (const EmbeddedFile& file : ir::ShippedModules()) {
    if (file.name == name) return file.text;
  }
  AbortAt(__FILE__, __LINE__, std::string(name).c_str());
}

std::vector<ir::ParameterOverride> ParametersOf(const IndexerConfig& config,
                                                const std::string& format) {
  return {{"format", "@" + format},
          {"heads", fmt::format("{}", config.heads)},
          {"dim", fmt::format("{}", config.head_dim)},
          {"page", fmt::format("{}", config.page)},
          {"input", std::string(DTypeName(config.input))},
          {"weight", std::string(DTypeName(config.weight))}};
}

Result<ir::Module> ShippedFormats() {
  ir::Module module;
  LIJIT_TRY(ParseShipped(module, "formats.lir", {}));
  return module;
}

Result<KernelModules> KernelModules::Create(const IndexerConfig& config) {
  LIJIT_TRY(CheckTypes(config));
  KernelModules modules;
  LIJIT_ASSIGN(modules.module_, ShippedFormats());
  const std::size_t shipped_formats = modules.module_.formats.size();
  if (!config.module.empty()) {
    std::vector<ir::ParameterOverride> parameters = ParametersOf(config, config.format);
    for (ir::ParameterOverride& parameter : parameters) parameter.is_optional = true;
    LIJIT_TRY(ir::ParseInto(modules.module_, config.module, config.module_name, parameters));
    LIJIT_TRY(CheckSound(modules.module_, config.module_name, config.module));
  }
  modules.format_ = modules.module_.FindFormat(config.format);
  if (modules.format_ < 0) {
    return InvalidArgument(fmt::format("there is no format '{}'; there are{}", config.format,
                                       FormatNames(modules.module_)));
  }
  modules.is_shipped_format_ = static_cast<std::size_t>(modules.format_) < shipped_formats;
  modules.shipped_.formats = modules.module_.formats;
  LIJIT_TRY(AddShippedKernels(modules.shipped_, config));
  LIJIT_TRY(CheckSound(modules.shipped_, "configuration", ""));
  LIJIT_TRY(CheckRotation(config));
  modules.layout_ = modules.shipped_.layouts[0];
  for (const ir::Kernel& kernel : modules.module_.kernels) {
    if (kernel.layout >= 0) {
      modules.layout_ = modules.module_.layouts[static_cast<std::size_t>(kernel.layout)];
    }
  }
  return modules;
}

Result<ir::Module> KernelModules::Extract(ir::KernelKind kind) const {
  const ir::Kernel* own = FindKind(module_, kind);
  const ir::Module& from = own != nullptr ? module_ : shipped_;
  const ir::Kernel* kernel = own != nullptr ? own : FindKind(shipped_, kind);
  LIJIT_CHECK(kernel != nullptr);
  return lower::ExtractKernel(from, kernel->name);
}

}  // namespace lijit::runtime
