// SPDX-License-Identifier: Apache-2.0
// One line on stderr that says how far a command is.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace lijit::tools {

// Shown after a second, and only if stderr is a terminal; gone when the object is.
class Progress {
 public:
  // `what` begins the line: "lijit warm".
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // "12 of 40". May be called by any thread.
  void Set(int done, int total);

 private:
  void Show();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  int done_ = 0, total_ = 0;
  std::thread thread_;  // runs only where there is a terminal
};

}  // namespace lijit::tools
