// SPDX-License-Identifier: Apache-2.0
// What a launch refuses, how it counts, and the memory behind it.
#include "runtime/emulator/launch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

std::string LaunchError(const RunOptions& options, std::string_view directives = "") {
  return RunPtx(fmt::format(".version 9.0\n.target sm_80\n.address_size 64\n"
                            ".entry k(.param .u64 data) {} {{ .shared .b8 tile[1024]; ret; }}",
                            directives),
                options)
      .error;
}

TEST(LaunchTest, LimitsOfGridAndBlock) {
  RunOptions options;
  options.block = {1025, 1, 1};
  EXPECT_EQ(LaunchError(options), "launch of 'k': block.x is 1025; it can be 1 to 1024");
  options.block = {32, 33, 1};
  EXPECT_EQ(LaunchError(options),
            "launch of 'k': a block of 1056 threads; at most 1024 are possible");
  options.block = {1, 1, 65};
  EXPECT_EQ(LaunchError(options), "launch of 'k': block.z is 65; it can be 1 to 64");
  options.block = {1, 0, 1};
  EXPECT_EQ(LaunchError(options), "launch of 'k': block.y is 0; it can be 1 to 1024");
  options.block = {1, 1, 1};
  options.grid = {1, 65536, 1};
  EXPECT_EQ(LaunchError(options), "launch of 'k': grid.y is 65536; it can be 1 to 65535");
  options.grid = {0x80000000, 1, 1};
  EXPECT_EQ(LaunchError(options), "launch of 'k': grid.x is 2147483648; it can be 1 to 2147483647");
  options.grid = {1, 1, 1};
  EXPECT_EQ(LaunchError(options), "");
}

TEST(LaunchTest, SharedMemoryAndThreadDirectives) {
  RunOptions options;
  options.dynamic_shared_bytes = 48 * 1024 - 1023;
  EXPECT_EQ(LaunchError(options),
            "launch of 'k': 49153 bytes of shared memory (1024 static, 48129 dynamic); a block of "
            "this target can have 49152");
  options.dynamic_shared_bytes = 48 * 1024 - 1024;
  EXPECT_EQ(LaunchError(options), "");
  EXPECT_EQ(LaunchError(options, ".maxntid 16, 1, 1"),
            "launch of 'k': a block of 32 threads; .maxntid allows 16");
  EXPECT_EQ(LaunchError(options, ".maxntid 4, 8"), "");
  EXPECT_EQ(LaunchError(options, ".reqntid 4, 8"),
            "launch of 'k': a block of (32,1,1); .reqntid wants (4,8,1)");
}

TEST(LaunchTest, ParameterBlocksMustHaveTheKernelsSize) {
  const std::string ptx =
      ".version 9.0\n.target sm_80\n.address_size 64\n"
      ".entry k(.param .u32 a, .param .u64 b, .param .align 4 .b8 c[6], .param .u8 d) { ret; }";
  EXPECT_EQ(RunPtx(ptx).error, "launch of 'k': a parameter block of 8 bytes; the kernel has 23");
}

// Parameters lie at their alignments, as a C struct's members do.
TEST(LaunchTest, ParametersOfMixedSizes) {
  GlobalMemory memory;
  const auto loaded = LoadKernel(
      ".version 9.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u8 a, .param .u16 b, .param .u64 out, .param .u8 c) {\n"
      ".reg .b32 %r<4>; .reg .b64 %p; ld.param.u64 %p, [out]; ld.param.u8 %r0, [a];\n"
      "ld.param.u16 %r1, [b]; ld.param.u8 %r2, [c]; st.global.u32 [%p], %r0;\n"
      "st.global.u32 [%p+4], %r1; st.global.u32 [%p+8], %r2; ret; }",
      "k", memory);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const std::uint64_t out = memory.Allocate(12, "out").value();
  std::array<std::byte, 17> block{};
  block[0] = std::byte{1};
  block[2] = std::byte{2};
  block[3] = std::byte{3};
  for (unsigned i = 0; i < 8; ++i) block[8 + i] = static_cast<std::byte>(out >> (8 * i));
  block[16] = std::byte{4};
  const auto result = Launch((*loaded)->kernel, {}, block, memory, {});
  ASSERT_TRUE(result.ok()) << result.error().message;
  std::array<std::uint32_t, 3> values{};
  ASSERT_TRUE(memory.CopyOut(values.data(), out, 12).ok());
  EXPECT_EQ(values, (std::array<std::uint32_t, 3>{1, 0x0302, 4}));
}

