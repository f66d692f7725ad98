// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/compilers.h"

#include <gtest/gtest.h>

#include <regex>

#include "runtime/compile/llvm_backend.h"

namespace lijit::runtime {
namespace {

bool Matches(const std::string& text, const char* pattern) {
  return std::regex_match(text, std::regex(pattern));
}

TEST(CompilerVersion, NamesEveryBuildThatMakesTheImage) {
  if (ProcessNvrtc().ok()) {
    const std::string version = CompilerVersion("cuda", ImageKind::kCubin).value();
    EXPECT_TRUE(Matches(version, R"(nvrtc \d+\.\d+\.\d+ CL-\d+)")) << version;
    EXPECT_EQ(CompilerVersion("cuda", ImageKind::kPtx).value(), version);
  }
  if (!LlvmVersion().ok()) {
    EXPECT_EQ(CompilerVersion("ptx", ImageKind::kPtx).error().code, ErrorCode::kUnavailable);
    return;
  }
  const std::string ptx = CompilerVersion("ptx", ImageKind::kPtx).value();
  EXPECT_TRUE(Matches(ptx, R"(llvm 22\.\d+\.\d+, ptx \d+\.\d)")) << ptx;
  if (!ProcessNvJitLink().ok()) return;
  const std::string cubin = CompilerVersion("ptx", ImageKind::kCubin).value();
  EXPECT_TRUE(Matches(cubin, R"(llvm 22\.\d+\.\d+, ptx \d+\.\d, nvjitlink \d+\.\d+.*)")) << cubin;
}

TEST(ProcessBackend, IsWhatTheRuleSaysOfThisProcess) {
  if (!ProcessEnvironment().value().backend.empty()) GTEST_SKIP() << "LIJIT_BACKEND is set";
  const auto choice = ChooseBackend("auto", ImageKind::kPtx);
  if (LlvmVersion().ok()) {
    EXPECT_EQ(choice.value().name, "ptx");
  } else if (ProcessNvrtc().ok()) {
    EXPECT_EQ(choice.value().name, "cuda");
  } else {
    EXPECT_FALSE(choice.ok());
  }
}

}  // namespace
}  // namespace lijit::runtime
