// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "lijit/device.h"
#include "runtime/toolchain/driver.h"

namespace lijit {
namespace {

TEST(OpenDeviceTest, UnknownNamesAreErrorsThatListTheKnown) {
  for (const char* which : {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999"}) {
    const auto device = OpenDevice(which, "");
    ASSERT_FALSE(device.ok()) << which;
    EXPECT_EQ(device.error().code, ErrorCode::kInvalidArgument) << which;
    EXPECT_NE(device.error().message.find("auto, cuda, cuda:N and emulated"), std::string::npos);
  }
}

TEST(OpenDeviceTest, TheEmulatedDeviceChecksItsTarget) {
  EXPECT_EQ(OpenDevice("emulated", "sm_999").error().code, ErrorCode::kInvalidArgument);
  const auto native = OpenDevice("emulated", "native");
  ASSERT_FALSE(native.ok());
  EXPECT_NE(native.error().message.find("sm_86"), std::string::npos);
}

TEST(OpenDeviceTest, CudaWithoutADriverIsUnavailable) {
  if (runtime::ProcessDriver().ok()) GTEST_SKIP() << "there is a driver";
  for (const char* which : {"cuda", "cuda:1"}) {
    const auto device = OpenDevice(which, "");
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(device.error().message.find("emulated device"), std::string::npos)
        << device.error().message;
  }
}

TEST(OpenDeviceTest, EmulatedByNameAndByDefault) {
  const auto named = OpenDevice("emulated", "sm_90a");
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_EQ((*named)->info().target, "sm_90a");
  EXPECT_EQ((*named)->info().kind, DeviceKind::kEmulated);
  const auto unnamed = OpenDevice("emulated", "");
  ASSERT_TRUE(unnamed.ok());
  EXPECT_EQ((*unnamed)->info().target, "sm_86");
  if (runtime::ProcessDriver().ok()) return;
  const auto any = OpenDevice("auto", "sm_120f");
  ASSERT_TRUE(any.ok());
  EXPECT_EQ((*any)->info().target, "sm_120f");
}

}  // namespace
}  // namespace lijit
