// SPDX-License-Identifier: Apache-2.0
#include "lijit/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "runtime/compile/compilers.h"
#include "runtime/compile/llvm_backend.h"
#include "runtime/toolchain/driver.h"
#include "runtime/toolchain/environment.h"
#include "runtime/toolchain/nvrtc.h"

namespace lijit {
namespace {

bool Mentions(const std::vector<std::string>& texts, const std::string& part) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(DoctorTest, ReportsWhatIsThere) {
  const DoctorReport report = Diagnose({.cache_dir = testing::TempDir() + "/not/made/yet",
                                        .library_directories = {},
                                        .python_prefixes = {}});
  const auto nvrtc = runtime::Nvrtc::Open({}, runtime::ProcessEnvironment().value());
  EXPECT_EQ(report.nvrtc.path, nvrtc.ok() ? (*nvrtc)->path() : "");
  EXPECT_EQ(report.nvrtc.version, nvrtc.ok() ? (*nvrtc)->Version().value() : "");
  EXPECT_EQ(report.nvrtc.problem.empty(), nvrtc.ok());
  EXPECT_EQ(report.llvm, runtime::LlvmVersion().ok() ? *runtime::LlvmVersion() : "not built");
  const ImageKind image = report.device == "emulated" ? ImageKind::kPtx : ImageKind::kCubin;
  const auto assembler = runtime::ProcessAssembler();
  EXPECT_EQ(report.assembler, assembler.ok() ? assembler->name : "");
  const auto backend = runtime::ChooseBackend("auto", image);
  EXPECT_EQ(report.backend, backend.ok() ? backend->name : "");
  EXPECT_EQ(report.backend_reason, backend.ok() ? backend->reason : "");
  EXPECT_EQ(report.ok, report.problems.empty());
  EXPECT_FALSE(Mentions(report.problems, "cache folder"));
  if (!runtime::ProcessDriver().ok()) {
    EXPECT_EQ(report.driver, "");
    EXPECT_EQ(report.device, "emulated");
    EXPECT_TRUE(Mentions(report.notes, "CUDA driver"));
  }
}

TEST(DoctorTest, ACacheFolderThatCannotBeIsAProblem) {
  const std::string file = "/proc/self/exe";  // there wherever the test runs
  const DoctorReport report =
      Diagnose({.cache_dir = file, .library_directories = {}, .python_prefixes = {}});
  EXPECT_FALSE(report.ok);
  EXPECT_TRUE(Mentions(report.problems, "is no folder; set LIJIT_CACHE_DIR"));
  const DoctorReport below =
      Diagnose({.cache_dir = file + "/sub", .library_directories = {}, .python_prefixes = {}});
  EXPECT_TRUE(Mentions(below.problems, "is no folder"));
  const DoctorReport none =
      Diagnose({.cache_dir = "", .library_directories = {}, .python_prefixes = {}});
  EXPECT_TRUE(Mentions(none.notes, "no cache folder"));
}

}  // namespace
}  // namespace lijit
