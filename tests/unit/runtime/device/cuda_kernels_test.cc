// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda_kernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "tests/unit/runtime/device/fake_driver.h"

namespace lijit::runtime {
namespace {

constexpr std::uint32_t kMaxShared = 1000;

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

class CudaKernelsTest : public testing::Test {
 protected:
  CudaKernelsTest()
      : context_(FakeDriver(), 3), kernels_(context_, "sm_86", ImageKind::kPtx, kMaxShared) {
    EXPECT_TRUE(context_.Open().ok());
  }
  KernelHandle Load() { return kernels_.Load(Bytes("ptx"), "k").value(); }
  static void ExpectError(const Status& status, std::string_view part) {
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  }

  CudaContext context_;
  CudaKernels kernels_;
};

TEST_F(CudaKernelsTest, LaunchesWithThePackedParameters) {
  const KernelHandle kernel = Load();
  EXPECT_EQ(FakeState().loaded_text, "ptx");
  const LaunchShape shape{.grid = {4, 5, 6}, .block = {8, 2, 1}, .dynamic_shared_bytes = 7};
  const std::string_view parameters = "abcdefgh";
  ASSERT_TRUE(kernels_.Launch(kernel, shape, Bytes(parameters), nullptr).ok());
  EXPECT_EQ(FakeState().launch, (std::vector<unsigned>{4, 5, 6, 8, 2, 1, 7}));
  ASSERT_EQ(FakeState().parameters.size(), parameters.size());
  EXPECT_EQ(std::memcmp(FakeState().parameters.data(), parameters.data(), parameters.size()), 0);
  EXPECT_EQ(kernels_.last_launched(), "k");
  ASSERT_TRUE(kernels_.Launch(kernel, {}, {}, nullptr).ok());
  EXPECT_TRUE(FakeState().parameters.empty());
  EXPECT_EQ(FakeState().depth, 0);
}

TEST_F(CudaKernelsTest, SharedMemoryIsWhatTheKernelLeaves) {
  FakeState().static_shared_bytes = 300;
  const KernelHandle kernel = Load();
  EXPECT_EQ(FakeState().max_dynamic_shared_bytes, 700);
  LaunchShape shape;
  shape.dynamic_shared_bytes = 700;
  EXPECT_TRUE(kernels_.Launch(kernel, shape, {}, nullptr).ok());
  shape.dynamic_shared_bytes = 701;
  ExpectError(kernels_.Launch(kernel, shape, {}, nullptr), "701 bytes of dynamic shared memory");
}

TEST_F(CudaKernelsTest, ShapesAreChecked) {
  const KernelHandle kernel = Load();
  const auto launch = [&](std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block) {
    return kernels_.Launch(kernel, {.grid = grid, .block = block, .dynamic_shared_bytes = 0}, {},
                           nullptr);
  };
  ExpectError(launch({0, 1, 1}, {1, 1, 1}), "grid (0, 1, 1)");
  ExpectError(launch({1, 65536, 1}, {1, 1, 1}), "grid (1, 65536, 1)");
  ExpectError(launch({1, 1, 1}, {257, 1, 1}), "257 threads, the kernel takes 1 to 256");
  ExpectError(launch({1, 1, 1}, {1, 0, 1}), "block (1, 0, 1)");
  ExpectError(launch({1, 1, 1}, {1024, 1024, 4096}), "block (1024, 1024, 4096)");
  EXPECT_TRUE(launch({2147483647, 65535, 65535}, {256, 1, 1}).ok());
}

TEST_F(CudaKernelsTest, HandlesOfOthersAreRefused) {
  CudaKernels other(context_, "sm_86", ImageKind::kPtx, kMaxShared);
  ExpectError(other.Launch(Load(), {}, {}, nullptr), "was not loaded on CUDA device 3");
  ExpectError(kernels_.Launch({}, {}, {}, nullptr), "kernel handle 0");
}

TEST_F(CudaKernelsTest, ImagesOfTheWrongKindAreRefusedBeforeTheDriver) {
  EXPECT_FALSE(kernels_
                   .Load(Bytes("\x7f"
                               "ELF rest"),
                         "k")
                   .ok());
  EXPECT_FALSE(kernels_.Load({}, "k").ok());
  CudaKernels native(context_, "sm_86", ImageKind::kCubin, kMaxShared);
  const auto loaded = native.Load(Bytes("\x7f"
                                        "ELF rest"),
                                  "k");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(FakeState().modules, 0);
}

TEST_F(CudaKernelsTest, LoadingInsideACaptureNamesTheKernel) {
  FakeState().results["StreamIsCapturing"] = kCuErrorStreamCaptureImplicit;
  const auto refused = kernels_.Load(Bytes("ptx"), "paged_logits");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message.find("kernel 'paged_logits' was not loaded before"), 0u);
  FakeState().results = {{"ModuleLoadDataEx", kCuErrorStreamCaptureUnsupported}};
  const auto failed = kernels_.Load(Bytes("ptx"), "paged_logits");
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("'paged_logits'"), std::string::npos);
  EXPECT_NE(failed.error().message.find("before a stream capture began"), std::string::npos);
}

TEST_F(CudaKernelsTest, FailuresCarryTheAssemblersLogAndUnload) {
  FakeState().results = {{"ModuleLoadDataEx", 218}};
  FakeState().log = "line 7: syntax error";
  const auto failed = kernels_.Load(Bytes("ptx"), "k");
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("line 7: syntax error"), std::string::npos);
  FakeState().results = {{"ModuleGetFunction", kCuErrorNotFound}};
  EXPECT_FALSE(kernels_.Load(Bytes("ptx"), "k").ok());
  EXPECT_EQ(FakeState().modules, 0);
}

TEST_F(CudaKernelsTest, ALaunchThatFailsNamesTheKernelBeforeIt) {
  const KernelHandle kernel = Load();
  ASSERT_TRUE(kernels_.Launch(kernel, {}, {}, nullptr).ok());
  FakeState().results = {{"LaunchKernel", 700}};
  ExpectError(kernels_.Launch(kernel, {}, {}, nullptr),
              "launching 'k' on CUDA device 3, after 'k': CUDA_ERROR (700)");
}

TEST_F(CudaKernelsTest, ModulesAreUnloadedAndTheContextReleased) {
  {
    CudaContext context(context_.driver(), 0);
    ASSERT_TRUE(context.Open().ok());
    EXPECT_EQ(FakeState().contexts, 2);
    CudaKernels kernels(context, "sm_86", ImageKind::kPtx, kMaxShared);
    ASSERT_TRUE(kernels.Load(Bytes("ptx"), "k").ok());
    EXPECT_EQ(FakeState().modules, 1);
  }
  EXPECT_EQ(FakeState().modules, 0);
  EXPECT_EQ(FakeState().contexts, 1);
}

}  // namespace
}  // namespace lijit::runtime
