// SPDX-License-Identifier: Apache-2.0
// Divergence, loops, calls, branch tables, guards, special registers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

constexpr std::string_view kProlog =
    ".reg .b64 %p; .reg .b32 %t, %out, %r<8>; .reg .pred %q<8>;\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %out, 0;\n";
constexpr std::string_view kEpilog =
    "\nld.param.u64 %p, [data];\nmad.wide.u32 %p, %t, 4, %p;\nst.global.u32 [%p], %out;\n";

std::vector<std::uint32_t> RunThreads(std::string_view text, std::uint32_t threads = 32) {
  RunOptions options;
  options.block = {threads, 1, 1};
  options.data = std::vector<std::uint32_t>(threads);
  const Outcome outcome = RunBody(fmt::format("{}{}{}", kProlog, text, kEpilog), options);
  EXPECT_EQ(outcome.error + outcome.finding, "") << text;
  return outcome.data;
}

TEST(ControlTest, NestedIfs) {
  const auto values = RunThreads(R"(
    and.b32 %r0, %t, 1;
    setp.eq.u32 %q0, %r0, 0;
    @%q0 bra even;
    and.b32 %r0, %t, 2;
    setp.eq.u32 %q1, %r0, 0;
    @!%q1 bra odd2;
    add.u32 %out, %out, 1;
    bra meet;
odd2:
    add.u32 %out, %out, 2;
    bra meet;
even:
    add.u32 %out, %out, 4;
meet:
    activemask.b32 %r1;
    setp.eq.u32 %q2, %r1, -1;
    @%q2 add.u32 %out, %out, 100;)");
  for (std::uint32_t t = 0; t < 32; ++t) {
    const std::uint32_t expected = t % 2 == 0 ? 4 : t % 4 == 1 ? 1 : 2;
    EXPECT_EQ(values[t], expected + 100) << t;  // 100: all threads have met again
  }
}

TEST(ControlTest, LoopsOfDifferentLengths) {
  const auto values = RunThreads(R"(
    mov.u32 %r0, 0;
again:
    setp.ge.u32 %q0, %r0, %t;
    @%q0 bra done;
    add.u32 %r0, %r0, 1;
    add.u32 %out, %out, %r0;
    and.b32 %r1, %r0, 3;
    setp.eq.u32 %q1, %r1, 0;
    @%q1 bra again;
    add.u32 %out, %out, 1000;
    bra again;
done:)");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(values[t], t * (t + 1) / 2 + 1000 * (t - t / 4));
}

// Collatz steps: a loop whose exits and branches both diverge, in several warps.
TEST(ControlTest, IrregularLoops) {
  const auto values = RunThreads(R"(
    add.u32 %r0, %t, 1;
top:
    setp.eq.u32 %q0, %r0, 1;
    @%q0 bra end;
    add.u32 %out, %out, 1;
    and.b32 %r1, %r0, 1;
    setp.eq.u32 %q1, %r1, 1;
    @%q1 mad.lo.u32 %r0, %r0, 3, 1;
    @!%q1 shr.u32 %r0, %r0, 1;
    bra.uni top;
end:)",
                                 200);
  for (std::uint32_t t = 0; t < 200; ++t) {
    std::uint32_t steps = 0;
    for (std::uint32_t n = t + 1; n != 1; n = n % 2 != 0 ? 3 * n + 1 : n / 2) ++steps;
    EXPECT_EQ(values[t], steps);
  }
}

TEST(ControlTest, GuardedInstructionsLeaveOtherThreadsAlone) {
  const auto values = RunThreads(R"(
    setp.lt.u32 %q0, %t, 10;
    mov.u32 %out, 3;
    @%q0 mov.u32 %out, 4;
    setp.gt.u32 %q1, %t, 20;
    @%q1 setp.eq.u32 %q0, %t, 25;
    @%q0 add.u32 %out, %out, 10;)");
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(values[t], t < 10 ? 14u : t == 25 ? 13u : 3u) << t;
  }
}

TEST(ControlTest, BranchTables) {
  const auto values = RunThreads(R"(
    and.b32 %r0, %t, 3;
    targets: .branchtargets zero, one, two, one;
    brx.idx %r0, targets;
zero:
    mov.u32 %out, 10;
    bra end;
one:
    mov.u32 %out, 11;
    bra end;
two:
    mov.u32 %out, 12;
end:)");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(values[t], t % 4 == 3 ? 11 : 10 + t % 4);
}

