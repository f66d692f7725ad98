// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/nvml.h"

#include <gtest/gtest.h>

namespace lijit::runtime {
namespace {

// With the library and without it: no such device is an answer, not a crash, and asking again is
// the same.
TEST(NvmlTest, ADeviceThatThereIsNot) {
  for (int i = 0; i < 2; ++i) {
    const auto state = ReadDeviceState("no address");
    ASSERT_FALSE(state.ok());
    EXPECT_EQ(state.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(state.error().message.find("management library"), std::string::npos);
  }
}

}  // namespace
}  // namespace lijit::runtime
