// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "compiler/target/target.h"
#include "runtime/toolchain/compile_log.h"
#include "runtime/toolchain/nvrtc_options.h"

namespace lijit::runtime {
namespace {

constexpr const char* kWheelFolders[] = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};
constexpr LibraryKind kKind = {
    .what = "NVRTC",
    .stem = "libnvrtc",
    .variable = "LIJIT_NVRTC",
    .wheel_folders = kWheelFolders,
    .advice =
        "Install a CUDA toolkit 12 or 13, or its nvidia-cuda-nvrtc wheel, or set LIJIT_NVRTC "
        "to the path of libnvrtc.so.13.",
};

struct Api {
#define LIJIT_FUNCTION(member, symbol, parameters) int(*member) parameters = nullptr;  // NOLINT
#include "runtime/toolchain/nvrtc_functions.def"
#undef LIJIT_FUNCTION
};

constexpr LibrarySymbol kSymbols[] = {
#define LIJIT_FUNCTION(member, symbol, parameters) {#symbol},
#include "runtime/toolchain/nvrtc_functions.def"
#undef LIJIT_FUNCTION
};

Api Bind(const std::vector<void*>& symbols) {
  Api api;
  std::size_t i = 0;
#define LIJIT_FUNCTION(member, symbol, parameters) \
  api.member = reinterpret_cast<int(*) parameters>(symbols[i++]);  // NOLINT
#include "runtime/toolchain/nvrtc_functions.def"
#undef LIJIT_FUNCTION
  return api;
}

// nvrtcResult, in nvrtc.h's order.
constexpr const char* kResultNames[] = {
    "success",
    "out of memory",
    "program creation failure",
    "invalid input",
    "invalid program",
    "invalid option",
    "compilation",
    "builtin operation failure",
    "no name expressions after compilation",
    "no lowered names before compilation",
    "name expression not valid",
    "internal error",
};

std::string ResultName(int result) {
  const auto index = static_cast<std::size_t>(result);
  return index < std::size(kResultNames) ? kResultNames[index] : fmt::format("error {}", result);
}

// What an architecture's name asks for.
struct Output {
  target::Target target;
  ImageKind kind;
};

Result<Output> ParseArchitecture(const std::string& name) {
  for (const target::Target& row : target::AllTargets()) {
    if (row.name == name) return Output{row, ImageKind::kCubin};
    if (row.ptx_architecture == name) return Output{row, ImageKind::kPtx};
  }
  return target::ParseTarget(name).error();
}

class Program {
 public:
  explicit Program(const Api& api) : api_(api) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (handle_ != nullptr) api_.DestroyProgram(&handle_);
  }

  Status Create(const CompileRequest& request) {
    const int result = api_.CreateProgram(&handle_, request.source.c_str(), request.name.c_str(), 0,
                                          nullptr, nullptr);
    if (result != 0) return Failed("NVRTC made no program: " + ResultName(result));
    for (const std::string& kernel : request.kernels) {
      const int added = api_.AddNameExpression(handle_, kernel.c_str());
      if (added == 0) continue;
      return Failed(
          fmt::format("NVRTC did not accept kernel name '{}': {}", kernel, ResultName(added)));
    }
    return {};
  }

  // Returns the nvrtcResult.
  int Compile(const std::vector<std::string>& options) {
    std::vector<const char*> texts;
    texts.reserve(options.size());
    for (const std::string& option : options) texts.push_back(option.c_str());
    return api_.CompileProgram(handle_, static_cast<int>(texts.size()), texts.data());
  }

  Result<std::string> LoweredName(const std::string& kernel) const {
    const char* name = nullptr;
    const int result = api_.GetLoweredName(handle_, kernel.c_str(), &name);
    if (result == 0 && name != nullptr) return std::string(name);
    return Failed(fmt::format("NVRTC has no kernel '{}' to show after compiling: {}", kernel,
                              ResultName(result)));
  }

