// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk in both directions: what is copied, when it can be seen, and kernels that look too
// early or do not fence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

constexpr std::string_view kPreamble = R"(
.shared .align 8 .b64 bar[4]; .shared .align 16 .b8 tile[512];
.reg .b64 %p, %mine, %policy; .reg .b32 %t, %place, %r<8>; .reg .pred %q, %first, %done;
mov.u32 %t, %tid.x;
setp.eq.u32 %first, %t, 0;
ld.param.u64 %p, [data];
mad.wide.u32 %mine, %t, 4, %p;
mov.u32 %place, tile;
mad.lo.u32 %place, %t, 4, %place;
)";

// Word i of the data is 0x01010101 * (i + 1).
Outcome RunBulk(const std::string& text, std::uint32_t threads = 32) {
  RunOptions options;
  options.block = {threads, 1, 1};
  for (std::uint32_t i = 0; i < 64; ++i) options.data[i] = 0x01010101 * (i + 1);
  const Outcome outcome = RunBody(std::string(kPreamble) + text, options);
  EXPECT_EQ(outcome.error, "") << text;
  return outcome;
}

constexpr std::string_view kInit =
    "@%first mbarrier.init.shared.b64 [bar], 1;\n"
    "@%first mbarrier.init.shared.b64 [bar+8], 1;\n"
    "@%first fence.mbarrier_init.release.cluster;\nbar.sync 0;\n";

std::string Expect(int bytes) {
  return fmt::format("@%first mbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n", bytes);
}

std::string Load(const std::string& to, const std::string& from, int bytes) {
  return fmt::format(
      "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{}], [{}], {}, "
      "[bar];\n",
      to, from, bytes);
}

const std::string kWait =
    "wait: mbarrier.try_wait.parity.shared.b64 %done, [bar], 0;\n@!%done bra wait;\n";

// The word of `tile` after the thread's, to the thread's word of the data.
const std::string kStoreNext = "ld.shared.b32 %r0, [%place+4];\nst.global.b32 [%mine], %r0;\n";

std::string Loaded(const std::string& between) {
  return std::string(kInit) + Expect(256) + Load("tile", "%p", 256) + between + kStoreNext;
}

TEST(BulkTest, Loads) {
  for (const char* space : {"shared::cluster", "shared::cta"}) {
    const Outcome outcome = RunBulk(
        std::string(kInit) + Expect(160) +
        fmt::format("mov.u32 %r1, 16;\ncvta.to.shared.u64 %policy, %policy;\n"
                    "@%first cp.async.bulk.{}.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                    "[%place+32], [%p+16], 144, [bar], %policy;\n"
                    "@%first cp.async.bulk.{}.global.mbarrier::complete_tx::bytes "
                    "[tile], [%p], %r1, [bar];\n",
                    space, space) +
        kWait +
        "setp.ge.u32 %q, %t, 4;\n@%q add.u32 %place, %place, 16;\n"  // words 4.. at tile + 32
        "ld.shared.b32 %r0, [%place];\nadd.u32 %r0, %r0, 1;\nst.global.b32 [%mine], %r0;\n");
    EXPECT_EQ(outcome.finding, "");
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.data[t], 0x01010101 * (t + 1) + 1);
  }
}

TEST(BulkTest, BytesAreNobodysUntilThePhaseIsComplete) {
  EXPECT_EQ(RunBulk(Loaded(kWait)).finding, "");
  EXPECT_EQ(RunBulk(Loaded("")).finding,
            "async: kernel 'k', PTX line 20 (ld.shared.b32): thread (0,0,0) of block (0,0,0) reads "
            "4 bytes at shared address 0x24, in 'tile' + 4, where a copy that thread (0,0,0) began "
            "at PTX line 19 is pending");
  EXPECT_EQ(RunBulk(Loaded("st.shared.u8 [tile+255], %r0;\n")).kind, "async");
  EXPECT_EQ(RunBulk(Loaded("st.shared.u8 [tile+256], %r0;\n" + kWait)).kind, "race");
  EXPECT_EQ(RunBulk(Loaded(Load("tile+240", "%p", 16))).kind, "async");
  // A barrier is not enough; the mbarrier is.
  EXPECT_EQ(RunBulk(Loaded("bar.sync 0;\n")).kind, "async");
}

