// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/kernel_request.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "cache/entry.h"
#include "compiler/codegen/cuda/emit_cuda.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/lower/lower.h"
#include "lijit/cubin.h"
#include "runtime/compile/compile_job.h"
#include "runtime/compile/compilers.h"
#include "runtime/compile/generator_version.h"
#include "runtime/compile/llvm_backend.h"

namespace lijit::runtime {
namespace {

// Changes when the meaning of a field does.
constexpr std::string_view kKeySchema = "1";
// Versions of the library that share a folder never meet at one key.
static_assert(cache::kGrammarVersion == 1, "a new grammar of entries needs a new schema of keys");

struct Field {
  std::string_view label;
  std::string KernelRequest::*member;
};

constexpr Field kFields[] = {
    {"module", &KernelRequest::module},     {"target", &KernelRequest::target_name},
    {"schedule", &KernelRequest::schedule}, {"backend", &KernelRequest::backend},
    {"image", &KernelRequest::image},       {"compiler", &KernelRequest::compiler},
};
// A member that is not in the key would make two requests share one entry.
static_assert(sizeof(KernelRequest) == std::size(kFields) * sizeof(std::string));

Result<ir::Module> LowerRequest(const KernelRequest& request, const target::Target& target) {
  LIJIT_ASSIGN(ir::Module module, ir::ParseAndVerify(request.module, "kernel"));
  return lower::Lower(std::move(module), target, request.schedule);
}

// What the backend's compiler is asked to do. LLVM's input is the lowered module itself.
Result<CompileJob> JobFor(const KernelRequest& request, const ir::Module& lowered) {
  CompileJob job{.language = "lir",
                 .text = "",
                 .kernel = lowered.kernels[0].name,
                 .target = request.target_name,
                 .image = request.image,
                 .ptx_version = WordAfter(request.compiler, "ptx "),
                 .assembler = AssemblerIn(request.compiler)};
  if (request.backend == "ptx") {
    job.text = ir::Print(lowered);
    return job;
  }
  job.language = "cuda";
  LIJIT_ASSIGN(job.text, codegen::EmitCuda(lowered));
  return job;
}

std::string ResourceLines(const std::vector<KernelResources>& resources) {
  std::string text;
  for (const KernelResources& r : resources) {
    text += fmt::format(
        "{}: {} registers, {} bytes of stack, {} and {} bytes of spill stores and loads, {} bytes "
        "of shared memory, {} of constants, {} barriers\n",
        r.kernel, r.registers, r.stack_bytes, r.spill_store_bytes, r.spill_load_bytes,
        r.shared_bytes, r.constant_bytes, r.barriers);
  }
  return text;
}

bool HasLine(std::string_view ptx, std::string_view begin, std::string_view word) {
  const std::size_t at = ptx.find(fmt::format("{} {}", begin, word));
  if (at == std::string_view::npos) return false;
  const std::size_t end = at + begin.size() + 1 + word.size();
  return end < ptx.size() && std::string_view(" \n\t,(").find(ptx[end]) != std::string_view::npos;
}

}  // namespace

cache::Key KernelRequest::key() const {
  cache::Key key;
  key.Add("schema", kKeySchema).Add("generator", kGeneratorVersion);
  for (const Field& field : kFields) key.Add(field.label, this->*field.member);
  return key;
}

std::string LaunchInfo::ToText() const {
  return fmt::format("threads {} tile {} {} shared {}\n", threads, tile_rows, tile_columns,
                     dynamic_shared_bytes);
}

Result<LaunchInfo> LaunchInfo::FromText(std::string_view text) {
  LaunchInfo info;
  const auto take = [&text](std::string_view word, int& value) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc();
  };
  if (take("threads ", info.threads) && take(" tile ", info.tile_rows) &&
      take(" ", info.tile_columns) && take(" shared ", info.dynamic_shared_bytes) &&
      text.starts_with('\n') && info.threads >= 32 && info.threads <= 1024 && info.tile_rows >= 1 &&
      info.tile_columns >= 1 && info.dynamic_shared_bytes >= 0) {
    return info;
  }
  return Damaged("the entry does not say how its kernel is launched");
}

Result<std::string> GenerateSource(const KernelRequest& request) {
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(request.target_name));
  LIJIT_ASSIGN(const ir::Module lowered, LowerRequest(request, target));
  return request.backend == "ptx" ? EmitLlvm(lowered, target) : codegen::EmitCuda(lowered);
}

Result<cache::Entry> CompileKernel(const KernelRequest& request) {
  LIJIT_ASSIGN(const target::Target target, target::ParseTarget(request.target_name));
  LIJIT_ASSIGN(const ir::Module lowered, LowerRequest(request, target));
  LIJIT_ASSIGN(const CompileJob job, JobFor(request, lowered));
  LIJIT_ASSIGN(Compilation compilation, Compile(job));
  const ir::Kernel& kernel = lowered.kernels[0];
  const LaunchInfo launch{
      kernel.threads, kernel.tile_rows, kernel.tile_columns,
      kernel.shared_bytes > ir::kMaxStaticSharedBytes ? kernel.shared_bytes : 0};
  cache::Entry entry;
  entry.kind = compilation.kind;
  entry.target = request.target_name;
  entry.kernels = compilation.kernels;
  entry.resources = launch.ToText() + ResourceLines(compilation.resources);
  entry.log = std::move(compilation.log);
  entry.tools = {request.compiler};
  entry.image = std::move(compilation.image);
  return entry;
}

Status ValidateEntry(const cache::Entry& entry) {
  if (const auto info = LaunchInfo::FromText(entry.resources); !info.ok()) return info.error();
  if (entry.kind == ImageKind::kCubin) {
    return cubin::Verify(entry.image, entry.target, entry.kernels);
  }
  const std::string_view ptx = ToText(entry.image);
  if (!HasLine(ptx, ".target", entry.target)) {
    return Damaged(fmt::format("the PTX is not for {}", entry.target));
  }
  for (const std::string& kernel : entry.kernels) {
    if (!HasLine(ptx, ".entry", kernel)) {
      return Damaged(fmt::format("the PTX has no kernel {}", kernel));
    }
  }
  return {};
}

}  // namespace lijit::runtime
