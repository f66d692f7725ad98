// SPDX-License-Identifier: Apache-2.0
// Whom to trust: the rule at the top of lijit/cache.h.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "cache/file_io.h"
#include "cache/folder.h"

namespace lijit::cache {
namespace {

// See https://bford.info/cachedir/: the first line is fixed.
constexpr std::string_view kTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder holds compiled kernels of lijit. It may be deleted at any time.\n";

Error Unusable(const std::string& path, std::string_view why, std::string_view advice) {
  return Unavailable(fmt::format("the cache folder {} is not used: {}; {}", path, why, advice));
}

Status MakeFolder(const std::string& path) {
  std::error_code ignored;  // mkdir reports what matters
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Unusable(path, "it cannot be made: " + ErrnoText(errno),
                  "set LIJIT_CACHE_DIR to a folder that can be written");
}

Status CheckTrust(const std::string& path, bool readonly, const struct stat& info) {
  if (!S_ISDIR(info.st_mode)) {
    return Unusable(path, "it is not a folder", "name a folder");
  }
  if ((info.st_mode & S_IWOTH) != 0) {
    return Unusable(path,
                    fmt::format("everybody may write to it (mode {:04o})", info.st_mode & 07777),
                    "take that permission away (chmod o-w) or name another folder");
  }
  if (!readonly && info.st_uid != geteuid() && info.st_uid != 0) {
    return Unusable(
        path,
        fmt::format("it belongs to user {}, this process runs as user {}", info.st_uid, geteuid()),
        "set LIJIT_CACHE_DIR to a folder of your own, or list this one in "
        "LIJIT_CACHE_READONLY_DIRS if you trust its owner");
  }
  return {};
}

void WriteTag(const Folder& folder) {
  const std::string path = folder.path + "/CACHEDIR.TAG";
  if (access(path.c_str(), F_OK) == 0) return;
  (void)WriteFile(path, std::as_bytes(std::span(kTag)), folder.mode & 0666, Durability::kUnsynced);
}

}  // namespace

Result<Folder> OpenFolder(const std::string& path, bool readonly) {
  if (!readonly) LIJIT_TRY(MakeFolder(path));
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    return Unusable(path, ErrnoText(errno), "name a folder that is there and can be read");
  }
  LIJIT_TRY(CheckTrust(path, readonly, info));
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return Unusable(path, error.message(), "name a folder that can be read");
  Folder folder{real.string(), readonly, static_cast<mode_t>(info.st_mode & 0775)};
  if (!readonly) WriteTag(folder);
  return folder;
}

}  // namespace lijit::cache
