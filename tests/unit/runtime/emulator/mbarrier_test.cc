// SPDX-License-Identifier: Apache-2.0
// mbarrier instructions: phases, what they order, and their misuse.
#include "runtime/emulator/mbarrier.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

// %t is the thread, %w the warp, %mine its word of `tile`, %out what it stores at the end.
Outcome RunThreads(const std::string& text, std::uint32_t threads) {
  RunOptions options;
  options.block = {threads, 1, 1};
  options.data = std::vector<std::uint32_t>(threads);
  const Outcome outcome =
      RunBody(fmt::format(".reg .b64 %p, %s<4>; .reg .b32 %t, %w, %out, %mine, %r<8>;\n"
                          ".reg .pred %q<8>;\n"
                          ".shared .align 8 .b64 bar[4]; .shared .align 16 .b8 tile[1024];\n"
                          "mov.u32 %t, %tid.x;\nshr.u32 %w, %t, 5;\nmov.u32 %out, 0;\n"
                          "mov.u32 %mine, tile;\nmad.lo.u32 %mine, %t, 4, %mine;\n{}\n"
                          "ld.param.u64 %p, [data];\nmad.wide.u32 %p, %t, 4, %p;\n"
                          "st.global.u32 [%p], %out;",
                          text),
              options);
  EXPECT_EQ(outcome.error, "") << text;
  return outcome;
}

// bar[i] is initialized by thread 0 for the i-th count.
std::string Initialized(std::initializer_list<int> counts) {
  std::string text = "setp.ne.u32 %q7, %t, 0;\n@%q7 bra initialized;\n";
  int offset = 0;
  for (const int count : counts) {
    text += fmt::format("mbarrier.init.shared::cta.b64 [bar+{}], {};\n", offset, count);
    offset += 8;
  }
  return text + "initialized:\nbar.sync 0;\n";
}

std::string Wait(int offset, const std::string& parity, const std::string& label) {
  return fmt::format(
      "{0}:\nmbarrier.try_wait.parity.shared::cta.b64 %q6, [bar+{1}], {2};\n@!%q6 bra {0};\n",
      label, offset, parity);
}

TEST(MbarrierTest, PhasesCompleteWithArrivalsAndBytes) {
  Mbarrier barrier;
  ASSERT_EQ(barrier.Init(2), "");
  EXPECT_TRUE(barrier.HasParityCompleted(true));
  EXPECT_FALSE(barrier.HasParityCompleted(false));
  EXPECT_EQ(barrier.Arrive(1, false), "");
  EXPECT_EQ(barrier.ExpectBytes(100), "");
  EXPECT_EQ(barrier.Arrive(1, false), "");
  EXPECT_EQ(barrier.phase(), 0u);
  EXPECT_EQ(barrier.CompleteBytes(60), "");
  EXPECT_EQ(barrier.phase(), 0u);
  EXPECT_EQ(barrier.CompleteBytes(40), "");
  EXPECT_EQ(barrier.phase(), 1u);
  EXPECT_TRUE(barrier.HasParityCompleted(false));
  EXPECT_FALSE(barrier.HasParityCompleted(true));
  // Bytes may arrive before they are expected.
  EXPECT_EQ(barrier.CompleteBytes(16), "");
  EXPECT_EQ(barrier.Arrive(1, true), "");
  EXPECT_EQ(barrier.ExpectBytes(16), "");
  EXPECT_EQ(barrier.phase(), 1u);
  EXPECT_EQ(barrier.Arrive(1, false), "");
  EXPECT_EQ(barrier.phase(), 2u);
  EXPECT_EQ(barrier.pending(), 1u);  // one has dropped out
}

TEST(MbarrierTest, CountsHaveLimits) {
  for (const std::uint32_t count : {0u, 1u << 20}) {
    Mbarrier barrier;
    EXPECT_NE(barrier.Init(count), "") << count;
  }
  Mbarrier barrier;
  ASSERT_EQ(barrier.Init(Mbarrier::kMaxCount), "");
  EXPECT_NE(barrier.ExpectBytes(1u << 20), "");
  EXPECT_EQ(barrier.ExpectBytes(Mbarrier::kMaxCount), "");
  EXPECT_NE(barrier.ExpectBytes(1), "");
  EXPECT_EQ(barrier.CompleteBytes(Mbarrier::kMaxCount), "");
  EXPECT_EQ(barrier.CompleteBytes(Mbarrier::kMaxCount), "");
  EXPECT_NE(barrier.CompleteBytes(1), "");
  EXPECT_NE(barrier.Arrive(0, false), "");
  EXPECT_EQ(barrier.Arrive(Mbarrier::kMaxCount, false), "");
}

