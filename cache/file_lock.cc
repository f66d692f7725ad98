// SPDX-License-Identifier: Apache-2.0
#include "cache/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <thread>

namespace lijit::cache {
namespace {

using Clock = std::chrono::steady_clock;
// Waiting polls, because a blocking flock cannot be given a time-out without signals. The longest
// pause is small against a compile (20 ms and up) and costs nothing measurable.
constexpr std::chrono::milliseconds kFirstPause{1}, kLongestPause{20};

int OpenLockFile(const std::string& path, mode_t mode) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;  // flock on NFS needs write
  int fd = open(path.c_str(), kFlags, mode & 0660);
  if (fd < 0 && errno == ENOENT) {
    (void)MakeOneFolder(std::filesystem::path(path).parent_path(), mode);
    fd = open(path.c_str(), kFlags, mode & 0660);
  }
  if (fd >= 0) (void)fchmod(fd, mode & 0660);  // the umask may have taken something away
  return fd;
}

bool IsAtPath(int fd, const std::string& path) {
  struct stat opened, named;
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

bool FileLock::TryOnce() {
  while (true) {
    fd_ = UniqueFd(OpenLockFile(path_, mode_));
    if (fd_ && flock(fd_.get(), LOCK_EX | LOCK_NB) == 0) {
      if (!IsAtPath(fd_.get(), path_)) continue;  // its holder removed it: lock the new one
      state_ = State::kHeld;
      return true;
    }
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return false;
    error_ = errno;
    state_ = State::kUnavailable;
    return true;
  }
}

FileLock FileLock::Acquire(std::string path, std::chrono::milliseconds timeout, mode_t mode) {
  FileLock lock(std::move(path), mode);
  const Clock::time_point deadline = Clock::now() + timeout;
  auto pause = kFirstPause;
  while (!lock.TryOnce() && Clock::now() < deadline) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  return lock;
}

FileLock::~FileLock() {
  if (!fd_ || !held()) return;
  unlink(path_.c_str());
  flock(fd_.get(), LOCK_UN);  // a forked child may have the descriptor, too
}

}  // namespace lijit::cache