  std::string Log() const { return Text(api_.GetProgramLogSize, api_.GetProgramLog).value_or(""); }
  // Null before the front end has succeeded.
  std::optional<std::string> Ptx() const { return Text(api_.GetPtxSize, api_.GetPtx); }
  std::optional<std::string> Cubin() const { return Bytes(api_.GetCubinSize, api_.GetCubin); }

 private:
  using SizeFunction = int (*)(void*, std::size_t*);
  using DataFunction = int (*)(void*, char*);

  std::optional<std::string> Bytes(SizeFunction get_size, DataFunction get_data) const {
    std::size_t size = 0;
    if (get_size(handle_, &size) != 0 || size == 0) return std::nullopt;
    std::string bytes(size, '\0');
    if (get_data(handle_, bytes.data()) != 0) return std::nullopt;
    return bytes;
  }

  // NVRTC counts the trailing zero.
  std::optional<std::string> Text(SizeFunction get_size, DataFunction get_data) const {
    std::optional<std::string> text = Bytes(get_size, get_data);
    if (text) text->resize(std::min(text->size(), text->find('\0')));
    return text && !text->empty() ? text : std::nullopt;
  }

  const Api& api_;
  void* handle_ = nullptr;
};

class LoadedNvrtc final : public Nvrtc {
 public:
  LoadedNvrtc(std::string path, const Api& api) : path_(std::move(path)), api_(api) {}

  Status Initialize() {
    int count = 0;
    if (const int result = api_.Version(&major_, &minor_); result != 0) {
      return Failed(fmt::format("{} does not tell its version: {}", path_, ResultName(result)));
    }
    if (const int result = api_.GetNumSupportedArchs(&count); result != 0 || count <= 0) {
      return Failed(fmt::format("{} names no architectures: {}", path_, ResultName(result)));
    }
    capabilities_.resize(static_cast<std::size_t>(count));
    if (const int result = api_.GetSupportedArchs(capabilities_.data()); result != 0) {
      return Failed(fmt::format("{} names no architectures: {}", path_, ResultName(result)));
    }
    return {};
  }

  const std::string& path() const override { return path_; }
  const std::vector<int>& capabilities() const override { return capabilities_; }

  const Result<std::string>& Version() const override {
    std::call_once(version_once_, [this] { version_ = ProbeVersion(); });
    return version_;
  }

  Result<Compilation> Compile(const CompileRequest& request) const override {
    LIJIT_ASSIGN(const Output output, ParseArchitecture(request.architecture));
    LIJIT_TRY(CheckCapability(output.target));
    LIJIT_TRY(CheckNvrtcOptions(request.options));
    Program program(api_);
    LIJIT_TRY(program.Create(request));
    if (const int result = program.Compile(Options(request, output)); result != 0) {
      return Explain(request, program, result);
    }
    return Collect(request, program, output);
  }

 private:
  Status CheckCapability(const target::Target& target) const {
    if (std::ranges::find(capabilities_, target.capability) != capabilities_.end()) return {};
    return Unavailable(fmt::format(
        "NVRTC {}.{} ({}) cannot compile for {}; it compiles for compute capabilities {}; use "
        "another toolkit",
        major_, minor_, path_, target.name, fmt::join(capabilities_, ", ")));
  }

  // NVRTC keeps a cache of its own from 12.9 on, which needs the driver and would hide ours.
  bool HasOwnCache() const { return std::pair(major_, minor_) >= std::pair(12, 9); }

  std::vector<std::string> Options(const CompileRequest& request, const Output& output) const {
    std::vector<std::string> options = {"--gpu-architecture=" + request.architecture, "--std=c++17",
                                        "--no-source-include"};
    if (HasOwnCache()) options.emplace_back("--no-cache");
    if (output.kind == ImageKind::kCubin) options.emplace_back("--ptxas-options=-v");
    options.insert(options.end(), request.options.begin(), request.options.end());
    return options;
  }

