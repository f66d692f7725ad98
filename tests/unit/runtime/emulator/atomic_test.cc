// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <numeric>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

struct Result {
  std::uint64_t old;
  std::uint64_t memory;
};

// atom on a 64-bit place that holds `memory`, by one thread.
Result Atom(const std::string& operation, unsigned bits, std::uint64_t memory, std::uint64_t b,
            const std::string& rest = "") {
  RunOptions options;
  options.block = {1, 1, 1};
  options.data = {static_cast<std::uint32_t>(memory), static_cast<std::uint32_t>(memory >> 32), 0,
                  0};
  const Outcome outcome = RunBody(
      fmt::format(".reg .b64 %p; .reg .b{0} %old, %b; ld.param.u64 %p, [data];\nmov.b{0} %b, {1};\n"
                  "atom.global.{2} %old, [%p], %b{3};\nst.global.b{0} [%p+8], %old;",
                  bits, b, operation, rest),
      options);
  EXPECT_EQ(outcome.error + outcome.finding, "") << operation;
  return {outcome.data[2] | std::uint64_t{outcome.data[3]} << 32,
          outcome.data[0] | std::uint64_t{outcome.data[1]} << 32};
}

void Check(const std::string& operation, unsigned bits, std::uint64_t memory, std::uint64_t b,
           std::uint64_t expected, const std::string& rest = "") {
  const Result result = Atom(operation, bits, memory, b, rest);
  EXPECT_EQ(result.old, memory) << operation;
  EXPECT_EQ(result.memory, expected) << operation;
}

TEST(AtomicTest, Operations) {
  Check("add.u32", 32, 5, 7, 12);
  Check("add.u64", 64, 0xffffffff, 1, 0x100000000);
  Check("min.s32", 32, 1, 0xffffffff, 0xffffffff);
  Check("min.u32", 32, 1, 0xffffffff, 1);
  Check("max.s64", 64, 3, ~0ull, 3);
  Check("max.u64", 64, 3, ~0ull, ~0ull);
  Check("and.b32", 32, 0xf0, 0x3c, 0x30);
  Check("or.b64", 64, 0xf0, 0x3c, 0xfc);
  Check("xor.b32", 32, 0xf0, 0x3c, 0xcc);
  Check("exch.b32", 32, 1, 2, 2);
  Check("cas.b32", 32, 1, 1, 9, ", 9");
  Check("cas.b64", 64, 1, 2, 1, ", 9");
  Check("inc.u32", 32, 3, 3, 0);
  Check("inc.u32", 32, 2, 3, 3);
  Check("dec.u32", 32, 0, 3, 3);
  Check("dec.u32", 32, 5, 3, 3);
  Check("dec.u32", 32, 2, 3, 1);
  Check("add.f64", 64, std::bit_cast<std::uint64_t>(1.5), std::bit_cast<std::uint64_t>(0.25),
        std::bit_cast<std::uint64_t>(1.75));
  Check("relaxed.gpu.add.u32", 32, 5, 7, 12);
  Check("add.noftz.f16x2", 32, 0x3c003c00, 0x40003c00, 0x42004000);
  Check("add.noftz.bf16x2", 32, 0x3f803f80, 0x40003f80, 0x40404000);
}

TEST(AtomicTest, FloatAddFlushesInGlobalAndNotInSharedMemory) {
  Check("add.f32", 32, 0x00000001, 0x00000001, 0);
  RunOptions options;
  options.block = {1, 1, 1};
  const Outcome outcome = RunBody(R"(
    .shared .align 4 .u32 sum; .reg .b64 %p; .reg .f32 %f;
    ld.param.u64 %p, [data];
    st.shared.u32 [sum], 1;
    red.shared.add.f32 [sum], 0f00000001;
    ld.shared.f32 %f, [sum];
    st.global.f32 [%p], %f;)",
                                  options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  EXPECT_EQ(outcome.data[0], 2u);
}

// Threads of many blocks on several host threads: each gets its own ticket.
TEST(AtomicTest, TicketsAreUniqueAcrossBlocks) {
  RunOptions options;
  options.grid = {16, 1, 1};
  options.block = {64, 1, 1};
  options.data = std::vector<std::uint32_t>(1025);
  options.launch.host_threads = 4;
  const Outcome outcome = RunBody(R"(
    .reg .b64 %p, %q; .reg .b32 %r;
    ld.param.u64 %p, [data];
    atom.global.add.u32 %r, [%p], 1;
    mad.wide.u32 %q, %r, 4, %p;
    atom.add.u32 %r, [%q+4], 1;)",
                                  options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  EXPECT_EQ(outcome.data[0], 1024u);
  for (std::size_t i = 1; i < outcome.data.size(); ++i) EXPECT_EQ(outcome.data[i], 1u);
}

TEST(AtomicTest, SharedHistogram) {
  RunOptions options;
  options.block = {128, 1, 1};
  const Outcome outcome = RunBody(R"(
    .shared .align 4 .b8 bins[32];
    .reg .b64 %p; .reg .b32 %t, %r<3>; .reg .pred %q;
    ld.param.u64 %p, [data];
    mov.u32 %t, %tid.x;
    shl.b32 %r0, %t, 2;
    setp.lt.u32 %q, %t, 8;
    @%q st.shared.u32 [%r0], 0;
    bar.sync 0;
    and.b32 %r1, %t, 7;
    shl.b32 %r1, %r1, 2;
    red.shared.add.u32 [%r1], %t;
    bar.sync 0;
    @!%q bra done;
    ld.shared.u32 %r2, [%r0];
    mad.wide.u32 %p, %t, 4, %p;
    st.global.u32 [%p], %r2;
done:)",
                                  options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  for (std::uint32_t bin = 0; bin < 8; ++bin) EXPECT_EQ(outcome.data[bin], 960 + 16 * bin);
}

TEST(AtomicTest, FormsThatDoNotExistAreErrors) {
  const auto error = [](const char* text) {
    return BodyError(fmt::format(".reg .b64 p; .reg .b32 r;\n{}", text));
  };
  EXPECT_EQ(error("atom.global.sub.u32 r, [p], r;"),
            "ptx line 6: atom.global.sub.u32: unknown modifier '.sub'");
  EXPECT_EQ(error("atom.global.inc.s32 r, [p], r;"),
            "ptx line 6: atom.global.inc.s32: needs an operation that its type has");
  EXPECT_EQ(error("atom.local.add.u32 r, [p], r;"),
            "ptx line 6: atom.local.add.u32: acts on global and shared memory");
  EXPECT_EQ(error("red.global.cas.b32 [p], r, r;"),
            "ptx line 6: red.global.cas.b32: has no '.exch' and no '.cas'");
}

}  // namespace
}  // namespace lijit::emulator
