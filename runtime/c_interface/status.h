// SPDX-License-Identifier: Apache-2.0
// From Status and exceptions to a code and the thread's message.
#pragma once

#include <exception>
#include <string_view>

#include "lijit/lijit.h"
#include "lijit/result.h"

namespace lijit::c_interface {

// The code of the error, whose message becomes the thread's.
lijit_status Remember(ErrorCode code, std::string_view message) noexcept;

// What `body` returns, a Status. An exception is LIJIT_FAILED and goes no further.
template <typename Body>
lijit_status Call(const Body& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? LIJIT_OK : Remember(status.error().code, status.error().message);
  } catch (const std::exception& exception) {
    return Remember(ErrorCode::kFailed, exception.what());
  } catch (...) {
    return Remember(ErrorCode::kFailed, "an exception of unknown type");
  }
}

// InvalidArgument unless the pointer, whose argument is `name`, is given.
Status CheckGiven(const void* pointer, std::string_view name);

// "" for null.
std::string_view TextOf(const char* text);

}  // namespace lijit::c_interface
