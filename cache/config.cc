// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "lijit/cache.h"

namespace lijit::cache {
namespace {

using Lookup = std::function<const char*(const char*)>;

struct Unit {
  std::string_view name;
  int shift;
};
constexpr Unit kUnits[] = {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};

Error BadSize(std::string_view text) {
  return InvalidArgument(fmt::format(
      "'{}' is not a size; accepted is a whole number, then B, KiB, MiB, GiB, TiB or nothing, "
      "for example 2GiB",
      text));
}

std::string Absolute(std::string_view path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? std::string(path) : absolute.lexically_normal().string();
}

// $XDG_CACHE_HOME/lijit or $HOME/.cache/lijit. The XDG specification says to ignore relative paths.
void SetDefaultFolder(const Lookup& lookup, CacheConfig& config) {
  const auto absolute = [&](const char* name) -> std::string {
    const char* const value = lookup(name);
    return value != nullptr && value[0] == '/' ? value : "";
  };
  if (const std::string xdg = absolute("XDG_CACHE_HOME"); !xdg.empty()) {
    config.dir = Absolute(xdg + "/lijit");
  } else if (const std::string home = absolute("HOME"); !home.empty()) {
    config.dir = Absolute(home + "/.cache/lijit");
  } else {
    config.note =
        "no cache on disk: none of LIJIT_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder";
  }
}

std::vector<std::string> SplitFolders(std::string_view list) {
  std::vector<std::string> folders;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end != 0) folders.push_back(Absolute(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return folders;
}

}  // namespace

Result<std::uint64_t> ParseSize(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc()) return BadSize(text);
  const std::string_view name(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  for (const Unit& unit : kUnits) {
    if (name != unit.name) continue;
    if (number > std::numeric_limits<std::uint64_t>::max() >> unit.shift) return BadSize(text);
    return number << unit.shift;
  }
  return BadSize(text);
}

Result<CacheConfig> ConfigFromEnvironment(const Lookup& custom_lookup) {
  const Lookup lookup =
      custom_lookup ? custom_lookup : [](const char* name) { return std::getenv(name); };
  CacheConfig config;
  if (const char* const dir = lookup("LIJIT_CACHE_DIR"); dir == nullptr) {
    SetDefaultFolder(lookup, config);
  } else if (dir[0] != '\0') {
    config.dir = Absolute(dir);
  } else {
    config.note = "no cache on disk: LIJIT_CACHE_DIR is set and empty";
  }
  if (const char* const dirs = lookup("LIJIT_CACHE_READONLY_DIRS"); dirs != nullptr) {
    config.readonly_dirs = SplitFolders(dirs);
  }
  if (const char* const size = lookup("LIJIT_CACHE_MAX_SIZE"); size != nullptr) {
    const Result<std::uint64_t> bytes = ParseSize(size);
    if (!bytes.ok()) return InvalidArgument("LIJIT_CACHE_MAX_SIZE: " + bytes.error().message);
    config.max_size = *bytes;
  }
  return config;
}

}  // namespace lijit::cache
