// SPDX-License-Identifier: Apache-2.0
// The emulated device through the Device interface.
#include "runtime/device/emulated_device.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace lijit::runtime {
namespace {

constexpr std::string_view kDouble = R"(.version 9.0
.target sm_80
.address_size 64
.global .align 4 .u32 launches;
.visible .entry twice(.param .u64 values) {
  .reg .b64 %p<3>; .reg .b32 %r<3>;
  ld.param.u64 %p0, [values];
  mov.u32 %r0, %tid.x;
  mad.wide.u32 %p1, %r0, 4, %p0;
  ld.global.u32 %r1, [%p1];
  add.u32 %r1, %r1, %r1;
  st.global.u32 [%p1], %r1;
  red.global.add.u32 [launches], 1;
  ret;
}
)";

std::span<const std::byte> Image(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string WithTarget(std::string_view target) {
  std::string text(kDouble);
  return text.replace(text.find("sm_80"), 5, target);
}

TEST(EmulatedDeviceTest, LoadsAndLaunches) {
  const auto device = MakeEmulatedDevice("sm_86");
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->info().name, "emulated sm_86");
  EXPECT_EQ(device->info().compute_capability, 86);
  EXPECT_EQ(device->image_kind(), ImageKind::kPtx);
  const auto kernel = device->Load(Image(kDouble), "twice");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const DeviceAddress values = device->Allocate(64 * 4, "values").value();
  ASSERT_TRUE(device->Fill(values, 1, 64 * 4).ok());
  const std::array<DeviceAddress, 1> parameters{values};
  const LaunchShape shape{{1, 1, 1}, {64, 1, 1}, 0};
  const Status status = device->Launch(*kernel, shape, std::as_bytes(std::span(parameters)), {});
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(device->Synchronize().ok());
  std::array<std::uint32_t, 64> results{};
  ASSERT_TRUE(device->CopyToHost(results.data(), values, sizeof results).ok());
  for (const std::uint32_t result : results) EXPECT_EQ(result, 0x02020202u);
  EXPECT_EQ(device->instructions(), 64u * 8);
  EXPECT_TRUE(device->findings().empty());
  EXPECT_TRUE(device->Free(values).ok());
  EXPECT_FALSE(device->Free(values).ok());
}

TEST(EmulatedDeviceTest, AGraphRunsWhenItIsReplayedAndOnlyThen) {
  const auto device = MakeEmulatedDevice("sm_86");
  const KernelHandle kernel = device->Load(Image(kDouble), "twice").value();
  const DeviceAddress values = device->Allocate(64 * 4, "values").value();
  ASSERT_TRUE(device->Fill(values, 1, 64 * 4).ok());
  const auto first = [&] {
    std::uint32_t value = 0;
    EXPECT_TRUE(device->CopyToHost(&value, values, sizeof value).ok());
    return value;
  };
  const LaunchShape shape{{1, 1, 1}, {64, 1, 1}, 0};
  auto graph = device->Record([&](Stream stream) -> Status {
    const std::array<DeviceAddress, 1> parameters{values};  // gone when the graph is replayed
    for (int i = 0; i < 2; ++i) {
      LIJIT_TRY(device->Launch(kernel, shape, std::as_bytes(std::span(parameters)), stream));
    }
    return {};
  });
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(first(), 0x01010101u);
  ASSERT_TRUE((*graph)->Launch().ok());
  EXPECT_EQ(first(), 0x04040404u);
  ASSERT_TRUE((*graph)->Launch().ok());
  EXPECT_EQ(first(), 0x10101010u);
  const auto times = (*graph)->Time(3);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(times.error().message,
            "device 'emulated sm_86' has no clock: times are measured on a CUDA device");
}

TEST(EmulatedDeviceTest, NothingIsLoadedWhileAGraphIsRecorded) {
  const auto device = MakeEmulatedDevice("sm_86");
  const auto graph = device->Record([&](Stream) -> Status {
    LIJIT_TRY(device->Load(Image(kDouble), "twice"));
    return {};
  });
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message,
            "kernel 'twice' was not loaded before the recording of a graph began, and nothing is "
            "loaded inside one; call the operation once, or prepare it, before");
  EXPECT_TRUE(device->Load(Image(kDouble), "twice").ok());
  // Another thread may.
  EXPECT_TRUE(device
                  ->Record([&](Stream) -> Status {
                    Status other;
                    std::thread([&] {
                      const auto loaded = device->Load(Image(kDouble), "twice");
                      if (!loaded.ok()) other = loaded.error();
                    }).join();
                    return other;
                  })
                  .ok());
  const auto nested = device->Record([&](Stream) -> Status {
    const auto inner = device->Record([](Stream) { return Status(); });
    return inner.ok() ? Status() : inner.error();
  });
  ASSERT_FALSE(nested.ok());
  EXPECT_NE(nested.error().message.find("is being recorded"), std::string::npos);
}