  Error Explain(const CompileRequest& request, const Program& program, int result) const {
    const std::string log = CleanLog(program.Log());
    std::string quoted = QuoteLines(log, request.name + "(", request.source);
    if (quoted.empty()) {
      quoted = QuoteLines(log, "ptx input, line ", program.Ptx().value_or(""));
    }
    return Failed(fmt::format("NVRTC {}.{} did not compile {} for {}: {}\n{}{}{}", major_, minor_,
                              request.name, request.architecture, ResultName(result), log,
                              quoted.empty() ? "" : "\nin the generated code:\n", quoted));
  }

  Result<Compilation> Collect(const CompileRequest& request, const Program& program,
                              const Output& output) const {
    Compilation compilation;
    compilation.kind = output.kind;
    compilation.log = CleanLog(program.Log());
    for (const std::string& kernel : request.kernels) {
      LIJIT_ASSIGN(std::string name, program.LoweredName(kernel));
      compilation.kernels.push_back(std::move(name));
    }
    const bool is_cubin = output.kind == ImageKind::kCubin;
    const std::optional<std::string> image = is_cubin ? program.Cubin() : program.Ptx();
    if (!image) {
      return Failed(fmt::format("NVRTC {}.{} compiled {} for {} and made no code", major_, minor_,
                                request.name, request.architecture));
    }
    compilation.image = ToBytes(*image);
    if (is_cubin) {
      LIJIT_ASSIGN(compilation.resources, ParseResources(compilation.log));
    }
    return compilation;
  }

  Result<std::string> ProbeVersion() const {
    const CompileRequest probe{.source = "extern \"C\" __global__ void probe() {}",
                               .name = "probe.cu",
                               .architecture = "compute_80",
                               .options = {},
                               .kernels = {}};
    LIJIT_ASSIGN(const Compilation compilation, Compile(probe));
    // The exact build stands in a comment at the head of generated PTX.
    const std::string release = WordAfter(ToText(compilation.image), ", V");
    const std::string build = WordAfter(ToText(compilation.image), "Compiler Build ID: ");
    if (release.empty() || build.empty()) {
      return Failed(fmt::format("the PTX of {} does not tell which build it is", path_));
    }
    return release + " " + build;
  }

  std::string path_;
  Api api_;
  int major_ = 0;
  int minor_ = 0;
  std::vector<int> capabilities_;
  mutable std::once_flag version_once_;
  mutable Result<std::string> version_ = std::string();
};

// NVRTC opens its built-ins by bare name, and the wheel's library has no run path: a library that
// is loaded already is found by that name. Toolkits whose loader finds them lose nothing.
void LoadBuiltinsBeside(const std::string& nvrtc) {
  std::error_code problem;
  const auto folder = std::filesystem::path(nvrtc).parent_path();
  for (std::filesystem::directory_iterator it(folder, problem), end; !problem && it != end;
       it.increment(problem)) {
    if (it->path().filename().string().starts_with("libnvrtc-builtins.so.")) {
      dlopen(it->path().c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
}

}  // namespace

Result<std::shared_ptr<const Nvrtc>> Nvrtc::Open(const SearchPaths& paths,
                                                 const Environment& environment) {
  const std::vector<std::string> names = LibraryNames(kKind);
  const std::vector<LibraryPlace> places =
      LibraryPlaces(kKind, paths, environment.nvrtc, environment.cuda_home);
  LIJIT_ASSIGN(OpenedLibrary library, OpenLibrary({.what = kKind.what,
                                                   .names = names,
                                                   .places = places,
                                                   .symbols = kSymbols,
                                                   .advice = kKind.advice}));
  LoadBuiltinsBeside(library.path);
  auto nvrtc = std::make_shared<LoadedNvrtc>(std::move(library.path), Bind(library.symbols));
  LIJIT_TRY(nvrtc->Initialize());
  return std::shared_ptr<const Nvrtc>(std::move(nvrtc));
}

}  // namespace lijit::runtime
