// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/ptx_version.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/toolchain/toolchain_fixture.h"

namespace lijit::runtime {
namespace {

TEST(PtxVersion, FollowsTheRelease) {
  EXPECT_EQ(PtxVersionFor("13.0.88").value(), 90);
  EXPECT_EQ(PtxVersionFor("13.2.1").value(), kNewestPtxVersion);
  EXPECT_EQ(PtxVersionFor("14.0").value(), kNewestPtxVersion);
  EXPECT_EQ(PtxVersionFor("12.9").value(), 88);
  EXPECT_EQ(PtxVersionFor("12.6 size 123").value(), 85);
  EXPECT_EQ(PtxVersionFor("12.0.1").value(), 80);
}

TEST(PtxVersion, RefusesWhatIsTooOldOrNoRelease) {
  for (const char* text : {"11.8.0", "", "13", "13.", "x", "12.x"}) {
    const auto version = PtxVersionFor(text);
    ASSERT_FALSE(version.ok()) << text;
    EXPECT_EQ(version.error().code, ErrorCode::kUnavailable);
  }
}

// The assembler that is installed reads what the table says, and nothing newer.
TEST(PtxVersion, IsWhatTheInstalledAssemblerReads) {
  LIJIT_NEED(InstalledNvJitLink());
  const NvJitLink& linker = **InstalledNvJitLink();
  const auto release = linker.Version();
  ASSERT_TRUE(release.ok());
  const int version = PtxVersionFor(*release).value();
  const auto assemble = [&](int wanted) {
    return linker
        .Assemble({.ptx = ".version " + std::to_string(wanted / 10) + "." +
                          std::to_string(wanted % 10) +
                          "\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n",
                   .name = "k.ptx",
                   .target = "sm_80",
                   .options = {}})
        .ok();
  };
  EXPECT_TRUE(assemble(version));
  if (release->starts_with("13.0.")) {
    EXPECT_FALSE(assemble(version + 1));
  }
}

TEST(PtxVersion, HasAText) {
  EXPECT_EQ(PtxVersionText(90), "9.0");
  EXPECT_EQ(ParsePtxVersion("9.0").value(), 90);
  EXPECT_EQ(ParsePtxVersion("8.8").value(), 88);
  for (const char* text : {"", "9", "9.", "9.0 ", "9.10", "x.0", "-9.0", "0.1"}) {
    EXPECT_FALSE(ParsePtxVersion(text).ok()) << text;
  }
}

}  // namespace
}  // namespace lijit::runtime
