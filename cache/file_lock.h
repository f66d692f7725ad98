// SPDX-License-Identifier: Apache-2.0
// A lock between processes: flock on a file that exists only while somebody wants it. The holder
// removes the file before it lets go, and who gets a lock checks that the file it locked still is
// the one at the path, so two processes never hold two files of one name. The kernel lets go for a
// killed process. It also excludes threads of one process.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <string>

#include "cache/file_io.h"

namespace lijit::cache {

class FileLock {
 public:
  enum class State { kHeld, kTimedOut, kUnavailable };

  // Waits for at most `timeout`; 0 tries once. Makes the last folder of `path`, with `mode`, if
  // there is none; who may write there may lock.
  static FileLock Acquire(std::string path, std::chrono::milliseconds timeout, mode_t mode = 0700);

  FileLock(FileLock&& other) = default;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  State state() const { return state_; }
  bool held() const { return state_ == State::kHeld; }
  // Why it is unavailable: an errno, for example ENOLCK on a network file system.
  int error() const { return error_; }

 private:
  FileLock(std::string path, mode_t mode) : path_(std::move(path)), mode_(mode) {}
  bool TryOnce();  // false: somebody else holds it

  std::string path_;
  mode_t mode_;
  UniqueFd fd_;
  State state_ = State::kTimedOut;
  int error_ = 0;
};

}  // namespace lijit::cache
