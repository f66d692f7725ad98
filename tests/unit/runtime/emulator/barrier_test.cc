// SPDX-License-Identifier: Apache-2.0
// Barriers: of all threads, of some, with a reduction, and what they order in shared memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

Outcome RunThreads(std::string_view text, std::uint32_t threads) {
  RunOptions options;
  options.block = {threads, 1, 1};
  options.data = std::vector<std::uint32_t>(threads);
  const Outcome outcome =
      RunBody(fmt::format(".reg .b64 %p; .reg .b32 %t, %w, %out, %r<8>; .reg .pred %q<8>;\n"
                          ".shared .align 16 .b8 tile[8192];\n"
                          "mov.u32 %t, %tid.x;\nshr.u32 %w, %t, 5;\nmov.u32 %out, 0;\n{}\n"
                          "ld.param.u64 %p, [data];\nmad.wide.u32 %p, %t, 4, %p;\n"
                          "st.global.u32 [%p], %out;",
                          text),
              options);
  EXPECT_EQ(outcome.error, "");
  return outcome;
}

constexpr std::string_view kReverse = R"(
    shl.b32 %r0, %t, 2;
    mul.lo.u32 %r1, %t, 7;
    st.shared.u32 [%r0], %r1;
    {}
    mov.u32 %r2, %ntid.x;
    sub.u32 %r2, %r2, 1;
    sub.u32 %r2, %r2, %t;
    shl.b32 %r2, %r2, 2;
    ld.shared.u32 %out, [%r2];)";

TEST(BarrierTest, OrdersAllThreads) {
  for (const char* barrier : {"bar.sync 0;", "barrier.sync 3;", "barrier.cta.sync.aligned 0;",
                              "bar.sync 1, 160;", "barrier.sync.aligned 15, 160;"}) {
    const Outcome outcome = RunThreads(fmt::format(fmt::runtime(kReverse), barrier), 160);
    EXPECT_EQ(outcome.finding, "") << barrier;
    for (std::uint32_t t = 0; t < 160; ++t) EXPECT_EQ(outcome.data[t], (159 - t) * 7);
  }
  EXPECT_EQ(RunThreads(fmt::format(fmt::runtime(kReverse), ""), 160).kind, "uninitialized");
}

// The last warp of a block may be part of one; a count is in whole warps.
TEST(BarrierTest, PartialWarps) {
  for (const char* barrier : {"bar.sync 0;", "bar.sync 1, 64;"}) {
    const Outcome outcome = RunThreads(fmt::format(fmt::runtime(kReverse), barrier), 40);
    EXPECT_EQ(outcome.finding, "") << barrier;
    for (std::uint32_t t = 0; t < 40; ++t) EXPECT_EQ(outcome.data[t], (39 - t) * 7);
  }
}

TEST(BarrierTest, Reductions) {
  const Outcome outcome = RunThreads(R"(
    setp.lt.u32 %q0, %t, 70;
    barrier.cta.red.popc.aligned.u32 %r0, 0, %q0;
    bar.red.popc.u32 %r1, 1, 96, !%q0;
    bar.red.and.pred %q1, 2, %q0;
    bar.red.or.pred %q2, 2, %q0;
    mad.lo.u32 %out, %r1, 1000, %r0;
    @%q1 add.u32 %out, %out, 100000;
    @%q2 add.u32 %out, %out, 1000000;)",
                                     96);
  EXPECT_EQ(outcome.finding, "");
  for (std::uint32_t t = 0; t < 96; ++t) EXPECT_EQ(outcome.data[t], 1026070u);
}

// Warps 0 and 1 produce, each for the consumer warp with the same number plus 2; pairs meet at
// barriers of their own, in both directions, several times.
TEST(BarrierTest, ProducersAndConsumers) {
  const Outcome outcome = RunThreads(R"(
    and.b32 %r0, %w, 1;
    add.u32 %r1, %r0, 1;
    add.u32 %r2, %r0, 3;
    and.b32 %r3, %t, 63;
    shl.b32 %r3, %r3, 2;
    mov.u32 %r4, 0;
    setp.ge.u32 %q0, %w, 2;
    @%q0 bra consume;
produce:
    add.u32 %r5, %t, %r4;
    st.shared.u32 [%r3], %r5;
    bar.arrive %r1, 64;
    bar.sync %r2, 64;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %q1, %r4, 10;
    @%q1 bra produce;
    bra end;
consume:
    bar.sync %r1, 64;
    ld.shared.u32 %r5, [%r3];
    add.u32 %out, %out, %r5;
    bar.arrive %r2, 64;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %q1, %r4, 10;
    @%q1 bra consume;
end:)",
                                     128);
  EXPECT_EQ(outcome.finding, "");
  for (std::uint32_t t = 64; t < 128; ++t) EXPECT_EQ(outcome.data[t], (t - 64) * 10 + 45);
}

