// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/backend_rule.h"

#include <gtest/gtest.h>

namespace lijit::runtime {
namespace {

constexpr const char* kNoLlvm = "no LLVM here.";
constexpr const char* kNoLinker = "no nvJitLink here.";
constexpr const char* kNoDriver = "no driver here.";
constexpr const char* kNoNvrtc = "no NVRTC here.";

CompilerProbes Probes(bool llvm, bool nvjitlink, bool nvrtc, bool driver = false) {
  return {.llvm = [=] { return llvm ? "" : kNoLlvm; },
          .nvjitlink = [=] { return nvjitlink ? "" : kNoLinker; },
          .driver = [=] { return driver ? "" : kNoDriver; },
          .nvrtc = [=] { return nvrtc ? "" : kNoNvrtc; }};
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// "ptx", "cuda", or "" if nothing can compile.
std::string Auto(ImageKind image, bool llvm, bool nvjitlink, bool nvrtc, bool driver = false) {
  const auto choice = ChooseBackend("auto", image, Probes(llvm, nvjitlink, nvrtc, driver));
  if (choice.ok()) {
    EXPECT_FALSE(choice->reason.empty());
    return choice->name;
  }
  EXPECT_EQ(choice.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(Has(choice.error().message, kNoNvrtc)) << choice.error().message;
  return "";
}

TEST(BackendRule, AutoTakesTheSoonerOneThatIsThere) {
  for (const bool nvrtc : {false, true}) {
    const std::string otherwise = nvrtc ? "cuda" : "";
    EXPECT_EQ(Auto(ImageKind::kCubin, true, true, nvrtc), "ptx");
    EXPECT_EQ(Auto(ImageKind::kCubin, true, false, nvrtc), otherwise);
    EXPECT_EQ(Auto(ImageKind::kCubin, false, true, nvrtc), otherwise);
    EXPECT_EQ(Auto(ImageKind::kPtx, true, false, nvrtc), "ptx");
    EXPECT_EQ(Auto(ImageKind::kPtx, false, true, nvrtc), otherwise);
  }
}

TEST(BackendRule, TheDriverAssemblesWhereNothingElseCompiles) {
  const bool kDriver = true;
  EXPECT_EQ(Auto(ImageKind::kCubin, true, false, false, kDriver), "ptx");
  EXPECT_EQ(Auto(ImageKind::kCubin, true, false, true, kDriver), "cuda");
  EXPECT_EQ(Auto(ImageKind::kCubin, false, false, false, kDriver), "");
  const auto last = ChooseBackend("auto", ImageKind::kCubin, Probes(true, false, false, kDriver));
  EXPECT_TRUE(Has(last->reason, "the CUDA driver assembles")) << last->reason;
  EXPECT_TRUE(Has(last->reason, kNoLinker)) << last->reason;
  const auto asked = ChooseBackend("ptx", ImageKind::kCubin, Probes(true, false, true, kDriver));
  EXPECT_TRUE(Has(asked->reason, "the CUDA driver assembles")) << asked->reason;
  const auto linked = ChooseBackend("ptx", ImageKind::kCubin, Probes(true, true, true, kDriver));
  EXPECT_FALSE(Has(linked->reason, "driver")) << linked->reason;
  const auto neither = ChooseBackend("ptx", ImageKind::kCubin, Probes(true, false, true));
  EXPECT_TRUE(Has(neither.error().message, kNoLinker)) << neither.error().message;
  EXPECT_TRUE(Has(neither.error().message, kNoDriver)) << neither.error().message;
}

TEST(BackendRule, SaysWhyItIsNotTheSoonerOne) {
  EXPECT_TRUE(
      Has(ChooseBackend("auto", ImageKind::kCubin, Probes(false, true, true))->reason, kNoLlvm));
  EXPECT_TRUE(
      Has(ChooseBackend("auto", ImageKind::kCubin, Probes(true, false, true))->reason, kNoLinker));
}

TEST(BackendRule, WhatIsAskedForIsTakenOrMissing) {
  EXPECT_EQ(ChooseBackend("cuda", ImageKind::kCubin, Probes(true, true, true))->name, "cuda");
  EXPECT_EQ(ChooseBackend("ptx", ImageKind::kPtx, Probes(true, false, false))->name, "ptx");
  const auto no_llvm = ChooseBackend("ptx", ImageKind::kPtx, Probes(false, true, true));
  ASSERT_FALSE(no_llvm.ok());
  EXPECT_EQ(no_llvm.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(Has(no_llvm.error().message, kNoLlvm));
  EXPECT_EQ(ChooseBackend("cuda", ImageKind::kPtx, Probes(true, true, false)).error().code,
            ErrorCode::kUnavailable);
  EXPECT_EQ(ChooseBackend("metal", ImageKind::kPtx, Probes(true, true, true)).error().code,
            ErrorCode::kInvalidArgument);
}

// Looking for a library loads it, which the first result would wait for.
TEST(BackendRule, LooksForNothingThatDoesNotMatter) {
  int looks = 0;
  CompilerProbes probes = Probes(true, true, true);
  probes.nvrtc = [&] { return ++looks, ""; };
  EXPECT_EQ(ChooseBackend("auto", ImageKind::kCubin, probes)->name, "ptx");
  probes.driver = probes.nvrtc;
  EXPECT_EQ(ChooseBackend("auto", ImageKind::kCubin, probes)->name, "ptx");
  probes.nvjitlink = probes.nvrtc;
  EXPECT_EQ(ChooseBackend("auto", ImageKind::kPtx, probes)->name, "ptx");
  EXPECT_EQ(looks, 0);
}

}  // namespace
}  // namespace lijit::runtime
