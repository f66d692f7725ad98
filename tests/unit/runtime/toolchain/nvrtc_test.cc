// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/nvrtc.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "compiler/target/target.h"
#include "tests/unit/runtime/toolchain/toolchain_fixture.h"

namespace lijit::runtime {
namespace {

constexpr const char* kSource = R"(extern "C" __global__ void swap(float* p) {
  __shared__ float s[64];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x ^ 1];
}
template <int n> __global__ void scale(float* p) { p[threadIdx.x] *= n; }
)";

CompileRequest Request(std::string architecture) {
  return {.source = kSource,
          .name = "swap.cu",
          .architecture = std::move(architecture),
          .options = {},
          .kernels = {"swap", "scale<3>"}};
}

class NvrtcTest : public testing::Test {
 protected:
  void SetUp() override { LIJIT_NEED(InstalledNvrtc()); }
  static const Nvrtc& nvrtc() { return **InstalledNvrtc(); }
};

TEST_F(NvrtcTest, CubinsForEveryTarget) {
  for (const target::Target& row : target::AllTargets()) {
    const auto made = nvrtc().Compile(Request(std::string(row.name)));
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made->kind, ImageKind::kCubin);
    EXPECT_EQ(ToText(made->image).substr(0, 4),
              "\x7f"
              "ELF")
        << row.name;
    EXPECT_EQ(made->kernels, (std::vector<std::string>{"swap", "_Z5scaleILi3EEvPf"}));
    ASSERT_EQ(made->resources.size(), 2u) << made->log;
    for (const KernelResources& kernel : made->resources) {
      EXPECT_EQ(kernel.target, row.name);
      EXPECT_GT(kernel.registers, 0u);
      EXPECT_EQ(kernel.shared_bytes, kernel.kernel == "swap" ? 256u : 0u) << made->log;
      EXPECT_EQ(kernel.barriers, kernel.kernel == "swap" ? 1u : 0u) << made->log;
    }
  }
}

TEST_F(NvrtcTest, PtxForEveryTarget) {
  for (const target::Target& row : target::AllTargets()) {
    const auto made = nvrtc().Compile(Request(std::string(row.ptx_architecture)));
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made->kind, ImageKind::kPtx);
    EXPECT_TRUE(Contains(ToText(made->image), "\n.target " + std::string(row.name) + "\n"));
    EXPECT_TRUE(Contains(ToText(made->image), ".entry swap("));
    EXPECT_NE(ToText(made->image).back(), '\0');
    EXPECT_TRUE(made->resources.empty());
  }
}

TEST_F(NvrtcTest, EqualRequestsMakeEqualBytesAndLogs) {
  const auto first = nvrtc().Compile(Request("sm_86"));
  const auto second = nvrtc().Compile(Request("sm_86"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->image, second->image);
  EXPECT_EQ(first->log, second->log);
}

TEST_F(NvrtcTest, OptionsReachTheCompiler) {
  CompileRequest request = Request("sm_86");
  request.source = "extern \"C\" __global__ void swap(float* p) { *p = LIJIT_VALUE; }";
  request.kernels = {"swap"};
  EXPECT_FALSE(nvrtc().Compile(request).ok());
  request.options = {"-DLIJIT_VALUE=3", "--ptxas-options=-O0"};
  const auto made = nvrtc().Compile(request);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->resources.size(), 1u) << made->log;
}

TEST_F(NvrtcTest, SpillsAreReported) {
  CompileRequest request = Request("sm_86");
  // Volatile accesses keep their order, so all 64 values are live at once.
  request.source = R"(extern "C" __global__ void swap(volatile float* p) {
    float v[64];
    for (int i = 0; i < 64; ++i) v[i] = p[i];
    for (int i = 0; i < 64; ++i) p[i] = v[i];
  })";
  request.kernels = {"swap"};
  request.options = {"--maxrregcount=32"};
  const auto made = nvrtc().Compile(request);
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made->resources.size(), 1u);
  EXPECT_GT(made->resources[0].spill_store_bytes, 0u) << made->log;
  EXPECT_GT(made->resources[0].spill_load_bytes, 0u) << made->log;
  EXPECT_GT(made->resources[0].stack_bytes, 0u) << made->log;
}

TEST_F(NvrtcTest, ErrorsShowTheLogAndQuoteTheSource) {
  CompileRequest request = Request("sm_90a");
  request.source =
      "extern \"C\" __global__ void swap(float* p) {\n  *p = 1;\n  *p = nonsense;\n}\n";
  request.kernels = {"swap"};
  const auto made = nvrtc().Compile(request);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kFailed);
  const std::string& message = made.error().message;
  EXPECT_TRUE(Contains(message, "did not compile swap.cu for sm_90a: compilation")) << message;
  EXPECT_TRUE(Contains(message, "swap.cu(3): error: identifier \"nonsense\"")) << message;
  EXPECT_TRUE(Contains(message, ">     3 |   *p = nonsense;")) << message;
}

TEST_F(NvrtcTest, ErrorsOfPtxasQuoteThePtx) {
  CompileRequest request = Request("sm_86");
  request.source = "extern \"C\" __global__ void swap() { asm volatile(\"nonsense.u32;\"); }";
  request.kernels = {"swap"};
  const auto made = nvrtc().Compile(request);
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(Contains(made.error().message, " | \tnonsense.u32;\n")) << made.error().message;
}

TEST_F(NvrtcTest, UnknownKernelsArchitecturesAndOptionsAreErrors) {
  CompileRequest kernel = Request("sm_86");
  kernel.kernels = {"no_such_kernel"};
  EXPECT_TRUE(Contains(nvrtc().Compile(kernel).error().message, "no_such_kernel"));
  for (const char* name : {"", "sm_90f", "compute_9", "86"}) {
    const auto made = nvrtc().Compile(Request(name));
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(nvrtc().Compile(Request("sm_75")).error().code, ErrorCode::kRefused);
  CompileRequest option = Request("sm_86");
  option.options = {"-I/usr/include"};
  EXPECT_EQ(nvrtc().Compile(option).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(NvrtcTest, HeadersAreNotFound) {
  CompileRequest request = Request("sm_86");
  request.source = "#include \"nvrtc_test.cc\"\n";
  request.kernels = {};
  EXPECT_TRUE(Contains(nvrtc().Compile(request).error().message, "nvrtc_test.cc"));
}

TEST_F(NvrtcTest, TheVersionNamesTheBuild) {
  const Result<std::string>& version = nvrtc().Version();
  ASSERT_TRUE(version.ok()) << version.error().message;
  int major = 0;
  int minor = 0;
  int build = 0;
  char changelist[32] = {};
  ASSERT_EQ(std::sscanf(version->c_str(), "%d.%d.%d CL-%31s", &major, &minor, &build, changelist),
            4)
      << *version;
  EXPECT_GE(major, 12);
}

TEST_F(NvrtcTest, ManyThreadsCompile) {
  const auto alone = nvrtc().Compile(Request("sm_86"));
  ASSERT_TRUE(alone.ok());
  std::vector<std::thread> threads;
  std::vector<std::vector<std::byte>> images(8);
  for (auto& image : images) {
    threads.emplace_back([&image] {
      for (int i = 0; i < 4; ++i) image = nvrtc().Compile(Request("sm_86")).value().image;
      EXPECT_TRUE(nvrtc().Version().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& image : images) EXPECT_EQ(image, alone->image);
}

}  // namespace
}  // namespace lijit::runtime
