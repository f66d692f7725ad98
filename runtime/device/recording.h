// SPDX-License-Identifier: Apache-2.0
// A thread that records a graph must not load kernels: the driver would refuse it, or load in a
// place where nobody expects it. Both kinds of devices ask here.
#pragma once

#include <string_view>

#include "lijit/result.h"

namespace lijit::runtime {

// This thread records, until destruction.
class RecordingScope {
 public:
  RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;
  ~RecordingScope();
  // Failed if this thread was recording already.
  Status status() const;

 private:
  bool was_recording_;
};

// Failed, naming the kernel that was to be loaded, if this thread records.
Status CheckNotRecording(std::string_view kernel);

}  // namespace lijit::runtime
