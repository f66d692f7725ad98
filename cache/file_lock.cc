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

int OpenLockFile(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;  // flock on NFS needs write
  constexpr mode_t kMode = 0660;
  int fd = open(path.c_str(), kFlags, kMode);
  if (fd >= 0 || errno != ENOENT) return fd;
  mkdir(std::filesystem::path(path).parent_path().c_str(), 0770);
  return open(path.c_str(), kFlags, kMode);
}

bool IsAtPath(int fd, const std::string& path) {
  struct stat opened, named;
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

bool FileLock::TryOnce() {
  while (true) {
    fd_ = UniqueFd(OpenLockFile(path_));
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

FileLock FileLock::Acquire(std::string path, std::chrono::milliseconds timeout) {
  FileLock lock(std::move(path));
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
