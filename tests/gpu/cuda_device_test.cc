// SPDX-License-Identifier: Apache-2.0
// The CUDA device on real hardware: memory, loading, launching, captures, fork, several devices.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "lijit/cubin.h"
#include "lijit/device.h"
#include "runtime/device/cuda_device.h"
#include "runtime/device/driver_assembler.h"
#include "runtime/toolchain/driver.h"
#include "runtime/toolchain/nvrtc.h"

namespace lijit::runtime {
namespace {

constexpr const char* kSource = R"(
struct Shape { long long count; int factor; };
extern "C" __global__ void scale(int* values, Shape shape) {
  extern __shared__ int staged[];
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= shape.count) return;
  staged[threadIdx.x] = values[i];
  values[i] = staged[threadIdx.x] * shape.factor;
}
extern "C" __global__ void fault(int* values) { *values = 1; }
)";

struct Parameters {
  DeviceAddress values;
  std::int64_t count;
  std::int32_t factor;
  std::int32_t padding = 0;
};

template <typename T>
std::span<const std::byte> AsBytes(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

Result<std::shared_ptr<const Nvrtc>> Compiler() {
  static const auto nvrtc = Nvrtc::Open({}, ProcessEnvironment().value());
  return nvrtc;
}

// For what `device` loads: a cubin of its target, or PTX of an older one.
Result<std::vector<std::byte>> Compile(const Device& device) {
  LIJIT_ASSIGN(const auto nvrtc, Compiler());
  std::string architecture = device.info().target;
  if (device.image_kind() == ImageKind::kPtx) architecture.replace(0, 3, "compute_");
  LIJIT_ASSIGN(Compilation made, nvrtc->Compile({.source = kSource,
                                                 .name = "scale.cu",
                                                 .architecture = architecture,
                                                 .options = {},
                                                 .kernels = {"scale", "fault"}}));
  return std::move(made.image);
}

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!ProcessDriver().ok()) GTEST_SKIP() << ProcessDriver().error().message;
    const auto nvrtc = Compiler();
    if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  }

  static std::shared_ptr<Device> Open(std::string_view target = "",
                                      std::string_view which = "cuda") {
    auto device = OpenDevice(which, target);
    EXPECT_TRUE(device.ok()) << device.error().message;
    return device.ok() ? *device : nullptr;
  }

  static void ScaleAndCheck(Device& device, int count, Stream stream = nullptr) {
    const auto image = Compile(device);
    ASSERT_TRUE(image.ok()) << image.error().message;
    ScaleAndCheck(device, *image, count, stream);
  }

  static void ScaleAndCheck(Device& device, std::span<const std::byte> image, int count,
                            Stream stream = nullptr) {
    const auto kernel = device.Load(image, "scale");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    std::vector<int> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), -5);
    const std::uint64_t bytes = values.size() * sizeof(int);
    const auto address = device.Allocate(bytes, "values");
    ASSERT_TRUE(address.ok()) << address.error().message;
    EXPECT_EQ(*address % 256, 0u);
    ASSERT_TRUE(device.CopyToDevice(*address, values.data(), bytes).ok());
    const Parameters parameters{.values = *address, .count = count, .factor = 3};
    const auto blocks = static_cast<std::uint32_t>((count + 127) / 128);
    const Status launched = device.Launch(
        *kernel,
        {.grid = {blocks, 1, 1}, .block = {128, 1, 1}, .dynamic_shared_bytes = 128 * sizeof(int)},
        AsBytes(parameters), stream);
    ASSERT_TRUE(launched.ok()) << launched.error().message;
    ASSERT_TRUE(device.Synchronize().ok());
    std::vector<int> scaled(values.size());
    ASSERT_TRUE(device.CopyToHost(scaled.data(), *address, bytes).ok());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(scaled[i], 3 * values[i]) << i;
    EXPECT_TRUE(device.Free(*address).ok());
  }
};

TEST_F(CudaDeviceTest, DescribesItself) {
  const auto device = Open();
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->info().kind, DeviceKind::kCuda);
  EXPECT_GE(device->info().compute_capability, 80);
  EXPECT_GT(device->info().multiprocessors, 0);
  EXPECT_NE(device->info().driver.find("CUDA"), std::string::npos);
  EXPECT_EQ(device->image_kind(), ImageKind::kCubin);
}

TEST_F(CudaDeviceTest, RunsCubinsOfItsOwnTarget) { ScaleAndCheck(*Open(), 1000); }

