// SPDX-License-Identifier: Apache-2.0
// Each check with a kernel that breaks it, and the whole message.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

// The address of the first allocation of a memory, which "data" is in these tests.
constexpr const char* kData = "'data' (256 bytes at 0x100000100)";

Outcome RunChecked(std::string_view text, RunOptions options = {}) {
  const std::string body = fmt::format(
      ".reg .b64 %p, %d<4>; .reg .b32 %t, %r<8>; .reg .pred %q<4>; ld.param.u64 %p, [data];\n{}",
      text);
  const Outcome outcome = RunBody(body, options);
  EXPECT_EQ(outcome.error, "");
  return outcome;
}

std::string FindingOf(std::string_view text, RunOptions options = {}) {
  return RunChecked(text, std::move(options)).finding;
}

TEST(ChecksTest, OutOfBoundsPastTheEnd) {
  RunOptions options;
  options.block = {4, 2, 1};
  options.grid = {1, 1, 1};
  const Outcome outcome = RunChecked(R"(mov.u32 %t, %tid.y;
mad.wide.u32 %d0, %t, 256, %p;
ld.global.v2.u32 {%r0, %r1}, [%d0+0];)",
                                     options);
  EXPECT_EQ(outcome.kind, "out-of-bounds");
  EXPECT_EQ(outcome.finding,
            fmt::format("out-of-bounds: kernel 'k', PTX line 8 (ld.global.v2.u32): thread (0,1,0) "
                        "of block (0,0,0) reads 8 bytes at global address 0x100000200, 0 bytes "
                        "after the end of allocation {}",
                        kData));
}

TEST(ChecksTest, OutOfBoundsAcrossTheEndAndBefore) {
  EXPECT_EQ(FindingOf("add.u64 %d0, %p, 252;\nst.global.b32 [%d0+2], 0;"),
            "misaligned: kernel 'k', PTX line 7 (st.global.b32): thread (0,0,0) of block (0,0,0) "
            "writes 4 bytes at global address 0x1000001fe, which is no multiple of 4");
  EXPECT_EQ(FindingOf("st.global.b32 [%p+-4], 0;"),
            fmt::format("out-of-bounds: kernel 'k', PTX line 6 (st.global.b32): thread (0,0,0) of "
                        "block (0,0,0) writes 4 bytes at global address 0x1000000fc, 4 bytes "
                        "before allocation {}",
                        kData));
  EXPECT_EQ(FindingOf("mov.u64 %d0, 0;\natom.global.add.u32 %r0, [%d0], 1;"),
            fmt::format("out-of-bounds: kernel 'k', PTX line 7 (atom.global.add.u32): thread "
                        "(0,0,0) of block (0,0,0) updates 4 bytes at global address 0x0, "
                        "4294967552 bytes before allocation {}",
                        kData));
  RunOptions odd;
  odd.data = std::vector<std::uint32_t>(63);
  EXPECT_EQ(FindingOf("ld.global.v2.u32 {%r0, %r1}, [%p+248];", odd),
            "out-of-bounds: kernel 'k', PTX line 6 (ld.global.v2.u32): thread (0,0,0) of block "
            "(0,0,0) reads 8 bytes at global address 0x1000001f8, 4 bytes past the end of "
            "allocation 'data' (252 bytes at 0x100000100)");
}

TEST(ChecksTest, OutOfBoundsOfTheOtherSpaces) {
  RunOptions options;
  options.dynamic_shared_bytes = 16;
  EXPECT_EQ(
      FindingOf(".shared .align 4 .b8 tile[16];\nmov.u32 %r0, tile;\nst.shared.b32 [%r0+32], 0;",
                options),
      "out-of-bounds: kernel 'k', PTX line 8 (st.shared.b32): thread (0,0,0) of block "
      "(0,0,0) writes 4 bytes at shared address 0x20, where there are 32 bytes");
  EXPECT_EQ(FindingOf(".local .align 4 .b8 f[16];\nmov.u64 %d0, f;\nld.local.u32 %r0, [%d0+16];"),
            "out-of-bounds: kernel 'k', PTX line 8 (ld.local.u32): thread (0,0,0) of block (0,0,0) "
            "reads 4 bytes at local address 0x10, where there are 16 bytes");
  EXPECT_EQ(FindingOf("ld.param.u32 %r0, [data+8];"),
            "out-of-bounds: kernel 'k', PTX line 6 (ld.param.u32): thread (0,0,0) of block (0,0,0) "
            "reads 4 bytes at parameter address 0x8, where there are 8 bytes");
}