// As above, but the consumer does not say when it is done: the producer overwrites what it reads.
TEST(BarrierTest, ArrivingDoesNotOrderLaterWrites) {
  const Outcome outcome = RunThreads(R"(
    and.b32 %r3, %t, 31;
    shl.b32 %r3, %r3, 2;
    setp.eq.u32 %q0, %w, 1;
    @%q0 bra consume;
    st.shared.u32 [%r3], %t;
    bar.arrive 1, 64;
    st.shared.u32 [%r3], %t;
    bra end;
consume:
    bar.sync 1, 64;
    ld.shared.u32 %out, [%r3];
end:)",
                                     64);
  EXPECT_EQ(outcome.kind, "race");
  EXPECT_NE(outcome.finding.find("reads 4 bytes at shared address 0x0"), std::string::npos)
      << outcome.finding;
}

// A barrier of two warps orders nothing for a third.
TEST(BarrierTest, NamedBarriersOrderTheirWarpsOnly) {
  const std::string text = R"(
    mov.u32 %r0, 0;
    setp.eq.u32 %q0, %t, 0;
    @%q0 st.shared.u32 [%r0], 5;
    setp.lt.u32 %q1, %w, 2;
    @%q1 bar.sync 1, 64;
    setp.eq.u32 %q2, %w, {};
    @%q2 ld.shared.u32 %out, [%r0];)";
  EXPECT_EQ(RunThreads(fmt::format(fmt::runtime(text), 1), 96).finding, "");
  EXPECT_EQ(RunThreads(fmt::format(fmt::runtime(text), 2), 96).kind, "race");
}

// Warps meet at a barrier one after the other, at different instructions.
TEST(BarrierTest, OneBarrierFromDifferentInstructions) {
  const Outcome outcome = RunThreads(R"(
    shl.b32 %r0, %t, 2;
    st.shared.u32 [%r0], %t;
    setp.eq.u32 %q0, %w, 0;
    @%q0 bra first;
    bar.sync 0;
    bra meet;
first:
    bar.sync 0;
meet:
    xor.b32 %r1, %r0, 128;
    ld.shared.u32 %out, [%r1];)",
                                     64);
  EXPECT_EQ(outcome.finding, "");
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(outcome.data[t], t ^ 32);
}

// Threads of one warp that arrive by different ways at a barrier that is not .aligned.
TEST(BarrierTest, UnalignedBarriersCountThreads) {
  const Outcome outcome = RunThreads(R"(
    shl.b32 %r0, %t, 2;
    st.shared.u32 [%r0], %t;
    setp.lt.u32 %q0, %t, 5;
    @%q0 bra few;
    barrier.sync 0;
    bra meet;
few:
    barrier.sync 0;
meet:
    xor.b32 %r1, %r0, 124;
    ld.shared.u32 %out, [%r1];)",
                                     32);
  EXPECT_EQ(outcome.finding, "");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.data[t], t ^ 31);
}

// A loop with barriers around a shared accumulator, as reductions have it.
TEST(BarrierTest, TreeReduction) {
  const Outcome outcome = RunThreads(R"(
    shl.b32 %r0, %t, 2;
    st.shared.u32 [%r0], %t;
    mov.u32 %r1, 128;
loop:
    bar.sync 0;
    setp.ge.u32 %q0, %t, %r1;
    @%q0 bra skip;
    shl.b32 %r2, %r1, 2;
    add.u32 %r2, %r2, %r0;
    ld.shared.u32 %r3, [%r0];
    ld.shared.u32 %r4, [%r2];
    add.u32 %r3, %r3, %r4;
    st.shared.u32 [%r0], %r3;
skip:
    shr.u32 %r1, %r1, 1;
    setp.ne.u32 %q1, %r1, 0;
    @%q1 bra loop;
    bar.sync 0;
    mov.u32 %r5, 0;
    ld.shared.u32 %out, [%r5];)",
                                     256);
  EXPECT_EQ(outcome.finding, "");
  for (const std::uint32_t value : outcome.data) EXPECT_EQ(value, 255u * 128);
}

}  // namespace
}  // namespace lijit::emulator