TEST(LaunchTest, CountsThreadInstructions) {
  RunOptions options;
  options.block = {40, 1, 1};
  options.grid = {3, 1, 1};
  // Three instructions and the exit, whatever the warps and the host threads.
  for (const unsigned threads : {1u, 3u}) {
    options.launch.host_threads = threads;
    EXPECT_EQ(RunBody(".reg .b32 a; mov.u32 a, 1; add.u32 a, a, a; ret;", options).instructions,
              3u * 40 * 3);
  }
}

TEST(GlobalMemoryTest, AllocationsAreApartAndAlignedTo256Only) {
  GlobalMemory memory;
  std::uint64_t last = 0;
  for (const std::uint64_t bytes : {1u, 256u, 1000000u}) {
    const std::uint64_t address = memory.Allocate(bytes, "a").value();
    EXPECT_EQ(address % 512, 256u);
    EXPECT_GE(address, last + GlobalMemory::kRedZoneBytes);
    last = address + bytes;
  }
}

// 8 GiB and their bits cost nothing until they are touched.
TEST(GlobalMemoryTest, LargeAllocationsAreLazy) {
  GlobalMemory memory;
  const std::uint64_t bytes = std::uint64_t{8} << 30;
  const std::uint64_t address = memory.Allocate(bytes, "cache").value();
  const std::uint32_t value = 7;
  ASSERT_TRUE(memory.CopyIn(address + bytes - 4, &value, 4).ok());
  const Allocation* allocation = memory.Find(address + bytes - 1);
  ASSERT_NE(allocation, nullptr);
  EXPECT_TRUE(allocation->initialized.Covers(bytes - 4, 4));
  EXPECT_FALSE(allocation->initialized.Covers(bytes - 8, 4));
  EXPECT_EQ(memory.Find(address + bytes), nullptr);
}

TEST(GlobalMemoryTest, Errors) {
  GlobalMemory memory;
  EXPECT_EQ(memory.Allocate(0, "none").error().message,
            "allocation 'none' of 0 bytes; ask for at least 1");
  EXPECT_EQ(memory.Allocate(~std::uint64_t{0}, "all").error().code, ErrorCode::kUnavailable);
  const std::uint64_t address = memory.Allocate(16, "a").value();
  std::array<std::byte, 32> bytes{};
  EXPECT_EQ(memory.CopyIn(address + 8, bytes.data(), 16).error().message,
            "16 bytes at 0x100000108 are not inside one allocation: 8 bytes past the end of "
            "allocation 'a' (16 bytes at 0x100000100)");
  EXPECT_FALSE(memory.CopyOut(bytes.data(), address, ~std::uint64_t{0}).ok());
  EXPECT_FALSE(memory.Fill(address - 1, 0, 1).ok());
  EXPECT_TRUE(memory.CopyIn(12345, bytes.data(), 0).ok());
  EXPECT_FALSE(memory.Free(address + 4).ok());
  EXPECT_TRUE(memory.Free(address).ok());
  EXPECT_EQ(memory.Fill(address, 0, 1).error().message,
            "1 bytes at 0x100000100 are not inside one allocation: inside freed allocation 'a' (16 "
            "bytes at 0x100000100)");
}

TEST(GlobalMemoryTest, InitializedBitsOfAnyRange) {
  std::vector<std::uint8_t> storage(8);
  InitializedBits bits(storage.data());
  bits.MarkRange(3, 22);
  for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(bits.Covers(i, 1), i >= 3 && i < 25) << i;
  EXPECT_TRUE(bits.Covers(8, 16));
  EXPECT_FALSE(bits.Covers(0, 4));
  bits.Mark(32, 4);
  EXPECT_TRUE(bits.Covers(32, 4));
  EXPECT_FALSE(bits.Covers(32, 8));
}

}  // namespace
}  // namespace lijit::emulator
