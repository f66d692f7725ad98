// SPDX-License-Identifier: Apache-2.0
// What the cubin reader says, beside what the assembler says of the same cubin: for every kernel
// that serving needs, and for cubins of every CUDA from 11.8 on whose NVRTC is here.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "compiler/target/target.h"
#include "lijit/compiler.h"
#include "lijit/cubin.h"
#include "runtime/compile/compilers.h"
#include "tests/support/test_indexer.h"

namespace lijit::runtime {
namespace {

namespace fs = std::filesystem;

// Of all banks: ptxas adds them up.
std::uint64_t ConstantBytes(const cubin::Image& image, const std::string& kernel) {
  std::uint64_t bytes = 0;
  for (const cubin::Section& section : image.sections) {
    const bool is_bank = section.name.starts_with(".nv.constant");
    if (is_bank && section.name.ends_with("." + kernel)) bytes += section.bytes;
  }
  return bytes;
}

// A cubin's numbers against ptxas -v.
void ExpectAgreement(const cubin::Image& image, const cubin::Kernel& kernel,
                     const KernelResources& ptxas) {
  EXPECT_EQ(kernel.registers, ptxas.registers);
  EXPECT_EQ(kernel.local_bytes, ptxas.stack_bytes);
  EXPECT_EQ(kernel.shared_bytes, ptxas.shared_bytes);
  // ptxas of CUDA 12 and before prints barriers for no architecture or for some, and no ptxas
  // prints constants from sm_90 on.
  if (ptxas.barriers != 0) {
    EXPECT_EQ(kernel.barriers, ptxas.barriers);
  }
  if (ptxas.constant_bytes != 0) {
    EXPECT_EQ(ConstantBytes(image, kernel.name), ptxas.constant_bytes);
    EXPECT_LE(kernel.constant_bytes, ptxas.constant_bytes);
  }
  EXPECT_TRUE(kernel.spills.has_value() || image.generation == "v7");
  if (kernel.spills) {
    EXPECT_EQ(*kernel.spills != 0, ptxas.spill_store_bytes + ptxas.spill_load_bytes != 0);
  }
}

// The second line of an entry's resources (kernel_request.cc), back as numbers.
KernelResources FromLine(const std::string& text) {
  static const std::regex kLine(
      R"(\n(\w+): (\d+) registers, (\d+) bytes of stack, (\d+) and (\d+) bytes of spill stores and )"
      R"(loads, (\d+) bytes of shared memory, (\d+) of constants, (\d+) barriers\n)");
  std::smatch match;
  KernelResources resources;
  if (!std::regex_search(text, match, kLine)) {
    ADD_FAILURE() << "no resources in: " << text;
    return resources;
  }
  const auto number = [&](std::size_t i) {
    return static_cast<std::uint32_t>(std::stoul(match[i]));
  };
  resources.kernel = match[1];
  resources.registers = number(2);
  resources.stack_bytes = number(3);
  resources.spill_store_bytes = number(4);
  resources.spill_load_bytes = number(5);
  resources.shared_bytes = number(6);
  resources.constant_bytes = number(7);
  resources.barriers = number(8);
  return resources;
}

class AgreesWithPtxas : public testing::TestWithParam<std::string> {};

// Everything that one model's server loads, of both shipped formats and for each generation of
// GPUs, by whichever schedule and backend.
TEST_P(AgreesWithPtxas, OnEveryKernelThatWeGenerate) {
  if (const auto choice = ChooseBackend(GetParam(), ImageKind::kCubin); !choice.ok()) {
    GTEST_SKIP() << choice.error().message;
  }
  cache::Store store(tests::TestCacheConfig());
  WarmRequest request;
  request.targets = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100f", "sm_120f"};
  request.models = {"deepseek-v4"};
  request.backend = GetParam();
  const Result<WarmReport> warm = Warm(store, request);
  ASSERT_TRUE(warm.ok()) << warm.error().message;
  EXPECT_EQ(warm->failed, 0);
  EXPECT_GE(warm->kernels, 6 * 8);
  for (const WarmEntry& made : warm->entries) {
    SCOPED_TRACE(made.kernel + " for " + made.target + ", " + made.key);
    const Result<cache::Entry> entry = store.Read(made.key);
    ASSERT_TRUE(entry.ok()) << entry.error().message;
    const Result<cubin::Image> image = cubin::ReadCubin(entry->image);
    ASSERT_TRUE(image.ok()) << image.error().message;
    EXPECT_TRUE(image->problems.empty());
    ASSERT_EQ(image->kernels.size(), 1u);
    const KernelResources ptxas = FromLine(entry->resources);
    EXPECT_EQ(image->kernels[0].name, ptxas.kernel);
    ExpectAgreement(*image, image->kernels[0], ptxas);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, AgreesWithPtxas, testing::Values("cuda", "ptx"),
                         [](const auto& test) { return test.param; });

// --- other CUDAs

// Static shared memory, a barrier, a stack, and registers enough to spill.
constexpr const char* kSource = R"(
extern "C" __global__ __launch_bounds__(128) void shares(float* out, int n) {
  __shared__ float rows[4][128];
  rows[threadIdx.x % 4][threadIdx.x] = n;
  __syncthreads();
  out[threadIdx.x] = rows[n % 4][127 - threadIdx.x];
}
extern "C" __global__ void stacks(int* out, int n) {
  int local[64];
  for (int i = 0; i < 64; ++i) local[(i * n) % 64] = out[i] + n;
  out[threadIdx.x] = local[n % 64];
}
extern "C" __global__ __launch_bounds__(1024, 2) void spills(float* out) {
  float x[64];
  #pragma unroll
  for (int i = 0; i < 64; ++i) x[i] = out[i * 1024 + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 64; ++i) out[i * 1024 + threadIdx.x] = x[i] * x[63 - i] + x[(i * 7) % 64];
}
)";

// LIJIT_TEST_NVRTCS (files, separated by colons), or what `./dev test` brought.
std::vector<std::string> OtherNvrtcs() {
  std::vector<std::string> files;
  if (const char* const list = std::getenv("LIJIT_TEST_NVRTCS"); list != nullptr) {
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      files.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return files;
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(LIJIT_SOURCE_DIR "/.private/nvrtc", ignored)) {
    const fs::path lib = entry.path() / "nvidia/cuda_nvrtc/lib";
    for (const char* name : {"libnvrtc.so.11.2", "libnvrtc.so.12"}) {
      if (fs::exists(lib / name)) files.push_back(lib / name);
    }
  }
  return files;
}

void CheckCubin(const Nvrtc& nvrtc, const std::string& architecture, const std::string& toolkit) {
  SCOPED_TRACE(nvrtc.path() + " for " + architecture);
  const std::vector<std::string> kernels = {"shares", "stacks", "spills"};
  const auto made = nvrtc.Compile({kSource, "test.cu", architecture, {}, kernels});
  ASSERT_TRUE(made.ok()) << made.error().message;
  const Result<cubin::Image> image = cubin::ReadCubin(made->image);
  ASSERT_TRUE(image.ok()) << image.error().message;
  EXPECT_TRUE(image->problems.empty()) << image->problems[0];
  EXPECT_EQ(image->target, architecture);
  EXPECT_EQ(image->toolkit, toolkit);
  const int sm = std::atoi(architecture.c_str() + 3);
  EXPECT_EQ(image->generation, toolkit.starts_with("13") || sm >= 100 ? "v8" : "v7");
  EXPECT_EQ(image->kernels.at(0).spills.has_value(), toolkit != "11.8" && toolkit != "12.5");
  EXPECT_TRUE(cubin::Verify(made->image, architecture, kernels).ok());
  EXPECT_FALSE(cubin::Verify(made->image, "sm_75", kernels).ok());
  EXPECT_TRUE(cubin::CanRun(*image, sm).ok());
  ASSERT_EQ(image->kernels.size(), 3u);
  ASSERT_EQ(made->resources.size(), 3u);
  for (const KernelResources& ptxas : made->resources) {
    SCOPED_TRACE(ptxas.kernel);
    const auto kernel = std::find_if(
        image->kernels.begin(), image->kernels.end(),
        [&](const cubin::Kernel& candidate) { return candidate.name == ptxas.kernel; });
    ASSERT_NE(kernel, image->kernels.end());
    ExpectAgreement(*image, *kernel, ptxas);
  }
  const std::span<const std::byte> bytes = made->image;
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    EXPECT_FALSE(cubin::Verify(bytes.first(size), architecture, kernels).ok()) << size;
  }
}

TEST(OtherCudas, CubinsAreRead) {
  const std::vector<std::string> files = OtherNvrtcs();
  if (files.empty()) {
    GTEST_SKIP() << "no NVRTC of CUDA 11.8 or 12: ./dev test brings them into .private/nvrtc, or "
                    "LIJIT_TEST_NVRTCS names them";
  }
  for (const std::string& file : files) {
    const auto nvrtc = Nvrtc::Open({.file = file, .directories = {}, .python_prefixes = {}}, {});
    ASSERT_TRUE(nvrtc.ok()) << nvrtc.error().message;
    ASSERT_TRUE((*nvrtc)->Version().ok()) << (*nvrtc)->Version().error().message;
    const std::string& version = *(*nvrtc)->Version();
    const std::string toolkit = version.substr(0, version.find('.', version.find('.') + 1));
    for (const int capability : (*nvrtc)->capabilities()) {
      for (const char* suffix : {"", "a"}) {
        const std::string target = "sm_" + std::to_string(capability) + suffix;
        if (!target::ParseTarget(target).ok()) continue;
        if (*suffix != '\0' && toolkit.starts_with("11")) continue;  // suffixes came with 12.0
        CheckCubin(**nvrtc, target, toolkit);
      }
    }
  }
}

}  // namespace
}  // namespace lijit::runtime