TEST(ControlTest, Calls) {
  const std::string ptx = fmt::format(R"(.version 9.0
.target sm_80
.address_size 64
.func (.param .b32 result) triple(.param .b32 value);
.func (.param .b32 result) clamp(.param .b32 value, .param .align 8 .b8 limit[8]) {{
  .reg .b32 %a, %b; .reg .pred %p;
  ld.param.u32 %a, [value];
  ld.param.u32 %b, [limit+4];
  setp.le.u32 %p, %a, %b;
  st.param.b32 [result], %a;
  @%p ret;
  st.param.b32 [result], %b;
}}
.func (.param .b32 result) triple(.param .b32 value) {{
  .reg .b32 %a;
  .local .align 4 .b8 frame[8];
  ld.param.u32 %a, [value];
  st.local.u32 [frame+4], %a;
  mul.lo.u32 %a, %a, 3;
  {{
    .param .b32 in; .param .align 8 .b8 limit[8]; .param .b32 out;
    .reg .b32 %l;
    st.param.b32 [in], %a;
    mov.u32 %l, 40;
    st.param.b32 [limit+4], %l;
    call.uni (out), clamp, (in, limit);
    ld.param.b32 %a, [out];
  }}
  ld.local.u32 %l2, [frame+4];
  add.u32 %a, %a, %l2;
  st.param.b32 [result+0], %a;
  ret;
}}
.visible .entry k(.param .u64 data) {{
{}
  {{ .param .b32 a; .param .b32 b; .reg .b32 temp;
     st.param.b32 [a], %t;
     setp.lt.u32 %q0, %t, 30;
     @%q0 call (b), triple, (a);
     @%q0 ld.param.b32 %out, [b]; }}
{}
  ret;
}}
)",
                                      kProlog, kEpilog);
  RunOptions options;
  options.data = std::vector<std::uint32_t>(32);
  std::string fixed = ptx;
  fixed.replace(fixed.find(".reg .b32 %a;\n  .local"), 13, ".reg .b32 %a, %l2;");
  const Outcome outcome = RunPtx(fixed, options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(outcome.data[t], t < 30 ? std::min(3 * t, 40u) + t : 0) << t;
  }
}

TEST(ControlTest, CallsThatCannotBeExpandedAreErrors) {
  const std::string_view head = ".version 9.0\n.target sm_80\n.address_size 64\n";
  EXPECT_EQ(LoadError(fmt::format("{}.func f();\n.func f() {{ call f; }}\n.entry k() {{ call f; }}",
                                  head)),
            "ptx line 5: call of 'f': recursion, or more than 32 calls deep, is not supported");
  EXPECT_EQ(LoadError(fmt::format("{}.extern .func f();\n.entry k() {{ call f; }}", head)),
            "ptx line 5: call of 'f', which this module does not define");
  EXPECT_EQ(
      LoadError(fmt::format("{}.func f(.param .b32 x) {{ }}\n.entry k() {{ call f; }}", head)),
      "ptx line 5: 'f' has 1 of these parameters, the call 0");
}

// Doubling calls would make 2^30 copies.
TEST(ControlTest, ExpansionIsBounded) {
  std::string ptx = ".version 9.0\n.target sm_80\n.address_size 64\n.func f0() { }\n";
  for (int i = 1; i <= 30; ++i) {
    ptx += fmt::format(".func f{}() {{ call f{}; call f{}; }}\n", i, i - 1, i - 1);
  }
  ptx += ".entry k() { call f30; }\n";
  EXPECT_NE(LoadError(ptx).find("more than 16384 calls when they are expanded"), std::string::npos);
}

TEST(ControlTest, SpecialRegisters) {
  RunOptions options;
  options.grid = {2, 3, 2};
  options.block = {4, 2, 5};
  options.data = std::vector<std::uint32_t>(12 * 40 * 4);
  const Outcome outcome = RunBody(R"(
    .reg .b64 %p; .reg .b32 %r<16>;
    mov.u32 %r0, %ctaid.z;
    mad.lo.u32 %r0, %r0, 3, 0;
    mov.u32 %r1, %ctaid.y;
    add.u32 %r0, %r0, %r1;
    mov.u32 %r1, %nctaid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mov.u32 %r3, %tid.z;
    mov.u32 %r4, %ntid.y;
    mov.u32 %r5, %tid.y;
    mad.lo.u32 %r3, %r3, %r4, %r5;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r3, %r3, %r4, %r5;
    mad.lo.u32 %r0, %r0, 40, %r3;
    mov.u32 %r6, %laneid;
    mov.u32 %r7, %warpid;
    mov.u32 %r8, %lanemask_le;
    ld.param.u64 %p, [data];
    mad.wide.u32 %p, %r0, 16, %p;
    st.global.v4.u32 [%p], {%r0, %r6, %r7, %r8};)",
                                  options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  for (std::uint32_t i = 0; i < 480; ++i) {
    const std::uint32_t thread = i % 40;
    EXPECT_EQ(outcome.data[4 * i], i);
    EXPECT_EQ(outcome.data[4 * i + 1], thread % 32);
    EXPECT_EQ(outcome.data[4 * i + 2], thread / 32);
    EXPECT_EQ(outcome.data[4 * i + 3], ((2ull << (thread % 32)) - 1) & 0xffffffff);
  }
}

// A thread spins until another of its warp, further behind or ahead, writes: both directions.
TEST(ControlTest, SpinningThreadsLetOthersRun) {
  const auto values = RunThreads(R"(
    .shared .align 4 .u32 lock;
    setp.eq.u32 %q0, %t, 0;
    @%q0 st.volatile.shared.u32 [lock], 0;
    bar.sync 0;
spin:
    atom.shared.cas.b32 %r0, [lock], 0, 1;
    setp.ne.u32 %q1, %r0, 0;
    @%q1 bra spin;
    mov.u32 %out, 1;
    atom.shared.exch.b32 %r0, [lock], 0;)",
                                 64);
  for (const std::uint32_t value : values) EXPECT_EQ(value, 1u);
}

}  // namespace
}  // namespace lijit::emulator