TEST(ChecksTest, MisalignedVectorsAndShared) {
  EXPECT_EQ(FindingOf("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%p+8];"),
            "misaligned: kernel 'k', PTX line 6 (ld.global.v4.u32): thread (0,0,0) of block "
            "(0,0,0) reads 16 bytes at global address 0x100000108, which is no multiple of 16");
  EXPECT_EQ(FindingOf(".shared .align 4 .b8 tile[16];\nst.shared.b16 [tile+1], 0;"),
            "misaligned: kernel 'k', PTX line 7 (st.shared.b16): thread (0,0,0) of block (0,0,0) "
            "writes 2 bytes at shared address 0x1, which is no multiple of 2");
}

TEST(ChecksTest, UninitializedSharedAndLocal) {
  EXPECT_EQ(FindingOf(".shared .align 4 .b8 other[4];\n.shared .align 4 .b8 tile[16];\n"
                      "st.shared.b8 [tile+4], 1;\nbar.sync 0;\nld.shared.u32 %r0, [tile+4];"),
            "race: kernel 'k', PTX line 8 (st.shared.b8): thread (1,0,0) of block (0,0,0) writes 1 "
            "bytes at shared address 0x8, in 'tile' + 4, which thread (0,0,0) wrote at PTX line 8 "
            "with no barrier in between");
  RunOptions one;
  one.block = {1, 1, 1};
  EXPECT_EQ(
      FindingOf(".shared .align 4 .b8 other[4];\n.shared .align 4 .b8 tile[16];\n"
                "st.shared.b8 [tile+4], 1;\nbar.sync 0;\nld.shared.u32 %r0, [tile+4];",
                one),
      "uninitialized: kernel 'k', PTX line 10 (ld.shared.u32): thread (0,0,0) of block "
      "(0,0,0) reads 4 bytes at shared address 0x8, in 'tile' + 4, where nothing was written");
  one.dynamic_shared_bytes = 64;
  EXPECT_EQ(FindingOf("mov.u32 %r1, 32;\nld.shared.u32 %r0, [%r1];", one),
            "uninitialized: kernel 'k', PTX line 7 (ld.shared.u32): thread (0,0,0) of block "
            "(0,0,0) reads 4 bytes at shared address 0x20, in dynamic shared memory + 32, where "
            "nothing was written");
  EXPECT_EQ(FindingOf(".local .align 4 .b8 f[16];\nst.local.b16 [f], 1;\nld.local.u32 %r0, [f];"),
            "uninitialized: kernel 'k', PTX line 8 (ld.local.u32): thread (0,0,0) of block (0,0,0) "
            "reads 4 bytes at local address 0x0, where nothing was written");
}

// Shared memory of one block says nothing about the next one's.
TEST(ChecksTest, SharedMemoryIsUninitializedInEveryBlock) {
  RunOptions options;
  options.block = {1, 1, 1};
  options.grid = {2, 1, 1};
  options.launch.host_threads = 1;
  EXPECT_EQ(
      FindingOf(".shared .align 4 .b8 tile[16];\nmov.u32 %r1, %ctaid.x;\n"
                "setp.eq.u32 %q0, %r1, 0;\n@%q0 st.shared.u32 [tile], 1;\n"
                "ld.shared.u32 %r0, [tile];",
                options),
      "uninitialized: kernel 'k', PTX line 10 (ld.shared.u32): thread (0,0,0) of block "
      "(1,0,0) reads 4 bytes at shared address 0x0, in 'tile' + 0, where nothing was written");
}

