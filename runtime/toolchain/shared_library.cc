// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <optional>
#include <system_error>

namespace lijit::runtime {
namespace {

// Why something did not work, one line a try.
class Reasons {
 public:
  void Add(std::string_view path, std::string_view origin, std::string_view reason) {
    text_ += fmt::format("\n  {} ({}): {}", path, origin, reason);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The loader takes a name without a slash as one to search for.
std::string Absolute(const std::string& path) {
  std::error_code problem;
  const std::filesystem::path absolute = std::filesystem::absolute(path, problem);
  return problem ? path : absolute.string();
}

std::string LoadedPath(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr;
  return known && map->l_name[0] != '\0' ? map->l_name : asked;
}

std::optional<OpenedLibrary> TryFile(const std::string& path, std::string_view origin,
                                     std::span<const LibrarySymbol> symbols, Reasons& reasons) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    reasons.Add(path, origin, reason == nullptr ? "cannot be loaded" : reason);
    return std::nullopt;
  }
  OpenedLibrary library{.path = LoadedPath(handle, path), .symbols = {}};
  std::string missing;
  for (const LibrarySymbol& symbol : symbols) {
    library.symbols.push_back(dlsym(handle, symbol.name));
    if (library.symbols.back() == nullptr && symbol.required) {
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", symbol.name);
    }
  }
  if (missing.empty()) return library;
  reasons.Add(library.path, origin, "lacks " + missing);
  dlclose(handle);
  return std::nullopt;
}

std::optional<OpenedLibrary> TryFolder(const LibraryPlace& place, const LibraryRequest& request,
                                       Reasons& reasons) {
  bool tried = false;
  for (const std::string& name : request.names) {
    const std::filesystem::path path = std::filesystem::path(place.folder) / name;
    std::error_code ignored;
    if (!place.folder.empty() && !std::filesystem::exists(path, ignored)) continue;
    tried = true;
    if (auto library = TryFile(path, place.origin, request.symbols, reasons)) return library;
  }
  if (!tried) reasons.Add(place.folder, place.origin, "holds none of its names");
  return std::nullopt;
}

}  // namespace

Result<OpenedLibrary> OpenLibrary(const LibraryRequest& request) {
  Reasons reasons;
  for (const LibraryPlace& place : request.places) {
    auto library = place.file.empty()
                       ? TryFolder(place, request, reasons)
                       : TryFile(Absolute(place.file), place.origin, request.symbols, reasons);
    if (library) return *std::move(library);
  }
  return Unavailable(fmt::format("{} cannot be loaded; tried{}\n{}", request.what, reasons.text(),
                                 request.advice));
}

}  // namespace lijit::runtime