// Warp 0 writes, warp 1 reads what its lane wrote.
std::string Produce(const std::string& arrive, const std::string& wait) {
  return "st.shared.u32 [%mine], 0;\n" + Initialized({32}) +
         "setp.eq.u32 %q0, %w, 1;\n@%q0 bra consume;\n" +
         "add.u32 %r0, %t, 100;\nst.shared.u32 [%mine], %r0;\n" + arrive + "bra end;\nconsume:\n" +
         wait + "ld.shared.u32 %out, [%mine+-128];\nend:\n";
}

TEST(MbarrierTest, OrdersWhatWasWritten) {
  const std::string arrive = "mbarrier.arrive.shared.b64 %s0, [bar];\n";
  const std::string arrive_sink = "mbarrier.arrive.release.cta.shared::cluster.b64 _, [bar];\n";
  const std::string test =
      "spin: mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %q6, [bar], 0;\n"
      "@!%q6 bra spin;\n";
  for (const std::string& by : {arrive, arrive_sink}) {
    for (const std::string& wait : {Wait(0, "0", "again"), test}) {
      const Outcome outcome = RunThreads(Produce(by, wait), 64);
      EXPECT_EQ(outcome.finding, "") << by << wait;
      for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.data[32 + t], 100 + t);
    }
  }
  // Waiting for the phase before the first is no wait.
  EXPECT_EQ(RunThreads(Produce(arrive, Wait(0, "1", "again")), 64).kind, "race");
  EXPECT_EQ(RunThreads(Produce("mbarrier.arrive.relaxed.cta.shared.b64 %s0, [bar];\n",
                               Wait(0, "0", "again")),
                       64)
                .kind,
            "race");
  EXPECT_EQ(RunThreads(Produce(arrive,
                               "spin: mbarrier.test_wait.parity.relaxed.cta.shared.b64 %q6, "
                               "[bar], 0;\n@!%q6 bra spin;\n"),
                       64)
                .kind,
            "race");
}

// A ring of one word for each lane: full and empty, ten rounds.
TEST(MbarrierTest, FullAndEmpty) {
  const std::string ring = Initialized({32, 32}) + R"(mov.u32 %r4, 0;
setp.eq.u32 %q0, %w, 1;
@%q0 bra consume;
produce:
and.b32 %r5, %r4, 1;
xor.b32 %r6, %r5, 1;
{0}
mad.lo.u32 %r0, %r4, 1000, %t;
st.shared.u32 [%mine], %r0;
mbarrier.arrive.shared::cta.b64 _, [bar];
add.u32 %r4, %r4, 1;
setp.lt.u32 %q1, %r4, 10;
@%q1 bra produce;
bra end;
consume:
and.b32 %r5, %r4, 1;
{1}
ld.shared.u32 %r0, [%mine+-128];
add.u32 %out, %out, %r0;
mbarrier.arrive.shared::cta.b64 _, [bar+8];
add.u32 %r4, %r4, 1;
setp.lt.u32 %q1, %r4, 10;
@%q1 bra consume;
end:
)";
  const std::string full = Wait(0, "%r5", "full");
  const Outcome good =
      RunThreads(fmt::format(fmt::runtime(ring), Wait(8, "%r6", "empty"), full), 64);
  EXPECT_EQ(good.finding, "");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(good.data[32 + t], 45000 + 10 * t);
  // The producer does not wait until the consumer has read.
  EXPECT_NE(RunThreads(fmt::format(fmt::runtime(ring), "", full), 64).kind, "");
}

