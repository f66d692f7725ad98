// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/nvjitlink.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "compiler/target/target.h"
#include "tests/unit/runtime/toolchain/toolchain_fixture.h"

// nvJitLink 13.0 keeps some 4 KB of a few assemblies; the leak is its own. LeakSanitizer asks this.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libnvJitLink.so\n";
}

namespace lijit::runtime {
namespace {

std::string Ptx(std::string_view target, std::string_view body = "") {
  return fmt::format(
      ".version 9.0\n.target {}\n.address_size 64\n"
      ".visible .entry first(.param .u64 p) {{\n"
      "  .reg .b64 a;\n  .reg .b32 v;\n  .shared .align 4 .b8 s[128];\n"
      "  ld.param.u64 a, [p];\n  mov.u32 v, s;\n  bar.sync 0;\n{}\n  st.global.u32 [a], v;\n"
      "  ret;\n}}\n"
      ".visible .entry second() {{ ret; }}\n",
      target, body);
}

AssembleRequest Request(std::string_view target) {
  return {.ptx = Ptx(target), .name = "k.ptx", .target = std::string(target), .options = {}};
}

class NvJitLinkTest : public testing::Test {
 protected:
  void SetUp() override {
    LIJIT_NEED(InstalledNvJitLink());
    const auto version = linker().Version();
    if (version.ok() && version->starts_with("12.")) GTEST_SKIP() << "PTX 9.0 needs CUDA 13";
  }
  static const NvJitLink& linker() { return **InstalledNvJitLink(); }
};

TEST_F(NvJitLinkTest, AssemblesForEveryTarget) {
  for (const target::Target& row : target::AllTargets()) {
    const auto made = linker().Assemble(Request(row.name));
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(ToText(made->image).substr(0, 4),
              "\x7f"
              "ELF")
        << row.name;
    ASSERT_EQ(made->resources.size(), 2u) << made->log;
    EXPECT_EQ(made->kernels.size(), 2u);
    for (const KernelResources& kernel : made->resources) {
      EXPECT_EQ(kernel.target, row.name);
      EXPECT_EQ(kernel.shared_bytes, kernel.kernel == "first" ? 128u : 0u) << made->log;
    }
  }
}

TEST_F(NvJitLinkTest, PtxOfAnOlderBaseAssemblesForALaterTarget) {
  AssembleRequest request = Request("sm_80");
  request.target = "sm_90a";
  request.options = {"-O1"};
  EXPECT_TRUE(linker().Assemble(request).ok());
  request = Request("sm_90");
  request.target = "sm_86";
  EXPECT_FALSE(linker().Assemble(request).ok());
}

TEST_F(NvJitLinkTest, ErrorsShowTheLogAndQuoteThePtx) {
  AssembleRequest request = Request("sm_86");
  request.ptx = Ptx("sm_86", "  nonsense.u32 v;");
  const auto made = linker().Assemble(request);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kFailed);
  EXPECT_TRUE(Contains(made.error().message, "k.ptx for sm_86: PTX does not assemble"))
      << made.error().message;
  EXPECT_TRUE(Contains(made.error().message, ">    11 |   nonsense.u32 v;"))
      << made.error().message;
}

TEST_F(NvJitLinkTest, UnknownTargetsAndOptionsAreErrors) {
  AssembleRequest request = Request("sm_86");
  request.target = "sm_999";
  EXPECT_EQ(linker().Assemble(request).error().code, ErrorCode::kInvalidArgument);
  request = Request("sm_86");
  request.options = {"--output-file=/tmp/x"};
  EXPECT_EQ(linker().Assemble(request).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(NvJitLinkTest, TheVersionNamesTheBuild) {
  const Result<std::string>& version = linker().Version();
  ASSERT_TRUE(version.ok()) << version.error().message;
  int major = 0;
  int minor = 0;
  int build = 0;
  EXPECT_EQ(std::sscanf(version->c_str(), "%d.%d.%d", &major, &minor, &build), 3) << *version;
}

TEST_F(NvJitLinkTest, ManyThreadsAssemble) {
  std::vector<std::thread> threads;
  std::vector<std::vector<std::byte>> images(8);
  for (auto& image : images) {
    threads.emplace_back([&image] { image = linker().Assemble(Request("sm_86")).value().image; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& image : images) EXPECT_EQ(image, images[0]);
}

}  // namespace
}  // namespace lijit::runtime
