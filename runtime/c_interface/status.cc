// SPDX-License-Identifier: Apache-2.0
#include "runtime/c_interface/status.h"

#include <fmt/format.h>

#include <new>
#include <string>

namespace lijit::c_interface {
namespace {

struct LastError {
  std::string text;
  const char* shown = "";
};

LastError& OfThisThread() noexcept {
  thread_local LastError error;
  return error;
}

lijit_status CodeOf(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return LIJIT_INVALID_ARGUMENT;
    case ErrorCode::kRefused:
      return LIJIT_REFUSED;
    case ErrorCode::kUnavailable:
      return LIJIT_UNAVAILABLE;
    case ErrorCode::kDamaged:
      return LIJIT_DAMAGED;
    case ErrorCode::kFailed:
      break;
  }
  return LIJIT_FAILED;
}

}  // namespace

lijit_status Remember(ErrorCode code, std::string_view message) noexcept {
  LastError& error = OfThisThread();
  try {
    error.text = message;
    error.shown = error.text.c_str();
  } catch (const std::bad_alloc&) {
    error.shown = "memory for the error's message is exhausted";
  }
  return CodeOf(code);
}

Status CheckGiven(const void* pointer, std::string_view name) {
  if (pointer != nullptr) return {};
  return InvalidArgument(fmt::format("{} is null; it has to be given", name));
}

std::string_view TextOf(const char* text) { return text == nullptr ? "" : text; }

}  // namespace lijit::c_interface

const char* lijit_last_error(void) { return lijit::c_interface::OfThisThread().shown; }