TEST(MbarrierTest, States) {
  const Outcome outcome = RunThreads(Initialized({5}) + R"(setp.ne.u32 %q0, %t, 0;
@%q0 bra end;
mbarrier.arrive.noComplete.shared.b64 %s0, [bar], 3;
mbarrier.pending_count.b64 %out, %s0;
mbarrier.arrive.b64 %s1, [%s3];
mbarrier.pending_count.b64 %r0, %s1;
mad.lo.u32 %out, %out, 10, %r0;
mbarrier.test_wait.shared.b64 %q1, [bar], %s1;
@%q1 add.u32 %out, %out, 1000;
mbarrier.arrive_drop.shared.b64 %s2, [bar];
mbarrier.test_wait.shared.b64 %q1, [bar], %s1;
@%q1 add.u32 %out, %out, 2000;
mbarrier.arrive.shared.b64 %s2, [bar], 4;
mbarrier.try_wait.shared.b64 %q1, [bar], %s2, 1000;
@%q1 add.u32 %out, %out, 4000;
end:
)",
                                     1);
  // %s3 is 0, a generic address that is not in shared memory.
  EXPECT_EQ(outcome.kind, "mbarrier");
  const Outcome good = RunThreads(Initialized({5}) + R"(cvta.shared.u64 %s3, bar;
mbarrier.arrive.noComplete.shared.b64 %s0, [bar], 3;
mbarrier.pending_count.b64 %out, %s0;
mbarrier.arrive.b64 %s1, [%s3];
mbarrier.pending_count.b64 %r0, %s1;
mad.lo.u32 %out, %out, 10, %r0;
mbarrier.test_wait.shared.b64 %q1, [bar], %s1;
@%q1 add.u32 %out, %out, 1000;
mbarrier.arrive_drop.shared.b64 %s2, [bar];
mbarrier.test_wait.shared.b64 %q1, [bar], %s1;
@%q1 add.u32 %out, %out, 2000;
mbarrier.arrive.shared.b64 %s2, [bar], 4;
mbarrier.try_wait.shared.b64 %q1, [bar], %s2, 1000;
@%q1 add.u32 %out, %out, 4000;
)",
                                  1);
  EXPECT_EQ(good.finding, "");
  EXPECT_EQ(good.data[0], 6052u);
}

// A thread that polls and helps itself.
TEST(MbarrierTest, APollMayFail) {
  const Outcome outcome =
      RunThreads(Initialized({1}) +
                     "again: mbarrier.try_wait.parity.shared.b64 %q0, [bar], 0;\n"
                     "@%q0 bra end;\nadd.u32 %out, %out, 1;\n"
                     "setp.lt.u32 %q1, %out, 20;\n@%q1 bra again;\n"
                     "mbarrier.arrive.shared.b64 _, [bar];\nbra again;\nend:\n",
                 1);
  EXPECT_EQ(outcome.finding, "");
  EXPECT_EQ(outcome.data[0], 20u);
}

TEST(MbarrierTest, AnEndlessWaitIsFound) {
  EXPECT_EQ(RunThreads(Initialized({33}) + "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 7;\n" +
                           Wait(0, "0", "again"),
                       32)
                .finding,
            "divergence: kernel 'k', PTX line 20 "
            "(mbarrier.try_wait.parity.shared::cta.b64): thread (0,0,0) of block (0,0,0) waits for "
            "ever; of the block's 32 threads, 0 have exited, 32 wait at line 20 for phase 0 of the "
            "mbarrier at 'bar' + 0, which lacks 1 arrivals and 224 bytes");
}