// Warp 1 waits, and tells warp 0 by a word of global memory that orders nothing in shared memory.
TEST(BulkTest, WhoDoesNotWaitSeesNothing) {
  const std::string half =
      "setp.lt.u32 %q, %t, 32;\n@%q bra poll;\n" + kWait +
      "st.global.relaxed.gpu.b32 [%p+252], 1;\nbra meet;\n"
      "poll: ld.global.relaxed.gpu.b32 %r0, [%p+252];\nsetp.ne.u32 %q, %r0, 1;\n@%q bra poll;\n"
      "meet:\n";
  EXPECT_EQ(RunBulk(Loaded(half), 60).kind, "race");
  EXPECT_EQ(RunBulk(Loaded(half + "bar.sync 0;\n"), 60).kind, "");
}

TEST(BulkTest, AccessesAreChecked) {
  const auto kind = [](const std::string& to, const std::string& from, int bytes) {
    return RunBulk(std::string(kInit) + Expect(bytes) + Load(to, from, bytes) + kWait, 1).kind;
  };
  EXPECT_EQ(kind("tile", "%p", 16), "");
  EXPECT_EQ(kind("tile", "%p", 0), "");
  EXPECT_EQ(kind("tile+8", "%p", 16), "misaligned");
  EXPECT_EQ(kind("tile", "%p+8", 16), "misaligned");
  EXPECT_EQ(kind("tile", "%p", 24), "misaligned");
  EXPECT_EQ(kind("tile", "%p+16", 256), "out-of-bounds");
  EXPECT_EQ(kind("tile+496", "%p", 32), "out-of-bounds");
}

TEST(BulkTest, CopiesNeedAnMbarrierThatTheySee) {
  const std::string load = Load("tile", "%p", 16);
  EXPECT_EQ(RunBulk(load, 1).kind, "mbarrier");
  const std::string init = "mbarrier.init.shared.b64 [bar], 1;\n";
  EXPECT_EQ(RunBulk(init + Expect(16) + load + kWait, 1).kind, "proxy");
  EXPECT_EQ(RunBulk(init + "fence.proxy.async;\n" + Expect(16) + load + kWait, 1).kind, "");
}

TEST(BulkTest, WrongByteCountsNeverEnd) {
  const Outcome more = RunBulk(std::string(kInit) + Expect(32) + Load("tile", "%p", 16) + kWait);
  EXPECT_EQ(more.kind, "divergence");
  EXPECT_NE(more.finding.find("lacks 0 arrivals and 16 bytes"), std::string::npos) << more.finding;
  EXPECT_EQ(RunBulk(std::string(kInit) + Expect(16) + Load("tile", "%p", 32) + kWait).kind,
            "divergence");
}

TEST(BulkTest, ReusingATileNeedsOrder) {
  const std::string read = "st.shared.b32 [%place], %t;\n{}ld.shared.b32 %r0, [%place];\n{}";
  const auto kind = [&](const char* fence, const char* barrier) {
    return RunBulk(std::string(kInit) + fmt::format(fmt::runtime(read), fence, barrier) +
                   Expect(256) + Load("tile", "%p", 256) + kWait)
        .kind;
  };
  EXPECT_EQ(kind("fence.proxy.async.shared::cta;\n", "bar.sync 0;\n"), "");
  EXPECT_EQ(kind("fence.proxy.async.shared::cta;\n", ""), "race");
  // Written by threads, and then by the other proxy.
  EXPECT_EQ(kind("", "bar.sync 0;\n"), "proxy");
}

TEST(BulkTest, APendingLoadAtTheEndIsFound) {
  EXPECT_EQ(
      RunBulk(std::string(kInit) + Expect(16) + Load("tile", "%p", 16), 1).finding,
      "async: kernel 'k', PTX line 19 "
      "(cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes): thread (0,0,0) of "
      "block (0,0,0) begins a copy that is still pending when its block exits");
}