TEST(ChecksTest, Races) {
  RunOptions options;
  options.block = {64, 1, 1};
  // Thread t writes word t and reads word t + 32, of the other warp, with no barrier.
  EXPECT_EQ(FindingOf(R"(.shared .align 4 .b8 tile[512];
mov.u32 %t, %tid.x;
shl.b32 %r0, %t, 2;
st.shared.u32 [%r0], %t;
st.shared.u32 [%r0+256], %t;
xor.b32 %r1, %r0, 128;
ld.shared.u32 %r2, [%r1+256];)",
                      options),
            "uninitialized: kernel 'k', PTX line 12 (ld.shared.u32): thread (0,0,0) of block "
            "(0,0,0) reads 4 bytes at shared address 0x180, in 'tile' + 384, where nothing was "
            "written");
  EXPECT_EQ(FindingOf(R"(.shared .align 4 .b8 tile[256];
mov.u32 %t, %tid.x;
shl.b32 %r0, %t, 2;
st.shared.u32 [%r0], %t;
bar.sync 0;
ld.shared.u32 %r2, [%r0];
xor.b32 %r1, %r0, 128;
st.shared.u32 [%r1], %r2;)",
                      options),
            "race: kernel 'k', PTX line 11 (ld.shared.u32): thread (0,0,0) of block (0,0,0) reads "
            "4 bytes at shared address 0x0, in 'tile' + 0, which thread (32,0,0) wrote at PTX line "
            "13 with no barrier in between");
}

TEST(ChecksTest, DivergentBarriers) {
  RunOptions options;
  options.block = {64, 1, 1};
  const Outcome exited = RunChecked(R"(mov.u32 %t, %tid.x;
setp.ge.u32 %q0, %t, 40;
@%q0 exit;
bar.sync 0;)",
                                    options);
  EXPECT_EQ(exited.kind, "divergence");
  EXPECT_EQ(exited.finding,
            "divergence: kernel 'k', PTX line 9 (bar.sync): thread (0,0,0) of block (0,0,0) waits "
            "for ever; of the block's 64 threads, 24 have exited, 40 wait at line 9");
  EXPECT_EQ(FindingOf(R"(mov.u32 %t, %tid.x;
setp.lt.u32 %q0, %t, 16;
@%q0 bra low;
bar.sync 0;
bra meet;
low:
bar.sync 0;
meet:)"),
            "divergence: kernel 'k', PTX line 9 (bar.sync): thread (16,0,0) of block (0,0,0) waits "
            "for ever; of the block's 32 threads, 0 have exited, 16 wait at line 9, 16 wait at "
            "line 12");
  EXPECT_EQ(FindingOf("mov.u32 %t, %tid.x;\nsetp.lt.u32 %q0, %t, 32;\n@%q0 bar.sync 1;\n"
                      "@!%q0 bar.sync 2;",
                      options),
            "divergence: kernel 'k', PTX line 8 (bar.sync): thread (0,0,0) of block (0,0,0) waits "
            "for ever; of the block's 64 threads, 0 have exited, 32 wait at line 8, 32 wait at "
            "line 9");
}

TEST(ChecksTest, BarrierCounts) {
  RunOptions options;
  options.block = {96, 1, 1};
  EXPECT_EQ(FindingOf("bar.sync 1, 64;", options),
            "divergence: kernel 'k', PTX line 6 (bar.sync): thread (64,0,0) of block (0,0,0) waits "
            "for ever; of the block's 96 threads, 64 have exited, 32 wait at line 6");
  EXPECT_EQ(FindingOf("mov.u32 %r0, %warpid;\nadd.u32 %r0, %r0, 2;\nshl.b32 %r0, %r0, 5;\n"
                      "bar.sync 3, %r0;",
                      options),
            "divergence: kernel 'k', PTX line 9 (bar.sync): thread (32,0,0) of block (0,0,0) "
            "expects 96 threads at barrier 3, where others expect 64");
  EXPECT_EQ(FindingOf("bar.sync 16;", options),
            "divergence: kernel 'k', PTX line 6 (bar.sync): thread (0,0,0) of block (0,0,0) uses "
            "barrier 16; there are 16");
  EXPECT_EQ(
      FindingOf("mov.u32 %r0, %warpid;\nsetp.eq.u32 %q0, %r0, 0;\n@%q0 bar.arrive 2, 48;", options),
      "divergence: kernel 'k', PTX line 8 (bar.arrive): thread (0,0,0) of block (0,0,0) "
      "expects 48 threads at barrier 2; the number must be a multiple of 32");
}