TEST(MbarrierTest, MisuseIsFound) {
  const auto kind = [](const std::string& text) { return RunThreads(text, 32).kind; };
  EXPECT_EQ(kind("mbarrier.arrive.shared.b64 _, [bar];\n"), "mbarrier");
  EXPECT_EQ(kind(Wait(0, "1", "again")), "mbarrier");
  EXPECT_EQ(kind(Initialized({1}) + "mbarrier.arrive.shared.b64 _, [bar+8];\n"), "mbarrier");
  // An odd count of arrivals, two at a time.
  EXPECT_EQ(kind(Initialized({33}) + "mbarrier.arrive.shared.b64 _, [bar], 2;\n"), "mbarrier");
  EXPECT_EQ(kind(Initialized({64}) + "mbarrier.arrive.shared.b64 _, [bar], 2;\n"), "");
  EXPECT_EQ(kind(Initialized({0})), "mbarrier");
  EXPECT_EQ(kind("mbarrier.init.shared.b64 [bar], 1;\n"), "mbarrier");
  EXPECT_EQ(kind(Initialized({1}) + "ld.shared.b32 %r0, [bar+4];\n"), "mbarrier");
  EXPECT_EQ(kind(Initialized({1}) + "st.shared.u8 [bar+3], 0;\n"), "mbarrier");
  EXPECT_EQ(kind(Initialized({1}) + "mbarrier.arrive.shared.b64 _, [bar+4];\n"), "misaligned");
  EXPECT_EQ(kind(Initialized({1}) + "mbarrier.arrive.shared.b64 _, [8192];\n"), "out-of-bounds");
  EXPECT_EQ(kind("mov.u64 %s0, -8;\nmbarrier.arrive.shared.b64 _, [%s0];\n"), "out-of-bounds");
  EXPECT_EQ(kind(Initialized({32}) + "mbarrier.arrive.noComplete.shared.b64 _, [bar], 1;\n"),
            "mbarrier");
  EXPECT_EQ(kind(Initialized({1}) + "mbarrier.test_wait.parity.shared.b64 %q0, [bar], 2;\n"),
            "mbarrier");
}

TEST(MbarrierTest, StatesOfOldPhasesAreFound) {
  EXPECT_EQ(RunThreads(Initialized({1}) + "mbarrier.arrive.shared.b64 %s0, [bar];\n"
                                          "mbarrier.arrive.shared.b64 %s1, [bar];\n"
                                          "mbarrier.test_wait.shared.b64 %q0, [bar], %s0;\n",
                       1)
                .kind,
            "mbarrier");
}

TEST(MbarrierTest, ObjectsEndAndBeginAgain) {
  const std::string end = "mbarrier.inval.shared.b64 [bar];\n";
  EXPECT_EQ(RunThreads(Initialized({1}) + end +
                           "st.shared.u64 [bar], 5;\n"
                           "mbarrier.init.shared.b64 [bar], 2;\n"
                           "mbarrier.arrive.shared.b64 _, [bar], 2;\n" +
                           Wait(0, "0", "again"),
                       1)
                .finding,
            "");
  EXPECT_EQ(RunThreads(Initialized({1}) + end + "mbarrier.arrive.shared.b64 _, [bar];\n", 1).kind,
            "mbarrier");
  EXPECT_EQ(RunThreads(Initialized({1}) + end + end, 1).kind, "mbarrier");
}

TEST(MbarrierTest, UseWithNoBarrierAfterTheInitializationIsARace) {
  EXPECT_EQ(RunThreads("setp.ne.u32 %q0, %t, 0;\n@%q0 bra next;\n"
                       "mbarrier.init.shared.b64 [bar], 33;\nnext:\n"
                       "mbarrier.arrive.shared.b64 _, [bar];\n",
                       32)
                .kind,
            "race");
}

TEST(MbarrierTest, UnknownFormsAreErrors) {
  for (const char* text :
       {"mbarrier.init.global.b64 [data], 1;", "mbarrier.arrive.b64 _, [data], 1, 2;",
        "mbarrier.inval.parity.b64 [data];", "mbarrier.b64 [data];", "mbarrier.init.b64 [data];",
        "mbarrier.arrive.acquire.cta.shared.b64 _, [8];", "mbarrier.arrive.init.shared.b64 _, [8];",
        "mbarrier.arrive.noComplete.shared.b64 _, [8];", "mbarrier.init.shared.u64 [8], 1;",
        "mbarrier.test_wait.parity.shared.b64 %p, [8], 0, 4;", "fence.mbarrier_init;",
        "fence.proxy;", "fence.proxy.async.local;", "fence.async;"}) {
    EXPECT_NE(BodyError(std::string(".reg .pred %p;\n") + text), "") << text;
  }
  for (const char* text : {"fence.proxy.async;", "fence.proxy.async.shared::cta;",
                           "fence.proxy.async.global;", "fence.mbarrier_init.release.cluster;"}) {
    EXPECT_EQ(BodyError(text), "") << text;
  }
}

}  // namespace
}  // namespace lijit::emulator