// Thread 0 fills two stages in turn; all threads add up what their word was.
TEST(BulkTest, TwoStages) {
  const Outcome outcome = RunBulk(R"(
@%first mbarrier.init.shared.b64 [bar], 1;
@%first mbarrier.init.shared.b64 [bar+8], 1;
@%first mbarrier.init.shared.b64 [bar+16], 32;
@%first mbarrier.init.shared.b64 [bar+24], 32;
@%first fence.mbarrier_init.release.cluster;
bar.sync 0;
mov.u32 %r0, 0;
mov.u32 %r7, 0;
setp.ge.u32 %q, %t, 32;
@%q bra produce;
consume:
and.b32 %r1, %r0, 1;
shr.u32 %r2, %r0, 1;
and.b32 %r2, %r2, 1;
mov.u32 %r3, bar;
mad.lo.u32 %r3, %r1, 8, %r3;
full: mbarrier.try_wait.parity.shared.b64 %done, [%r3], %r2;
@!%done bra full;
mad.lo.u32 %r4, %r1, 256, %place;
ld.shared.b32 %r5, [%r4];
add.u32 %r7, %r7, %r5;
mbarrier.arrive.shared.b64 _, [%r3+16];
add.u32 %r0, %r0, 1;
setp.lt.u32 %done, %r0, 7;
@%done bra consume;
st.global.b32 [%mine+128], %r7;
exit;
produce:
and.b32 %r1, %r0, 1;
shr.u32 %r2, %r0, 1;
and.b32 %r2, %r2, 1;
xor.b32 %r2, %r2, 1;
mov.u32 %r3, bar;
mad.lo.u32 %r3, %r1, 8, %r3;
empty: mbarrier.try_wait.parity.shared.b64 %done, [%r3+16], %r2;
@!%done bra empty;
mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 128;
mov.u32 %r4, tile;
mad.lo.u32 %r4, %r1, 256, %r4;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%p], 128, [%r3];
add.u32 %r0, %r0, 1;
setp.lt.u32 %done, %r0, 7;
@%done bra produce;
)",
                                  33);
  EXPECT_EQ(outcome.finding, "");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.data[32 + t], 7 * 0x01010101 * (t + 1));
}

std::string Store(const std::string& fence, const std::string& after,
                  const std::string& source = "tile") {
  return "add.u32 %r0, %t, 500;\nst.shared.b32 [%place], %r0;\n" + fence +
         "bar.sync 0;\n@!%first bra end;\n"
         "cp.async.bulk.global.shared::cta.bulk_group [%p+128], [" +
         source +
         "], 128;\n"
         "cp.async.bulk.commit_group;\n" +
         after + "end:\n";
}

TEST(BulkTest, Stores) {
  const std::string fence = "fence.proxy.async.shared::cta;\n";
  for (const char* wait : {"cp.async.bulk.wait_group 0;\n", "cp.async.bulk.wait_group.read 0;\n"}) {
    const Outcome outcome = RunBulk(Store(fence, wait + std::string("st.shared.b32 [tile], 1;\n")));
    EXPECT_EQ(outcome.finding, "");
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.data[32 + t], 500 + t);
  }
  EXPECT_EQ(RunBulk(Store("", "cp.async.bulk.wait_group 0;\n")).finding,
            "proxy: kernel 'k', PTX line 18 (cp.async.bulk.global.shared::cta.bulk_group): thread "
            "(0,0,0) of block (0,0,0) reads 128 bytes at shared address 0x20, in 'tile' + 0, which "
            "thread (0,0,0) wrote at PTX line 15 with no fence.proxy.async in between");
  // Another warp's writes, which thread 0 cannot fence before the barrier.
  const std::string wait = "cp.async.bulk.wait_group 0;\n";
  EXPECT_EQ(RunBulk(Store(fence, wait, "tile+128"), 64).kind, "");
  EXPECT_EQ(RunBulk(Store("@%first " + fence, wait, "tile+128"), 64).kind, "proxy");
  EXPECT_EQ(RunBulk(Store(fence, "")).kind, "async");
  EXPECT_EQ(RunBulk(Store(fence, "cp.async.bulk.wait_group 1;\n")).kind, "async");
  EXPECT_EQ(RunBulk(Store(fence, "st.shared.b32 [tile+4], 1;\n")).kind, "async");
  EXPECT_EQ(
      RunBulk(Store(fence, "ld.shared.b32 %r0, [tile+4];\ncp.async.bulk.wait_group 0;\n")).kind,
      "");
}

TEST(BulkTest, UnknownFormsAreErrors) {
  for (const char* text :
       {"cp.async.bulk.shared::cluster.global.bulk_group [tile], [%p], 16;",
        "cp.async.bulk.global.shared::cluster.bulk_group [%p], [tile], 16;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%p], 16;",
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%p], [tile], 16;",
        "cp.async.bulk.wait_all;", "cp.async.bulk.prefetch.L2.shared::cta [tile], 16;"}) {
    EXPECT_NE(BodyError(std::string(kPreamble) + text), "") << text;
  }
  EXPECT_EQ(BodyError(std::string(kPreamble) + "cp.async.bulk.prefetch.L2.global [%p], 64;"), "");
}

}  // namespace
}  // namespace lijit::emulator