TEST(ChecksTest, DivergedShuffles) {
  EXPECT_EQ(FindingOf("mov.u32 %t, %tid.x;\nsetp.lt.u32 %q0, %t, 16;\n"
                      "@%q0 shfl.sync.bfly.b32 %r0, %t, 1, 31, -1;\nbar.sync 0;"),
            "divergence: kernel 'k', PTX line 8 (shfl.sync.bfly.b32): thread (0,0,0) of block "
            "(0,0,0) waits for ever; of the block's 32 threads, 0 have exited, 16 wait at line 8, "
            "16 wait at line 9");
  EXPECT_EQ(FindingOf("mov.u32 %t, %tid.x;\nshfl.sync.idx.b32 %r0, %t, 1, 31, 0x0000ffff;"),
            "divergence: kernel 'k', PTX line 7 (shfl.sync.idx.b32): thread (16,0,0) of block "
            "(0,0,0) is not in its own member mask 0x0000ffff");
  EXPECT_EQ(FindingOf("mov.u32 %t, %tid.x;\nsetp.lt.u32 %q0, %t, 16;\n"
                      "@%q0 shfl.sync.idx.b32 %r0, %t, 20, 31, 0x0000ffff;"),
            "divergence: kernel 'k', PTX line 8 (shfl.sync.idx.b32): thread (0,0,0) of block "
            "(0,0,0) reads from lane 20, which does not take part");
}

TEST(ChecksTest, StepLimit) {
  RunOptions options;
  options.launch.step_limit = 1000000;
  const Outcome outcome = RunChecked("top:\nadd.u32 %r0, %r0, 1;\nbra top;", options);
  EXPECT_EQ(outcome.kind, "step-limit");
  EXPECT_NE(outcome.finding.find("the launch has executed more than 1000000 thread-instructions; "
                                 "does this loop end?"),
            std::string::npos)
      << outcome.finding;
  EXPECT_EQ(outcome.finding.find("step-limit: kernel 'k', PTX line "), 0u);
}

TEST(ChecksTest, Traps) {
  const Outcome outcome = RunChecked("mov.u32 %t, %tid.x;\nsetp.eq.u32 %q0, %t, 9;\n@%q0 trap;");
  EXPECT_EQ(outcome.kind, "trap");
  EXPECT_EQ(outcome.finding,
            "trap: kernel 'k', PTX line 8 (trap): thread (9,0,0) of block (0,0,0) executes a trap");
}

TEST(ChecksTest, BranchTableIndex) {
  EXPECT_EQ(FindingOf("mov.u32 %r0, 2;\nts: .branchtargets a, b;\nbrx.idx %r0, ts;\na:\nb:"),
            "out-of-bounds: kernel 'k', PTX line 8 (brx.idx): thread (0,0,0) of block (0,0,0) "
            "branches to entry 2 of a table of 2");
}

// A launch stops at its first finding, whatever the other blocks do.
TEST(ChecksTest, AFindingStopsAllBlocks) {
  RunOptions options;
  options.grid = {1000, 1, 1};
  options.launch.host_threads = 4;
  const Outcome outcome = RunChecked(
      "top:\nmov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %q0, %r1, 0;\n"
      "@%q0 bra top;\ntrap;",
      options);
  EXPECT_EQ(outcome.kind, "trap");
}

}  // namespace
}  // namespace lijit::emulator
