// SPDX-License-Identifier: Apache-2.0
// The installed libraries, opened once; tests that need one skip with the reason when it is absent.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "runtime/toolchain/nvjitlink.h"
#include "runtime/toolchain/nvrtc.h"

namespace lijit::runtime {

inline const Result<std::shared_ptr<const Nvrtc>>& InstalledNvrtc() {
  static const auto nvrtc = Nvrtc::Open({}, ProcessEnvironment().value());
  return nvrtc;
}

inline const Result<std::shared_ptr<const NvJitLink>>& InstalledNvJitLink() {
  static const auto linker = NvJitLink::Open({}, ProcessEnvironment().value());
  return linker;
}

inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

#define LIJIT_NEED(library) \
  if (!(library).ok()) GTEST_SKIP() << (library).error().message

}  // namespace lijit::runtime
