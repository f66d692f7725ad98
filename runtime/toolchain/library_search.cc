// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/library_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace lijit::runtime {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMajorVersions[] = {"13", "12"};
// Runfile installations have lib64, distributions lib, conda targets/.../lib.
constexpr const char* kToolkitFolders[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                           "targets/sbsa-linux/lib"};

// "cuda-12.8" -> {12, 8}; {-1, -1} for other names.
std::pair<int, int> ToolkitVersion(std::string_view name) {
  constexpr std::string_view kPrefix = "cuda-";
  if (!name.starts_with(kPrefix)) return {-1, -1};
  const char* const end = name.data() + name.size();
  int major = -1;
  int minor = 0;
  const auto [dot, problem] = std::from_chars(name.data() + kPrefix.size(), end, major);
  if (problem != std::errc()) return {-1, -1};
  if (dot != end && *dot == '.') std::from_chars(dot + 1, end, minor);
  return {major, minor};
}

// Sub-folders of `folder` that exist, by name; none when it does not exist itself.
std::vector<fs::path> SubFolders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code problem;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end;
       it.increment(problem)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> Toolkits(const std::string& root) {
  std::vector<fs::path> toolkits;
  for (const fs::path& folder : SubFolders(root)) {
    if (ToolkitVersion(folder.filename().string()).first >= 0) toolkits.push_back(folder);
  }
  std::sort(toolkits.begin(), toolkits.end(), [](const fs::path& a, const fs::path& b) {
    return ToolkitVersion(a.filename().string()) > ToolkitVersion(b.filename().string());
  });
  std::error_code ignored;
  const fs::path chosen = fs::path(root) / "cuda";
  if (fs::exists(chosen, ignored)) toolkits.insert(toolkits.begin(), chosen);
  return toolkits;
}

void AddToolkit(const fs::path& toolkit, const std::string& origin,
                std::vector<LibraryPlace>& places) {
  for (const char* name : kToolkitFolders) {
    std::error_code ignored;
    const fs::path folder = toolkit / name;
    if (fs::is_directory(folder, ignored)) places.push_back({origin, folder.string(), ""});
  }
}

// <prefix>/lib/python3.X/site-packages/nvidia/... (Debian says dist-packages).
void AddWheels(const std::string& prefix, const LibraryKind& kind,
               std::vector<LibraryPlace>& places) {
  for (const fs::path& python : SubFolders(fs::path(prefix) / "lib")) {
    if (!python.filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const char* wheel : kind.wheel_folders) {
        std::error_code ignored;
        const fs::path folder = python / packages / wheel;
        if (fs::is_directory(folder, ignored)) {
          places.push_back({"a Python wheel", folder.string(), ""});
        }
      }
    }
  }
}

}  // namespace

std::vector<std::string> LibraryNames(const LibraryKind& kind) {
  std::vector<std::string> names;
  for (const char* version : kMajorVersions) {
    names.push_back(fmt::format("{}.so.{}", kind.stem, version));
  }
  return names;
}

std::vector<LibraryPlace> LibraryPlaces(const LibraryKind& kind, const SearchPaths& paths,
                                        const std::string& environment_file,
                                        const std::string& cuda_home, const std::string& toolkits) {
  if (!paths.file.empty()) return {{"named by the caller", "", paths.file}};
  if (!environment_file.empty()) return {{kind.variable, "", environment_file}};
  std::vector<LibraryPlace> places;
  for (const std::string& folder : paths.directories) {
    if (!folder.empty()) places.push_back({"named by the caller", folder, ""});
  }
  if (!cuda_home.empty()) AddToolkit(cuda_home, "CUDA_HOME", places);
  for (const std::string& prefix : paths.python_prefixes) AddWheels(prefix, kind, places);
  places.push_back({"the loader's path", "", ""});
  for (const fs::path& toolkit : Toolkits(toolkits)) {
    AddToolkit(toolkit, "a toolkit's folder", places);
  }
  return places;
}

}  // namespace lijit::runtime
