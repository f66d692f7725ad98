// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cache/cubin/synthetic_cubin.h"
#include "tests/unit/cache/cubin/test_files.h"

namespace lijit::cubin {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kKernels = {"tiny_scale", "tiny_local", "tiny_spill"};

std::string Why(const Status& status) {
  if (status.ok()) return "ok";
  EXPECT_EQ(status.error().code, ErrorCode::kDamaged);
  return status.error().message;
}

TEST(VerifyTest, RealCubinsPassForTheirTargetOnly) {
  for (const char* name : kCubinFiles) {
    if (std::string(name) == "object_sm_86") continue;
    const auto bytes = TestBytes(std::string(name) + ".cubin");
    const std::string target = std::string(name).substr(3);
    for (const char* other : {"sm_86", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103f",
                              "sm_120", "sm_120a", "sm_120f", "sm_8", "86", ""})
      EXPECT_EQ(Verify(bytes, other, kKernels).ok(), target == other) << name << " as " << other;
  }
}

TEST(VerifyTest, Reasons) {
  const auto bytes = TestBytes("v8_sm_90a.cubin");
  const std::vector<std::string> missing = {"tiny_scale", "other"};
  EXPECT_EQ(Why(Verify(bytes, "sm_90", kKernels)),
            "the cubin for sm_90 cannot be loaded: it was made for sm_90a");
  EXPECT_EQ(Why(Verify(bytes, "sm_90a", missing)),
            "the cubin for sm_90a cannot be loaded: it has no kernel other");
  EXPECT_THAT(Why(Verify(TestBytes("object_sm_86.cubin"), "sm_86", kKernels)),
              HasSubstr("relocatable object"));
  EXPECT_THAT(Why(Verify(TestBytes("tiny.cu"), "sm_86", kKernels)), HasSubstr("not a cubin"));
  EXPECT_THAT(Why(Verify({}, "sm_86", kKernels)), HasSubstr("not a cubin"));
}

TEST(VerifyTest, FamilyPassesWhereNothingRecordsIt) {
  SyntheticCubin cubin{.generation = 8, .sm = 100, .toolkit = 130};
  const std::vector<std::string> kernels = {"k"};
  EXPECT_TRUE(Verify(Build(cubin), "sm_100f", kernels).ok());
  EXPECT_TRUE(Verify(Build(cubin), "sm_100", kernels).ok());
  EXPECT_FALSE(Verify(Build(cubin), "sm_100a", kernels).ok());
  EXPECT_FALSE(Verify(Build(cubin), "sm_103f", kernels).ok());
  cubin.tool_command_lines = {"-arch sm_100"};
  EXPECT_FALSE(Verify(Build(cubin), "sm_100f", kernels).ok());
}

// The driver loads an sm_86 cubin that says sm_90, and then has no kernel.
TEST(VerifyTest, RelabelledCubinsAreRefused) {
  auto v8 = TestBytes("v8_sm_86.cubin");
  ASSERT_EQ(v8[0x31], std::byte{86});
  v8[0x31] = std::byte{90};
  EXPECT_THAT(Why(Verify(v8, "sm_90", kKernels)),
              HasSubstr("e_flags say sm_90, .note.nv.tkinfo says sm_86"));
  auto v7 = TestBytes("v7_sm_86.cubin");
  ASSERT_EQ(v7[0x30], std::byte{86});
  v7[0x30] = v7[0x32] = std::byte{90};
  EXPECT_THAT(Why(Verify(v7, "sm_90", kKernels)), HasSubstr("expect parameters at 0x160"));
  auto accelerated = TestBytes("v7_sm_90a.cubin");
  accelerated[0x31] &= ~std::byte{0x08};
  EXPECT_THAT(Why(Verify(accelerated, "sm_90a", kKernels)), HasSubstr("it was made for sm_90"));
}

}  // namespace
}  // namespace lijit::cubin
