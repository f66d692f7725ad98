// SPDX-License-Identifier: Apache-2.0
// cp.async: what is copied, when it can be seen, and kernels that look too early.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

// 64 words of data: word i is 0x01010101 * (i + 1). %p is the data, %mine the thread's 16 bytes of
// it, %tile the thread's 16 bytes of shared memory.
constexpr std::string_view kPreamble = R"(.shared .align 16 .b8 tile[512];
.reg .b64 %p, %mine; .reg .b32 %t, %tile, %r<8>; .reg .pred %q;
mov.u32 %t, %tid.x;
ld.param.u64 %p, [data];
and.b32 %r0, %t, 7;
mad.wide.u32 %mine, %r0, 16, %p;
mov.u32 %tile, tile;
mad.lo.u32 %tile, %t, 16, %tile;
)";

Outcome RunAsync(std::string_view text, RunOptions options = {}) {
  for (std::uint32_t i = 0; i < 64; ++i) options.data[i] = 0x01010101 * (i + 1);
  const Outcome outcome = RunBody(std::string(kPreamble) + std::string(text), options);
  EXPECT_EQ(outcome.error, "") << text;
  return outcome;
}

RunOptions OneThread() {
  RunOptions options;
  options.block = {1, 1, 1};
  return options;
}

// The 16 bytes at tile + 0 after one thread has filled them with 0xee and executed `copy`.
std::vector<std::uint8_t> Copied(const std::string& copy) {
  const Outcome outcome = RunAsync(
      "mov.u32 %r0, 0xeeeeeeee;\nst.shared.v4.b32 [%tile], {%r0, %r0, %r0, %r0};\n"
      "mov.u32 %r7, 0xeeeeeeee;\n" +
          copy +
          "\ncp.async.wait_all;\nld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%tile];\n"
          "st.global.v4.b32 [%p], {%r0, %r1, %r2, %r3};",
      OneThread());
  EXPECT_EQ(outcome.finding, "") << copy;
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < 16; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(outcome.data[i / 4] >> i % 4 * 8));
  }
  return bytes;
}

std::vector<std::uint8_t> Expected(unsigned size, unsigned source_bytes) {
  std::vector<std::uint8_t> bytes(16, 0xee);
  for (unsigned i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i < source_bytes ? i / 4 + 1 : 0);
  }
  return bytes;
}

TEST(AsyncTest, CopiesAndFillsWithZeros) {
  for (const unsigned size : {4u, 8u, 16u}) {
    const std::string copy = "cp.async.ca.shared.global [%tile], [%p], ";
    EXPECT_EQ(Copied(fmt::format("{}{};", copy, size)), Expected(size, size));
    for (unsigned bytes = 0; bytes <= size; ++bytes) {
      EXPECT_EQ(Copied(fmt::format("{}{}, {};", copy, size, bytes)), Expected(size, bytes))
          << bytes;
      EXPECT_EQ(Copied(fmt::format("mov.u32 %r1, {};\n{}{}, %r1;", bytes, copy, size)),
                Expected(size, bytes));
    }
    for (const unsigned ignored : {0u, 1u}) {
      EXPECT_EQ(Copied(fmt::format("setp.eq.u32 %q, {}, 1;\n{}{}, %q;", ignored, copy, size)),
                Expected(size, ignored == 1 ? 0 : size));
    }
  }
  EXPECT_EQ(Copied("cp.async.cg.shared::cta.global.L2::128B [tile], [%p+0], 16;"),
            Expected(16, 16));
  EXPECT_EQ(Copied("add.u32 %tile, %tile, 32;\nsub.u64 %p, %p, 64;\n"
                   "cp.async.ca.shared.global [%tile+-32], [%p+64], 8;\n"
                   "sub.u32 %tile, %tile, 32;\nadd.u64 %p, %p, 64;"),
            Expected(8, 8));
}

TEST(AsyncTest, AnIgnoredSourceMayBeAnywhere) {
  EXPECT_EQ(Copied("mov.u64 %mine, 1;\ncp.async.cg.shared.global [%tile], [%mine], 16, 0;"),
            Expected(16, 0));
}