TEST_F(CudaDeviceTest, RunsPtxOfAnOlderTarget) {
  const auto device = Open("sm_80");
  if (device->image_kind() == ImageKind::kCubin) GTEST_SKIP() << "the device is sm_80 itself";
  ScaleAndCheck(*device, 1000);
}

// As backend ptx does where nvJitLink is absent: the image is a cubin like any other.
TEST_F(CudaDeviceTest, RunsCubinsThatTheDriverAssembles) {
  const auto device = Open();
  const std::string& target = device->info().target;
  std::string architecture = target;
  architecture.replace(0, 3, "compute_");
  const auto ptx = (*Compiler())
                       ->Compile({.source = kSource,
                                  .name = "scale.cu",
                                  .architecture = architecture,
                                  .options = {},
                                  .kernels = {"scale", "fault"}});
  ASSERT_TRUE(ptx.ok()) << ptx.error().message;
  const auto made = AssembleByDriver(**ProcessDriver(), {.ptx = std::string(ToText(ptx->image)),
                                                         .name = "scale.ptx",
                                                         .target = target,
                                                         .options = {}});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->kernels.size(), 2u);
  const Status whole = cubin::Verify(made->image, target, made->kernels);
  EXPECT_TRUE(whole.ok()) << whole.error().message;
  ScaleAndCheck(*device, made->image, 1000);
}

TEST_F(CudaDeviceTest, TheDriverSaysWhatItCannotAssemble) {
  const auto device = Open();
  const auto made = AssembleByDriver(
      **ProcessDriver(), {.ptx = ".version 8.0\n.target sm_80\n.address_size 64\nnonsense\n",
                          .name = "bad.ptx",
                          .target = device->info().target,
                          .options = {}});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("did not assemble bad.ptx"), std::string::npos);
  EXPECT_NE(made.error().message.find("nonsense"), std::string::npos) << made.error().message;
}

TEST_F(CudaDeviceTest, RefusesTargetsThatItCannotRun) {
  const int capability = Open()->info().compute_capability;
  const auto device = OpenDevice("cuda", capability == 121 ? "sm_120a" : "sm_121a");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::kRefused);
  EXPECT_EQ(OpenDevice("cuda:1000", "").error().code, ErrorCode::kUnavailable);
}

TEST_F(CudaDeviceTest, FillsAndChecksRanges) {
  const auto device = Open();
  const DeviceAddress address = device->Allocate(64, "bytes").value();
  ASSERT_TRUE(device->Fill(address, 0xab, 64).ok());
  std::vector<unsigned char> bytes(64);
  ASSERT_TRUE(device->CopyToHost(bytes.data(), address, 64).ok());
  EXPECT_EQ(bytes, std::vector<unsigned char>(64, 0xab));
  EXPECT_FALSE(device->Fill(address, 0, 65).ok());
  EXPECT_FALSE(device->CopyToHost(bytes.data(), 16, 1).ok());
  EXPECT_TRUE(device->CopyToHost(bytes.data(), address, 0).ok());
  const auto huge = device->Allocate(std::uint64_t{1} << 50, "everything");
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.error().message.find("'everything'"), std::string::npos);
}

TEST_F(CudaDeviceTest, RefusesImagesOfOtherTargetsAndUnknownKernels) {
  const auto device = Open();
  auto image = Compile(*device).value();
  EXPECT_FALSE(device->Load(image, "no_such_kernel").ok());
  image.resize(image.size() / 2);
  EXPECT_FALSE(device->Load(image, "scale").ok());
}

