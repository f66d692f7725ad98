// SPDX-License-Identifier: Apache-2.0
// Whole files, read and replaced. Failures are errno values: what they mean is the caller's to say.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lijit::cache {

class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// "no space left on device" for ENOSPC.
std::string ErrnoText(int error);

struct FileContents {
  int error = 0;           // errno, or 0
  bool too_large = false;  // more than asked for; bytes are not read
  std::vector<std::byte> bytes;
  UniqueFd fd;
  struct stat info = {};
};

// Reads a regular file of at most `max_size` bytes. Does not follow a link and never blocks on what
// is no regular file (ELOOP, EINVAL).
FileContents ReadFile(const std::string& path, std::uint64_t max_size);

// True if `path` still is what was opened: the same inode with the same contents and time.
bool IsUnchanged(const std::string& path, const struct stat& info);

// Names that WriteFile uses while it writes end so.
inline constexpr std::string_view kTemporarySuffix = ".tmp";

// Whether a file's contents must be on the disk before its name is.
enum class Durability { kSynced, kUnsynced };

// Whether a new file has exactly the mode given, or that less what the process's umask forbids.
enum class Permissions { kExact, kUmask };

// Replaces `path` in one step: a new file beside it, written, synced and renamed. Readers see the
// old or the new file, whole. 0 or errno; nothing is left behind.
int WriteFile(const std::string& path, std::span<const std::byte> bytes, mode_t mode,
              Durability durability, Permissions permissions = Permissions::kExact);

// Makes a folder of exactly this mode unless there is one. 0 or errno.
int MakeOneFolder(const std::string& path, mode_t mode);

// Calls `visit` with the name of each thing in a folder, in no order; nothing if there is none.
void ForEachName(const std::string& folder, const std::function<void(const std::string&)>& visit);

}  // namespace lijit::cache
