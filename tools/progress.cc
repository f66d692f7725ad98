// SPDX-License-Identifier: Apache-2.0
#include "tools/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace lijit::tools {

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { Show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Progress::Set(int done, int total) {
  const std::lock_guard lock(mutex_);
  done_ = done;
  total_ = total;
}

void Progress::Show() {
  constexpr const char* kClearLine = "\r\x1b[K";
  std::unique_lock lock(mutex_);
  const auto finished_in_time = [&] {
    return changed_.wait_for(lock, std::chrono::seconds(1), [this] { return finished_; });
  };
  int seconds = 0;
  while (!finished_in_time()) {
    const std::string count = total_ > 0 ? fmt::format("{} of {}, ", done_, total_) : "";
    fmt::print(stderr, "{}{}: {}{} s", kClearLine, what_, count, ++seconds);
    std::fflush(stderr);
  }
  if (seconds > 0) fmt::print(stderr, "{}", kClearLine);
}

}  // namespace lijit::tools
