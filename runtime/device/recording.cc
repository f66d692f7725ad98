// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/recording.h"

#include <fmt/format.h>

#include <utility>

namespace lijit::runtime {
namespace {

thread_local bool is_recording = false;

}  // namespace

RecordingScope::RecordingScope() : was_recording_(std::exchange(is_recording, true)) {}
RecordingScope::~RecordingScope() { is_recording = was_recording_; }

Status RecordingScope::status() const {
  if (!was_recording_) return {};
  return Failed("a graph is being recorded by this thread; finish it before another one begins");
}

Status CheckNotRecording(std::string_view kernel) {
  if (!is_recording) return {};
  return Failed(fmt::format(
      "kernel '{}' was not loaded before the recording of a graph began, and nothing is loaded "
      "inside one; call the operation once, or prepare it, before",
      kernel));
}

}  // namespace lijit::runtime