// The data ends after 256 bytes: a copy of 12 bytes may begin 12 bytes before the end of an
// allocation only if it says so.
TEST(AsyncTest, PartOfTheSourceMayBeBeyondTheEnd) {
  RunOptions options = OneThread();
  options.data.resize(67);
  const std::string copy = "cp.async.cg.shared.global [%tile], [%p+256], 16";
  EXPECT_EQ(RunAsync(copy + ", 12;\ncp.async.wait_all;\n"
                            "ld.shared.b32 %r0, [%tile+12];\nst.global.b32 [%p], %r0;",
                     options)
                .data[0],
            0u);
  EXPECT_EQ(RunAsync(copy + ";", options).kind, "out-of-bounds");
}

TEST(AsyncTest, AccessesAreChecked) {
  const std::string copy = "cp.async.ca.shared.global ";
  const auto kind = [&](const std::string& operands) {
    return RunAsync(copy + operands + ";", OneThread()).kind;
  };
  EXPECT_EQ(kind("[%tile+4], [%p], 8"), "misaligned");
  EXPECT_EQ(kind("[%tile], [%p+4], 8"), "misaligned");
  EXPECT_EQ(kind("[%tile], [%p+4], 8, 4"), "misaligned");
  EXPECT_EQ(kind("[%tile+512], [%p], 4"), "out-of-bounds");
  EXPECT_EQ(kind("[%tile], [%p+256], 4"), "out-of-bounds");
  EXPECT_EQ(kind("[%tile], [%p], 4, 5"), "out-of-bounds");
}

// Two groups of one copy each, then `text`, by one thread.
Outcome AfterTwoGroups(const std::string& text) {
  return RunAsync(
      "cp.async.ca.shared.global [tile], [%p], 4;\ncp.async.commit_group;\n"
      "cp.async.ca.shared.global [tile+16], [%p+4], 4;\ncp.async.commit_group;\n"
      "cp.async.ca.shared.global [tile+32], [%p+8], 4;\n" +
          text,
      OneThread());
}

TEST(AsyncTest, WaitsForGroups) {
  const std::string first = "ld.shared.b32 %r0, [tile];\n";
  const std::string second = "ld.shared.b32 %r0, [tile+16];\n";
  const std::string open = "ld.shared.b32 %r0, [tile+32];\n";
  const std::string store = "st.global.b32 [%p], %r0;";
  EXPECT_EQ(AfterTwoGroups(first).kind, "async");
  EXPECT_EQ(AfterTwoGroups("cp.async.wait_group 2;\n" + first).kind, "async");
  EXPECT_EQ(AfterTwoGroups("cp.async.wait_group 1;\n" + first + store).data[0], 0x01010101u);
  EXPECT_EQ(AfterTwoGroups("cp.async.wait_group 1;\n" + second).kind, "async");
  EXPECT_EQ(AfterTwoGroups("cp.async.wait_group 0;\n" + second + store).data[0], 0x02020202u);
  EXPECT_EQ(AfterTwoGroups("cp.async.wait_group 0;\n" + open).kind, "async");
  EXPECT_EQ(AfterTwoGroups("cp.async.wait_all;\n" + open + store).data[0], 0x03030303u);
  EXPECT_EQ(AfterTwoGroups("cp.async.commit_group;\ncp.async.wait_group 1;\n" + second).finding,
            "");
  // An empty group counts.
  EXPECT_EQ(AfterTwoGroups("cp.async.commit_group;\ncp.async.commit_group;\n"
                           "cp.async.wait_group 2;\n" +
                           second + store)
                .data[0],
            0x02020202u);
}

TEST(AsyncTest, TheMessageNamesBoth) {
  EXPECT_EQ(AfterTwoGroups("cp.async.wait_group 1;\nld.shared.b32 %r0, [tile+16];").finding,
            "async: kernel 'k', PTX line 19 (ld.shared.b32): thread (0,0,0) of block (0,0,0) reads "
            "4 bytes at shared address 0x10, in 'tile' + 16, where a copy that thread (0,0,0) "
            "began at PTX line 15 is pending");
}

TEST(AsyncTest, PendingBytesAreNobodys) {
  EXPECT_EQ(AfterTwoGroups("st.shared.u8 [tile+3], %r0;").kind, "async");
  EXPECT_EQ(AfterTwoGroups("st.shared.u8 [tile+4], %r0;").finding, "");
  EXPECT_EQ(AfterTwoGroups("atom.shared.add.u32 %r0, [tile], 1;").kind, "async");
  EXPECT_EQ(AfterTwoGroups("cp.async.cg.shared.global [tile+16], [%p], 16;").kind, "async");
  EXPECT_EQ(AfterTwoGroups("ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [tile+32];").kind, "async");
}

