// SPDX-License-Identifier: Apache-2.0
// Shuffles, votes, reductions and matches against loops over 32 values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

// Each thread of a warp stores %out; %lane is its number. Returns 32 words.
std::vector<std::uint32_t> RunWarp(std::string_view text) {
  RunOptions options;
  options.data = std::vector<std::uint32_t>(32);
  const Outcome outcome =
      RunBody(fmt::format(".reg .b64 %p; .reg .b32 %lane, %out, %r<8>; .reg .pred %q<8>;\n"
                          "mov.u32 %lane, %laneid;\nmov.u32 %out, 0;\n{}\n"
                          "ld.param.u64 %p, [data];\nmad.wide.u32 %p, %lane, 4, %p;\n"
                          "st.global.u32 [%p], %out;",
                          text),
              options);
  EXPECT_EQ(outcome.error + outcome.finding, "") << text;
  return outcome.data;
}

struct Shuffled {
  std::uint32_t source;
  bool valid;
};

// The definition in the PTX ISA.
Shuffled Source(const std::string& mode, std::uint32_t lane, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t bval = b & 31;
  const std::uint32_t cval = c & 31;
  const std::uint32_t segmask = c >> 8 & 31;
  const std::uint32_t max_lane = (lane & segmask) | (cval & ~segmask);
  const std::uint32_t min_lane = lane & segmask;
  std::int32_t j = 0;
  bool valid = false;
  if (mode == "up") {
    j = static_cast<std::int32_t>(lane - bval);
    valid = j >= static_cast<std::int32_t>(max_lane);
  } else if (mode == "down") {
    j = static_cast<std::int32_t>(lane + bval);
    valid = j <= static_cast<std::int32_t>(max_lane);
  } else if (mode == "bfly") {
    j = static_cast<std::int32_t>(lane ^ bval);
    valid = j <= static_cast<std::int32_t>(max_lane);
  } else {
    j = static_cast<std::int32_t>(min_lane | (bval & ~segmask));
    valid = j <= static_cast<std::int32_t>(max_lane);
  }
  return {valid ? static_cast<std::uint32_t>(j) : lane, valid};
}

TEST(WarpTest, Shuffles) {
  // Widths 32 and 8; for up, the clamp is the lowest lane.
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const std::uint32_t segment : {0u, 24u}) {
      const std::uint32_t c = segment << 8 | (mode == "up" ? 0 : 31);
      for (std::uint32_t b = 0; b < 32; b += 3) {
        const auto values = RunWarp(fmt::format(
            "mad.lo.u32 %r0, %lane, 3, 100;\nshfl.sync.{}.b32 %out|%q0, %r0, {}, {}, -1;\n"
            "@%q0 add.u32 %out, %out, 1000;",
            mode, b, c));
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          const Shuffled expected = Source(mode, lane, b, c);
          ASSERT_EQ(values[lane], expected.source * 3 + 100 + (expected.valid ? 1000 : 0))
              << mode << " " << b << " " << c << " " << lane;
        }
      }
    }
  }
}

TEST(WarpTest, ShuffleFromVaryingLanes) {
  const auto values =
      RunWarp("sub.u32 %r0, 31, %lane;\nshfl.sync.idx.b32 %out, %lane, %r0, 31, -1;");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(values[lane], 31 - lane);
}

TEST(WarpTest, Votes) {
  const auto ballot = RunWarp("setp.lt.u32 %q0, %lane, 5;\nvote.sync.ballot.b32 %out, %q0, -1;");
  EXPECT_EQ(ballot, std::vector<std::uint32_t>(32, 0x1f));
  const auto negated = RunWarp("setp.lt.u32 %q0, %lane, 5;\nvote.sync.ballot.b32 %out, !%q0, -1;");
  EXPECT_EQ(negated, std::vector<std::uint32_t>(32, ~0x1fu));
  const auto vote = [](const char* mode, int limit) {
    return RunWarp(
        fmt::format("setp.lt.u32 %q0, %lane, {};\nvote.sync.{}.pred %q1, %q0, -1;\n"
                    "selp.u32 %out, 1, 0, %q1;",
                    limit, mode))[7];
  };
  EXPECT_EQ(vote("all", 32), 1u);
  EXPECT_EQ(vote("all", 31), 0u);
  EXPECT_EQ(vote("any", 1), 1u);
  EXPECT_EQ(vote("any", 0), 0u);
  EXPECT_EQ(vote("uni", 0), 1u);
  EXPECT_EQ(vote("uni", 32), 1u);
  EXPECT_EQ(vote("uni", 9), 0u);
}