TEST(EmulatedDeviceTest, AFindingFailsTheLaunchAndStays) {
  const auto device = MakeEmulatedDevice("sm_90a");
  const auto kernel = device->Load(Image(kDouble), "twice");
  ASSERT_TRUE(kernel.ok());
  const std::array<DeviceAddress, 1> parameters{device->Allocate(100, "values").value()};
  const LaunchShape shape{{1, 1, 1}, {64, 1, 1}, 0};
  const Status status = device->Launch(*kernel, shape, std::as_bytes(std::span(parameters)), {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kFailed);
  const auto findings = device->findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "uninitialized");
  EXPECT_EQ(findings[0].message, status.error().message);
  EXPECT_EQ(status.error().message,
            "uninitialized: kernel 'twice', PTX line 10 (ld.global.u32): thread (0,0,0) of block "
            "(0,0,0) reads 4 bytes at global address 0x100100300, 0 bytes into allocation 'values' "
            "(100 bytes), where nothing was written");
}

TEST(EmulatedDeviceTest, RefusesPtxOfOtherTargets) {
  const auto device = MakeEmulatedDevice("sm_86");
  const auto newer = device->Load(Image(WithTarget("sm_89")), "twice");
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().message,
            "the PTX of 'twice' is for sm_89, which an emulated sm_86 cannot run; compile it for "
            "compute_86");
  EXPECT_FALSE(device->Load(Image(WithTarget("sm_90a")), "twice").ok());
  EXPECT_TRUE(MakeEmulatedDevice("sm_103f")->Load(Image(WithTarget("sm_100f")), "twice").ok());
  EXPECT_FALSE(MakeEmulatedDevice("sm_120f")->Load(Image(WithTarget("sm_100f")), "twice").ok());
  EXPECT_EQ(MakeEmulatedDevice("sm_1"), nullptr);
  EXPECT_FALSE(OpenEmulatedDevice("sm_1").ok());
}

TEST(EmulatedDeviceTest, ErrorsOfLoading) {
  const auto device = MakeEmulatedDevice("sm_86");
  EXPECT_EQ(device->Load(Image("nonsense"), "k").error().message,
            "ptx line 1: unknown directive 'nonsense'");
  EXPECT_EQ(device->Load(Image(kDouble), "thrice").error().message,
            "the PTX has no kernel 'thrice'; it has 'twice'");
  EXPECT_EQ(device->Launch({7}, {}, {}, {}).error().message,
            "no kernel has handle 7; load it first");
}

TEST(EmulatedDeviceTest, SharedMemoryLimitIsTheTargets) {
  const auto limit_of = [](std::string_view target) {
    const auto device = MakeEmulatedDevice(target);
    const auto kernel = device->Load(Image(kDouble), "twice");
    LaunchShape shape;
    shape.dynamic_shared_bytes = 100 * 1024;
    const std::array<DeviceAddress, 1> parameters{};
    return device->Launch(*kernel, shape, std::as_bytes(std::span(parameters)), {}).error().message;
  };
  EXPECT_NE(limit_of("sm_86").find("a block of this target can have 101376"), std::string::npos);
  EXPECT_NE(limit_of("sm_90a").find("out-of-bounds"), std::string::npos);
}

TEST(EmulatedDeviceTest, OptionsLimitSteps) {
  EmulationOptions options;
  options.host_threads = 1;
  options.step_limit = 100;
  const auto device = OpenEmulatedDevice("sm_86", options);
  ASSERT_TRUE(device.ok());
  const auto kernel = (*device)->Load(
      Image(".version 9.0\n.target sm_80\n.address_size 64\n.entry k() { l: bra l; }"), "k");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_FALSE((*device)->Launch(*kernel, {}, {}, {}).ok());
  EXPECT_EQ((*device)->findings().at(0).kind, "step-limit");
}

// The device may be used by several host threads; their launches take turns.
TEST(EmulatedDeviceTest, IsThreadSafe) {
  const auto device = MakeEmulatedDevice("sm_86");
  const auto kernel = device->Load(Image(kDouble), "twice");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const DeviceAddress values = device->Allocate(256, "values").value();
      EXPECT_TRUE(device->Fill(values, 0, 256).ok());
      const std::array<DeviceAddress, 1> parameters{values};
      const LaunchShape shape{{1, 1, 1}, {64, 1, 1}, 0};
      EXPECT_TRUE(device->Launch(*kernel, shape, std::as_bytes(std::span(parameters)), {}).ok());
      EXPECT_TRUE(device->Free(values).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device->instructions(), 4u * 64 * 8);
}

}  // namespace
}  // namespace lijit::runtime
