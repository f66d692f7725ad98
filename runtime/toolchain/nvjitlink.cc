// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/nvjitlink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "compiler/target/target.h"
#include "runtime/toolchain/compile_log.h"
#include "runtime/toolchain/nvrtc_options.h"

namespace lijit::runtime {
namespace {

constexpr const char* kWheelFolders[] = {"nvidia/cu13/lib", "nvidia/nvjitlink/lib"};
constexpr LibraryKind kKind = {
    .what = "nvJitLink",
    .stem = "libnvJitLink",
    .variable = "LIJIT_NVJITLINK",
    .wheel_folders = kWheelFolders,
    .advice =
        "Install a CUDA toolkit 12 or 13, or its nvidia-nvjitlink wheel, or set "
        "LIJIT_NVJITLINK to the path of libnvJitLink.so.13.",
};
constexpr int kInputPtx = 2;  // NVJITLINK_INPUT_PTX

struct Api {
#define LIJIT_FUNCTION(member, symbol, parameters) int(*member) parameters = nullptr;  // NOLINT
#include "runtime/toolchain/nvjitlink_functions.def"
#undef LIJIT_FUNCTION
};

constexpr LibrarySymbol kSymbols[] = {
#define LIJIT_FUNCTION(member, symbol, parameters) {#symbol},
#include "runtime/toolchain/nvjitlink_functions.def"
#undef LIJIT_FUNCTION
};

Api Bind(const std::vector<void*>& symbols) {
  Api api;
  std::size_t i = 0;
#define LIJIT_FUNCTION(member, symbol, parameters) \
  api.member = reinterpret_cast<int(*) parameters>(symbols[i++]);  // NOLINT
#include "runtime/toolchain/nvjitlink_functions.def"
#undef LIJIT_FUNCTION
  return api;
}

// nvJitLinkResult, in nvJitLink.h's order.
constexpr const char* kResultNames[] = {
    "success",
    "unrecognized option",
    "missing architecture",
    "invalid input",
    "PTX does not assemble",
    "NVVM does not compile",
    "internal error",
    "thread pool",
    "unrecognized input",
    "finalizer",
    "null input",
    "incompatible options",
    "incorrect input type",
    "architecture mismatch",
    "the library is older than its input",
    "missing fatbin",
    "unrecognized architecture",
    "unsupported architecture",
};

std::string ResultName(int result) {
  const auto index = static_cast<std::size_t>(result);
  return index < std::size(kResultNames) ? kResultNames[index] : fmt::format("error {}", result);
}

class Linker {
 public:
  explicit Linker(const Api& api) : api_(api) {}
  Linker(const Linker&) = delete;
  Linker& operator=(const Linker&) = delete;
  ~Linker() {
    if (handle_ != nullptr) api_.Destroy(&handle_);
  }

  // Returns the nvJitLinkResult of the first step that fails.
  int Run(const AssembleRequest& request, const std::vector<std::string>& options) {
    std::vector<const char*> texts;
    texts.reserve(options.size());
    for (const std::string& option : options) texts.push_back(option.c_str());
    const auto count = static_cast<std::uint32_t>(texts.size());
    if (const int result = api_.Create(&handle_, count, texts.data()); result != 0) return result;
    const int added = api_.AddData(handle_, kInputPtx, request.ptx.c_str(), request.ptx.size() + 1,
                                   request.name.c_str());
    return added != 0 ? added : api_.Complete(handle_);
  }

  std::string Log() const {
    return CleanLog(Text(api_.GetErrorLogSize, api_.GetErrorLog) +
                    Text(api_.GetInfoLogSize, api_.GetInfoLog));
  }

  std::vector<std::byte> Cubin() const {
    std::size_t size = 0;
    if (api_.GetLinkedCubinSize(handle_, &size) != 0) return {};
    std::vector<std::byte> cubin(size);
    if (api_.GetLinkedCubin(handle_, cubin.data()) != 0) return {};
    return cubin;
  }