TEST(WarpTest, Reductions) {
  const char* text = "mad.lo.s32 %r0, %lane, 37, -500;\nredux.sync.{} %out, %r0, -1;";
  const auto reduce = [&](const char* operation) {
    return RunWarp(fmt::format(fmt::runtime(text), operation))[13];
  };
  std::uint32_t sum = 0;
  std::uint32_t bits_or = 0;
  std::uint32_t bits_and = ~0u;
  std::uint32_t bits_xor = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t value = lane * 37 - 500;
    sum += value;
    bits_or |= value;
    bits_and &= value;
    bits_xor ^= value;
  }
  EXPECT_EQ(reduce("add.s32"), sum);
  EXPECT_EQ(reduce("min.s32"), static_cast<std::uint32_t>(-500));
  EXPECT_EQ(reduce("max.s32"), 31u * 37 - 500);
  EXPECT_EQ(reduce("min.u32"), 14u * 37 - 500);
  EXPECT_EQ(reduce("max.u32"), static_cast<std::uint32_t>(13 * 37 - 500));
  EXPECT_EQ(reduce("or.b32"), bits_or);
  EXPECT_EQ(reduce("and.b32"), bits_and);
  EXPECT_EQ(reduce("xor.b32"), bits_xor);
}

TEST(WarpTest, FloatReductions) {
  const auto values = RunWarp(
      "cvt.rn.f32.u32 %r0, %lane;\nsub.f32 %r0, %r0, 0f41200000;\n"
      "redux.sync.min.f32 %r1, %r0, -1;\nredux.sync.max.abs.f32 %r2, %r0, -1;\n"
      "add.f32 %out, %r1, %r2;");
  EXPECT_EQ(std::bit_cast<float>(values[0]), -10.0f + 21.0f);
}

TEST(WarpTest, MatchAndElect) {
  const auto any = RunWarp("and.b32 %r0, %lane, 3;\nmatch.any.sync.b32 %out, %r0, -1;");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(any[lane], 0x11111111u << (lane & 3));
  const auto all = RunWarp("mov.u32 %r0, 5;\nmatch.all.sync.b32 %out|%q0, %r0, -1;");
  EXPECT_EQ(all[3], ~0u);
  const auto none = RunWarp("match.all.sync.b32 %out|%q0, %lane, -1;\n@%q0 mov.u32 %out, 7;");
  EXPECT_EQ(none[3], 0u);
  const auto elected = RunWarp("elect.sync _|%q0, -1;\n@%q0 mov.u32 %out, 1;");
  EXPECT_EQ(elected[0], 1u);
  EXPECT_EQ(elected[1], 0u);
}

// Halves of a warp with masks of their own, at one instruction.
TEST(WarpTest, TeamsWithDifferentMasks) {
  const auto values = RunWarp(R"(
    setp.lt.u32 %q0, %lane, 16;
    selp.u32 %r0, 0x0000ffff, 0xffff0000, %q0;
    setp.eq.u32 %q1, %lane, %lane;
    vote.sync.ballot.b32 %r1, %q1, %r0;
    redux.sync.add.u32 %r2, 1, %r0;
    add.u32 %out, %r1, %r2;)");
  EXPECT_EQ(values[0], 0x0000ffffu + 16);
  EXPECT_EQ(values[31], 0xffff0000u + 16);
}

// The branches reach different shuffles, each for the threads that it names.
TEST(WarpTest, DivergedThreadsSynchronizeAmongThemselves) {
  const auto values = RunWarp(R"(
    setp.lt.u32 %q0, %lane, 8;
    @%q0 bra few;
    redux.sync.add.u32 %out, %lane, 0xffffff00;
    bra meet;
few:
    redux.sync.max.u32 %out, %lane, 0x000000ff;
meet:
    bar.warp.sync -1;
    activemask.b32 %r0;
    add.u32 %out, %out, %r0;)");
  EXPECT_EQ(values[0], 7u - 1);
  EXPECT_EQ(values[8], (8u + 31) * 24 / 2 - 1);
}

// bar.warp.sync in two branches is one meeting.
TEST(WarpTest, WarpBarriersMeetAcrossBranches) {
  RunOptions options;
  options.data = std::vector<std::uint32_t>(32);
  const Outcome outcome = RunBody(R"(
    .shared .align 4 .b8 tile[128];
    .reg .b64 %p; .reg .b32 %lane, %a, %b, %v; .reg .pred %q;
    mov.u32 %lane, %laneid;
    shl.b32 %a, %lane, 2;
    xor.b32 %b, %a, 64;
    st.shared.u32 [%a], %lane;
    setp.lt.u32 %q, %lane, 16;
    @%q bra low;
    bar.warp.sync -1;
    ld.shared.u32 %v, [%b];
    bra meet;
low:
    bar.warp.sync -1;
    ld.shared.u32 %v, [%b];
meet:
    ld.param.u64 %p, [data];
    mad.wide.u32 %p, %lane, 4, %p;
    st.global.u32 [%p], %v;)",
                                  options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(outcome.data[lane], lane ^ 16);
}

// Threads that exited are not waited for.
TEST(WarpTest, ExitedThreadsAreNotWaitedFor) {
  const auto values = RunWarp(R"(
    setp.ge.u32 %q0, %lane, 20;
    @%q0 exit;
    vote.sync.all.pred %q1, !%q0, -1;
    selp.u32 %out, 5, 6, %q1;)");
  EXPECT_EQ(values[19], 5u);
  EXPECT_EQ(values[20], 0u);
}

}  // namespace
}  // namespace lijit::emulator
