// SPDX-License-Identifier: Apache-2.0
// How kinds of failure leave the program: exit code and name in --json. (Documented in README.md.)
#pragma once

#include <string_view>

#include "lijit/result.h"

namespace lijit::tools {

enum ExitCode : int {
  kExitDone = 0,
  kExitNo = 1,       // it ran and the answer is no, or it failed
  kExitUsage = 2,    // options or input are wrong
  kExitRefused = 3,  // the capability gate is closed
  kExitLacking = 4,  // the environment lacks something
};

struct ErrorKind {
  ErrorCode code;
  std::string_view name;
  ExitCode exit_code;
};
inline constexpr ErrorKind kErrorKinds[] = {
    {ErrorCode::kInvalidArgument, "invalid_argument", kExitUsage},
    {ErrorCode::kRefused, "refused", kExitRefused},
    {ErrorCode::kUnavailable, "unavailable", kExitLacking},
    {ErrorCode::kDamaged, "damaged", kExitNo},
    {ErrorCode::kFailed, "failed", kExitNo},
};

constexpr const ErrorKind& KindOf(ErrorCode code) {
  for (const ErrorKind& kind : kErrorKinds) {
    if (kind.code == code) return kind;
  }
  AbortAt(__FILE__, __LINE__, "every ErrorCode has a row");
}

}  // namespace lijit::tools