TEST_F(CudaDeviceTest, ManyThreadsShareADevice) {
  const auto device = Open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&device] {
      for (int round = 0; round < 5; ++round) ScaleAndCheck(*device, 777);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Loading while a stream is captured: an error that names the kernel, for both kinds of streams.
TEST_F(CudaDeviceTest, LoadingInsideACaptureNamesTheKernel) {
  const auto device = Open();
  const auto image = Compile(*device).value();
  const Driver& driver = **ProcessDriver();
  CuContext context = nullptr;
  ASSERT_EQ(driver.DevicePrimaryCtxRetain(&context, 0), kCuSuccess);
  ASSERT_EQ(driver.CtxPushCurrent(context), kCuSuccess);
  for (unsigned flags : {kCuStreamDefault, kCuStreamNonBlocking}) {
    CuStream stream = nullptr;
    ASSERT_EQ(driver.StreamCreate(&stream, flags), kCuSuccess);
    ASSERT_EQ(driver.StreamBeginCapture(stream, kCuStreamCaptureModeGlobal), kCuSuccess);
    const auto loaded = device->Load(image, "scale");
    CuGraph graph = nullptr;
    driver.StreamEndCapture(stream, &graph);
    if (graph != nullptr) driver.GraphDestroy(graph);
    driver.StreamDestroy(stream);
    // A driver may allow it for streams that do not wait for the default one.
    if (loaded.ok() && flags == kCuStreamNonBlocking) continue;
    ASSERT_FALSE(loaded.ok());
    EXPECT_NE(loaded.error().message.find("'scale'"), std::string::npos);
    EXPECT_NE(loaded.error().message.find("capture"), std::string::npos) << loaded.error().message;
  }
  driver.CtxPopCurrent(&context);
  driver.DevicePrimaryCtxRelease(0);
  ScaleAndCheck(*device, 10);
}

// A kernel that was loaded before can be launched inside a capture.
TEST_F(CudaDeviceTest, LaunchingInsideACapture) {
  const auto device = Open();
  const auto image = Compile(*device).value();
  const KernelHandle kernel = device->Load(image, "scale").value();
  const DeviceAddress address = device->Allocate(4, "value").value();
  const Driver& driver = **ProcessDriver();
  CuContext context = nullptr;
  ASSERT_EQ(driver.DevicePrimaryCtxRetain(&context, 0), kCuSuccess);
  ASSERT_EQ(driver.CtxPushCurrent(context), kCuSuccess);
  CuStream stream = nullptr;
  ASSERT_EQ(driver.StreamCreate(&stream, kCuStreamNonBlocking), kCuSuccess);
  ASSERT_EQ(driver.StreamBeginCapture(stream, kCuStreamCaptureModeGlobal), kCuSuccess);
  const Parameters parameters{.values = address, .count = 1, .factor = 3};
  const Status launched =
      device->Launch(kernel, {.grid = {1, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 128},
                     AsBytes(parameters), stream);
  EXPECT_TRUE(launched.ok()) << launched.error().message;
  CuGraph graph = nullptr;
  EXPECT_EQ(driver.StreamEndCapture(stream, &graph), kCuSuccess);
  EXPECT_NE(graph, nullptr);
  driver.GraphDestroy(graph);
  driver.StreamDestroy(stream);
  driver.CtxPopCurrent(&context);
  driver.DevicePrimaryCtxRelease(0);
}

TEST_F(CudaDeviceTest, AChildOfForkIsRefused) {
  const auto device = Open();
  const pid_t child = fork();
  if (child == 0) {
    const Status status = device->Synchronize();
    const auto again = OpenDevice("cuda", "");
    const std::string part = "by fork";
    const bool refused = !status.ok() && status.error().message.find(part) != std::string::npos &&
                         !again.ok() && again.error().message.find(part) != std::string::npos;
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ScaleAndCheck(*device, 10);
}

TEST_F(CudaDeviceTest, SeveralDevicesInOneProcess) {
  if (ListCudaDevices().value().size() < 2) GTEST_SKIP() << "there is one device";
  const auto first = Open();
  const auto second = Open("", "cuda:1");
  ScaleAndCheck(*first, 500);
  ScaleAndCheck(*second, 500);
  const DeviceAddress address = first->Allocate(64, "first's").value();
  const Status filled = second->Fill(address, 0, 64);
  ASSERT_FALSE(filled.ok());
  EXPECT_NE(filled.error().message.find("is memory of CUDA device 0, and this is device 1"),
            std::string::npos)
      << filled.error().message;
  EXPECT_FALSE(second->Free(address).ok());
}

// A faulting kernel makes the process useless for CUDA, so a process of its own runs it.
void Fault() {
  const auto device = OpenDevice("cuda", "").value();
  const KernelHandle kernel = device->Load(Compile(*device).value(), "fault").value();
  const DeviceAddress nowhere = 0;
  Status status = device->Launch(kernel, {}, AsBytes(nowhere), nullptr);
  if (status.ok()) status = device->Synchronize();
  const bool named = !status.ok() && status.error().message.find("'fault'") != std::string::npos &&
                     status.error().message.find("(700)") != std::string::npos;
  std::exit(named ? 0 : 1);
}

TEST_F(CudaDeviceTest, AFaultNamesTheKernel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(Fault(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lijit::runtime
