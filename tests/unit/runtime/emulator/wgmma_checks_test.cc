// SPDX-License-Identifier: Apache-2.0
// Kernels that use wgmma wrongly: they look too early, write too early, or do not fence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/runtime/emulator/wgmma_runner.h"

namespace lijit::emulator {
namespace {

constexpr unsigned kColumns = 8;

Outcome Execute(const std::string& body, std::uint32_t threads = 128) {
  Wgmma wgmma;
  wgmma.columns = kColumns;
  wgmma.a.resize(64 * 32, 1);
  wgmma.b.resize(std::size_t{kColumns} * 32, 1);
  wgmma.c.resize(std::size_t{64} * kColumns, 5);
  wgmma.b_layout.stride_bytes = 1024;
  RunOptions options;
  options.block = {threads, 1, 1};
  options.data = WgmmaData(wgmma);
  const Outcome outcome = RunPtx(
      WgmmaText(kColumns, fmt::format("mov.u64 %d1, {:#x};\n", wgmma.b_layout.Descriptor()) + body),
      options);
  EXPECT_EQ(outcome.error, "") << body;
  return outcome;
}

const std::string kProxy = "fence.proxy.async;\nbar.sync 0;\n";
const std::string kFence = "wgmma.fence.sync.aligned;\n";
const std::string kProduct =
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, "
    "%d1, %true;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kBegin = kProxy + kFence + kProduct;
std::string Wait(int groups) { return fmt::format("wgmma.wait_group.sync.aligned {};\n", groups); }
const std::string kStore = "st.global.b32 [%out], %c0;\n";

TEST(WgmmaChecksTest, AccumulatorsAreNobodysUntilTheWait) {
  const Outcome good = Execute(kBegin + kProduct + kCommit + Wait(0) + kStore);
  EXPECT_EQ(good.finding, "");
  EXPECT_EQ(good.data[(kImageBytes + 2048) / 4], 5u + 64);
  EXPECT_NE(Execute(kBegin + kStore)
                .finding.find("of block (0,0,0) reads an accumulator of a wgmma that no "
                              "wgmma.wait_group has waited for"),
            std::string::npos);
  for (const std::string& early :
       {kCommit, Wait(0), kCommit + Wait(1), kCommit + kProduct + Wait(0)}) {
    EXPECT_EQ(Execute(kBegin + early + kStore).kind, "async") << early;
  }
  EXPECT_EQ(Execute(kBegin + kCommit + kCommit + Wait(1) + kStore).kind, "");
  EXPECT_EQ(Execute(kBegin + "mov.u32 %c1, 0;\n" + kCommit + Wait(0)).kind, "async");
  EXPECT_EQ(Execute(kBegin + "add.u32 %c1, %t, 0;\n" + kCommit + Wait(0)).kind, "async");
}

TEST(WgmmaChecksTest, SourcesStayUntilTheWait) {
  const std::string write = "add.u32 %a2, %t, 1;\n";
  EXPECT_EQ(Execute(kBegin + kCommit + write + Wait(0)).kind, "async");
  EXPECT_EQ(Execute(kBegin + kCommit + "mov.u32 %a2, %t;\n" + Wait(0)).kind, "async");
  EXPECT_EQ(Execute(kBegin + kCommit + "add.u32 %r0, %a2, 1;\n" + Wait(0) + write).kind, "");
}

// A value may live on in another register.
TEST(WgmmaChecksTest, MovesHandOn) {
  const std::string move = "mov.b32 %r1, %c0;\n";
  const std::string store = "st.global.b32 [%out], %r1;\n";
  const Outcome good = Execute(kBegin + move + kCommit + Wait(0) + store);
  EXPECT_EQ(good.finding, "");
  EXPECT_EQ(good.data[(kImageBytes + 2048) / 4], 5u + 32);
  EXPECT_EQ(Execute(kBegin + move + kCommit + store).kind, "async");
  EXPECT_EQ(Execute(kBegin + move + "add.u32 %r1, %r1, 1;\n").kind, "async");
}

TEST(WgmmaChecksTest, WrittenRegistersNeedAFence) {
  const std::string end = kProduct + kCommit + Wait(0);
  EXPECT_EQ(Execute(kProxy + end).kind, "async");
  EXPECT_EQ(Execute(kProxy + kFence + "add.u32 %a1, %t, 1;\n" + end).kind, "async");
  EXPECT_EQ(Execute(kProxy + kFence + "add.u32 %c1, %t, 1;\n" + end).kind, "async");
  EXPECT_EQ(Execute(kProxy + "add.u32 %a1, %t, 1;\n" + kFence + end + end).kind, "");
  EXPECT_EQ(Execute(kProxy + kFence + end + "add.u32 %a1, %t, 1;\n" + end).kind, "async");
  EXPECT_EQ(Execute(kProxy + kFence + end + "add.u32 %a1, %t, 1;\n" + kFence + end).kind, "");
}

TEST(WgmmaChecksTest, SharedMemoryMustBeFencedAndInOrder) {
  const std::string end = kFence + kProduct + kCommit + Wait(0);
  EXPECT_EQ(Execute("bar.sync 0;\n" + end).kind, "proxy");
  EXPECT_NE(Execute("fence.proxy.async;\n" + end).kind, "");
  EXPECT_EQ(Execute("bar.sync 0;\nfence.proxy.async;\n" + end).kind, "");
  EXPECT_EQ(Execute(kProxy + "mov.u64 %d1, 0x4000004000013ff0;\n" + end).kind, "out-of-bounds");
}

// Warpgroup 0 multiplies; warp 4 writes to what it reads.
TEST(WgmmaChecksTest, OperandsStayUntilTheWait) {
  const auto kind = [](const std::string& between, const std::string& before_write) {
    return Execute(kProxy + "setp.ge.u32 %q, %g, 128;\n@%q bra writer;\n" + kFence + kProduct +
                       kCommit + between + "exit;\nwriter:\n" + before_write +
                       "mov.u32 %r0, 0;\nsetp.eq.u32 %q, %g, 128;\n@%q st.shared.b32 [%r0], 7;\n",
                   160)
        .kind;
  };
  const std::string arrive = "bar.arrive 1, 160;\n";
  const std::string sync = "bar.sync 1, 160;\n";
  EXPECT_EQ(kind(Wait(0) + arrive, sync), "");
  EXPECT_EQ(kind(arrive + Wait(0), sync), "race");
  EXPECT_EQ(kind(Wait(0), ""), "race");
}

TEST(WgmmaChecksTest, DecodedTilesFollowTheirBytes) {
  const Outcome outcome =
      Execute(kBegin + kCommit + Wait(0) +
              "bar.sync 0;\nshl.b32 %r0, %g, 4;\n"
              "mov.u32 %r1, 0x02020202;\nst.shared.v4.b32 [%r0], {%r1, %r1, %r1, %r1};\n" +
              kProxy + kFence + kProduct + kCommit + Wait(0) + kStore);
  EXPECT_EQ(outcome.finding, "");
  EXPECT_EQ(outcome.data[(kImageBytes + 2048) / 4], 5u + 32 + 64);
}

TEST(WgmmaChecksTest, AllOfAWarpgroupTakePart) {
  const std::string end = kCommit + Wait(0);
  EXPECT_EQ(Execute(kBegin + end, 96).kind, "divergence");
  EXPECT_EQ(Execute(kBegin + end, 256).kind, "");
  EXPECT_EQ(Execute(kProxy + kFence + "setp.ge.u32 %q, %g, 96;\n@%q exit;\n" + kProduct + end).kind,
            "divergence");
  EXPECT_EQ(
      Execute(kProxy + kFence + "setp.eq.u32 %q, %g, 5;\n@!%q bra go;\nexit;\ngo:\n" + kProduct)
          .kind,
      "divergence");
  EXPECT_EQ(Execute(kProxy + kFence + "setp.eq.u32 %true, %g, 5;\n" + kProduct + end).kind,
            "divergence");
  EXPECT_EQ(
      Execute(kProxy + kFence + "setp.eq.u32 %q, %g, 5;\n@%q add.u64 %d1, %d1, 2;\n" + kProduct)
          .kind,
      "divergence");
  EXPECT_EQ(Execute(kProxy + kFence + "setp.ge.u32 %q, %g, 96;\n@%q add.u64 %d1, %d1, 2;\n" +
                    kProduct + end)
                .kind,
            "divergence");
}

TEST(WgmmaChecksTest, RegistersOfTheLaunch) {
  const auto kind = [](const std::string& text, std::uint32_t threads) {
    return Execute("setp.ge.u32 %q, %g, 128;\n@%q bra others;\n" + text, threads).kind;
  };
  const std::string grow = "setmaxnreg.inc.sync.aligned.u32 {};\nexit;\n";
  const std::string shrink = "others:\nsetmaxnreg.dec.sync.aligned.u32 {};\n";
  const auto both = [&](int more, int less) {
    return kind(fmt::format(fmt::runtime(grow + shrink), more, less), 384);
  };
  // 65536 registers for 384 threads: 168 each.
  EXPECT_EQ(both(240, 128), "");
  EXPECT_EQ(both(256, 128), "registers");
  EXPECT_EQ(kind("setmaxnreg.dec.sync.aligned.u32 64;\nsetmaxnreg.inc.sync.aligned.u32 40;\nexit;\n"
                 "others:\n",
                 384),
            "registers");
  EXPECT_EQ(kind("others:\nsetmaxnreg.dec.sync.aligned.u32 24;\n", 160), "divergence");
  for (const char* text :
       {"setmaxnreg.inc.sync.aligned.u32 20;", "setmaxnreg.inc.sync.aligned.u32 44;",
        "setmaxnreg.inc.sync.aligned.u32 264;", "setmaxnreg.inc.u32 40;",
        "setmaxnreg.sync.aligned.u32 40;", "griddepcontrol;", "createpolicy.fractional.b64 %d0;"}) {
    EXPECT_NE(LoadError(WgmmaText(kColumns, text)), "") << text;
  }
}

TEST(WgmmaChecksTest, HintsChangeNothing) {
  const Outcome outcome = Execute(
      "griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n"
      "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d0;\n"
      "createpolicy.fractional.L2::evict_first.b64 %d0, 1.0;\n"
      "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.b32 %r0, [%data], %d0;\n"
      "st.global.L2::cache_hint.b32 [%out], %r0, %d0;\n"
      "red.global.add.L2::cache_hint.u32 [%out+4], 3, %d0;\n"
      "bar.sync 0;\n"
      "setp.eq.u32 %q, %g, 0;\n"
      "@%q cp.async.cg.shared.global.L2::cache_hint [image], [%data], 16, %d0;\n"
      "cp.async.wait_all;\n",
      32);
  EXPECT_EQ(outcome.finding, "");
  EXPECT_EQ(outcome.data[(kImageBytes + 2048) / 4], outcome.data[0]);
  EXPECT_EQ(outcome.data[(kImageBytes + 2048) / 4 + 1], 5u + 3);
}

}  // namespace
}  // namespace lijit::emulator