 private:
  std::string Text(int (*get_size)(void*, std::size_t*), int (*get_text)(void*, char*)) const {
    std::size_t size = 0;
    if (handle_ == nullptr || get_size(handle_, &size) != 0 || size == 0) return "";
    std::string text(size, '\0');
    if (get_text(handle_, text.data()) != 0) return "";
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
  }

  const Api& api_;
  void* handle_ = nullptr;
};

class LoadedNvJitLink final : public NvJitLink {
 public:
  LoadedNvJitLink(std::string path, const Api& api) : path_(std::move(path)), api_(api) {}

  const std::string& path() const override { return path_; }

  const Result<std::string>& Version() const override {
    std::call_once(version_once_, [this] { version_ = ProbeVersion(); });
    return version_;
  }

  Result<Compilation> Assemble(const AssembleRequest& request) const override {
    LIJIT_ASSIGN(const target::Target target, target::ParseTarget(request.target));
    std::vector<std::string> options = {fmt::format("-arch={}", target.name), "-verbose"};
    for (const std::string& option : request.options) {
      LIJIT_TRY(CheckPtxasOption(option));
      options.push_back("-Xptxas=" + option);
    }
    Linker linker(api_);
    if (const int result = linker.Run(request, options); result != 0) {
      return Explain(request, linker.Log(), result);
    }
    Compilation compilation;
    compilation.kind = ImageKind::kCubin;
    compilation.log = linker.Log();
    compilation.image = linker.Cubin();
    LIJIT_ASSIGN(compilation.resources, ParseResources(compilation.log));
    for (const KernelResources& kernel : compilation.resources) {
      compilation.kernels.push_back(kernel.kernel);
    }
    if (!compilation.image.empty()) return compilation;
    return Failed(fmt::format("nvJitLink ({}) made no code of {}", path_, request.name));
  }

 private:
  Error Explain(const AssembleRequest& request, const std::string& log, int result) const {
    const std::string quoted = QuoteLines(log, ", line ", request.ptx);
    return Failed(fmt::format("nvJitLink ({}) did not assemble {} for {}: {}\n{}{}{}", path_,
                              request.name, request.target, ResultName(result), log,
                              quoted.empty() ? "" : "\nin the generated PTX:\n", quoted));
  }

  // A cubin of CUDA 13 holds a note with the exact build; older ones do not, and the library's size
  // tells builds apart.
  Result<std::string> ProbeVersion() const {
    unsigned major = 0;
    unsigned minor = 0;
    if (const int result = api_.Version(&major, &minor); result != 0) {
      return Failed(fmt::format("{} does not tell its version: {}", path_, ResultName(result)));
    }
    const AssembleRequest probe{
        .ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry probe() { ret; }\n",
        .name = "probe.ptx",
        .target = "sm_80",
        .options = {}};
    LIJIT_ASSIGN(const Compilation compilation, Assemble(probe));
    const std::string release =
        WordAfter(ToText(compilation.image), fmt::format("release {}.{}, V", major, minor));
    if (!release.empty()) return release;
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(path_, problem);
    if (problem) return Failed(fmt::format("{}: {}", path_, problem.message()));
    return fmt::format("{}.{} size {}", major, minor, size);
  }

  std::string path_;
  Api api_;
  mutable std::once_flag version_once_;
  mutable Result<std::string> version_ = std::string();
};

}  // namespace

Result<std::shared_ptr<const NvJitLink>> NvJitLink::Open(const SearchPaths& paths,
                                                         const Environment& environment) {
  const std::vector<std::string> names = LibraryNames(kKind);
  const std::vector<LibraryPlace> places =
      LibraryPlaces(kKind, paths, environment.nvjitlink, environment.cuda_home);
  LIJIT_ASSIGN(OpenedLibrary library, OpenLibrary({.what = kKind.what,
                                                   .names = names,
                                                   .places = places,
                                                   .symbols = kSymbols,
                                                   .advice = kKind.advice}));
  return std::shared_ptr<const NvJitLink>(
      std::make_shared<LoadedNvJitLink>(std::move(library.path), Bind(library.symbols)));
}

}  // namespace lijit::runtime