// Every thread copies 16 bytes; then thread t reads what thread t ^ 1 copied.
std::string ReadNeighbour(const std::string& between) {
  return "cp.async.cg.shared.global [%tile], [%mine], 16;\n" + between +
         "xor.b32 %tile, %tile, 16;\nld.shared.b32 %r0, [%tile];\n"
         "mad.wide.u32 %p, %t, 4, %p;\nst.global.b32 [%p], %r0;";
}

TEST(AsyncTest, OthersNeedTheWaitAndABarrier) {
  const Outcome good = RunAsync(ReadNeighbour("cp.async.wait_all;\nbar.sync 0;\n"));
  EXPECT_EQ(good.finding, "");
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(good.data[t], 0x01010101 * (4 * ((t ^ 1) & 7) + 1)) << t;
  }
  EXPECT_EQ(RunAsync(ReadNeighbour("bar.sync 0;\n")).kind, "async");
  EXPECT_EQ(RunAsync(ReadNeighbour("bar.sync 0;\ncp.async.wait_all;\n")).kind, "race");
  EXPECT_EQ(RunAsync(ReadNeighbour("cp.async.wait_all;\n")).kind, "race");
  // Only some of the threads wait.
  EXPECT_EQ(RunAsync(ReadNeighbour("setp.lt.u32 %q, %t, 9;\n@%q cp.async.wait_all;\n"
                                   "bar.sync 0;\n"))
                .kind,
            "async");
}

// A tile is filled again while another thread may still be reading it.
TEST(AsyncTest, ReusingATileNeedsABarrier) {
  const auto reuse = [](const std::string& between) {
    return RunAsync(
               "st.shared.b32 [%tile], %t;\nbar.sync 0;\nxor.b32 %r1, %tile, 16;\n"
               "ld.shared.b32 %r0, [%r1];\n" +
               between + "cp.async.ca.shared.global [%tile], [%mine], 4;")
        .kind;
  };
  EXPECT_EQ(reuse(""), "race");
  EXPECT_EQ(reuse("bar.sync 0;\n"), "");
}

TEST(AsyncTest, ExitingWithPendingCopiesIsNoError) {
  RunOptions options = OneThread();
  options.grid = {3, 1, 1};
  // Blocks that follow find no pending bytes, and nothing initialized.
  EXPECT_EQ(RunAsync("st.shared.b32 [tile], %t;\nld.shared.b32 %r0, [tile];\n"
                     "cp.async.ca.shared.global [tile], [%p], 4;",
                     options)
                .finding,
            "");
  EXPECT_EQ(RunAsync("mov.u32 %r0, %ctaid.x;\nsetp.eq.u32 %q, %r0, 0;\n"
                     "@%q cp.async.ca.shared.global [tile], [%p], 4;\n@%q exit;\n"
                     "cp.async.wait_all;\nld.shared.b32 %r0, [tile];",
                     options)
                .kind,
            "uninitialized");
}

TEST(AsyncTest, UnknownFormsAreErrors) {
  const auto error = [](const std::string& text) {
    return BodyError(std::string(kPreamble) + text);
  };
  EXPECT_EQ(error("cp.async.cg.shared.global [%tile], [%p], 8;"),
            "ptx line 13: cp.async.cg.shared.global: copies 16 bytes, or with '.ca' 4 or 8");
  EXPECT_NE(error("cp.async.ca.shared.global [%tile], [%p], %r0;"), "");
  EXPECT_NE(error("cp.async.ca.global.shared [%p], [%tile], 4;"), "");
  EXPECT_NE(error("cp.async.shared.global [%tile], [%p], 4;"), "");
  EXPECT_NE(error("cp.async.wait_group;"), "");
  EXPECT_NE(error("cp.async.wait_group %r0;"), "");
  EXPECT_NE(error("cp.async.bulk.wait_all;"), "");
  EXPECT_NE(error("ld.shared.global.b32 %r0, [%tile];"), "");
}

}  // namespace
}  // namespace lijit::emulator
