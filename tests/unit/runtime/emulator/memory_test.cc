// SPDX-License-Identifier: Apache-2.0
// Loads and stores of all widths and spaces, addresses, module variables, and mov's vectors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

using Words = std::vector<std::uint32_t>;

// Runs one thread on four words and returns them.
Words RunOne(std::string_view body, Words data = {0, 0, 0, 0, 0, 0, 0, 0}) {
  RunOptions options;
  options.block = {1, 1, 1};
  options.data = std::move(data);
  const Outcome outcome = RunBody(body, options);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.finding, "");
  return outcome.data;
}

constexpr std::string_view kAddress = ".reg .b64 %p; ld.param.u64 %p, [data];\n";

std::string WithAddress(std::string_view body) { return fmt::format("{}{}", kAddress, body); }

TEST(MemoryTest, NarrowLoadsExtendIntoWideRegisters) {
  const Words data = RunOne(WithAddress(R"(
    .reg .b32 %r<4>; .reg .b16 %h; .reg .b64 %d;
    ld.global.u8 %r0, [%p+3];
    ld.global.s8 %r1, [%p+3];
    ld.global.s16 %d, [%p+2];
    ld.global.u8 %h, [%p+3];
    st.global.u32 [%p+8], %r0;
    st.global.u32 [%p+12], %r1;
    st.global.u64 [%p+16], %d;
    st.global.u16 [%p+24], %h;)"),
                            {0x80706050, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(data, (Words{0x80706050, 0, 0x80, 0xffffff80, 0xffff8070, 0xffffffff, 0x80, 0}));
}

TEST(MemoryTest, NarrowStoresTakeTheLowBits) {
  const Words data = RunOne(WithAddress(R"(
    .reg .b32 %r; .reg .b64 %d;
    mov.u32 %r, 0x12345678;
    mov.u64 %d, 0x1122334455667788;
    st.global.u8 [%p], %r;
    st.global.u16 [%p+4], %r;
    st.global.u16 [%p+6], 7;
    st.global.b32 [%p+8], %d;
    st.global.b8 [%p+12], %d;)"));
  EXPECT_EQ(data, (Words{0x78, 0x00075678, 0x55667788, 0x88, 0, 0, 0, 0}));
}

TEST(MemoryTest, Vectors) {
  const Words data = RunOne(WithAddress(R"(
    .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .b16 %h<4>;
    ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%p];
    ld.global.nc.L1::no_allocate.v2.b64 {%d0, %d1}, [%p];
    ld.global.v2.u16 {%h0, _}, [%p];
    add.s32 %r3, %r3, %r0;
    st.global.v2.b32 [%p+16], {%r3, %r1};
    st.global.v2.u16 [%p+24], {%h0, 9};
    mov.b64 {%r4, %r5}, %d1;
    st.global.u32 [%p+28], %r5;)"),
                            {1, 2, 3, 4, 0, 0, 0, 0});
  EXPECT_EQ(data, (Words{1, 2, 3, 4, 5, 2, 0x00090001, 4}));
}

TEST(MemoryTest, VectorsOf256And128Bits) {
  const Words data = RunOne(WithAddress(R"(
    .reg .b32 %r<8>; .reg .b128 %q; .reg .b64 %d<2>;
    ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%p];
    st.global.v8.b32 [%p+32], {%r7, %r6, %r5, %r4, %r3, %r2, %r1, %r0};
    ld.global.b128 %q, [%p+32];
    mov.b128 {%d0, %d1}, %q;
    mov.b128 %q, {%d1, %d0};
    st.global.b128 [%p], %q;)"),
                            {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(data, (Words{6, 5, 8, 7, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST(MemoryTest, LoadIntoItsOwnAddressRegister) {
  const Words data = RunOne(WithAddress(R"(
    .reg .b64 %d;
    mov.u64 %d, %p;
    ld.global.v2.u64 {%d, %p}, [%d];
    add.u64 %d, %d, %p;
    ld.param.u64 %p, [data];
    st.global.u64 [%p], %d;)"),
                            {1, 0, 2, 0});
  EXPECT_EQ(data[0], 3u);
}

TEST(MemoryTest, SharedLocalAndGenericAddresses) {
  const Words data = RunOne(WithAddress(R"(
    .shared .align 8 .b8 tile[64];
    .local .align 8 .b8 frame[32];
    .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %q<3>;
    mov.u64 %d0, frame;
    cvta.local.u64 %d1, %d0;
    st.local.u32 [%d0+4], 11;
    ld.u32 %r0, [%d1+4];
    mov.u32 %r1, tile;
    st.shared.u32 [%r1+60], 22;
    mov.u64 %d2, tile;
    cvta.shared.u64 %d2, %d2;
    ld.u32 %r2, [%d2+60];
    st.global.v2.u32 [%p], {%r0, %r2};
    isspacep.shared %q0, %d2;
    isspacep.global %q1, %d2;
    isspacep.local %q2, %d1;
    selp.u32 %r0, 1, 0, %q0;
    selp.u32 %r1, 1, 0, %q1;
    selp.u32 %r2, 1, 0, %q2;
    cvta.to.shared.u64 %d3, %d2;
    cvt.u32.u64 %r3, %d3;
    ld.shared.u32 %r3, [%r3+60];
    st.v4.u32 [%p+16], {%r0, %r1, %r2, %r3};)"));
  EXPECT_EQ(data, (Words{11, 22, 0, 0, 1, 0, 1, 22}));
}

// A 32-bit address wraps at 32 bits, as a register of it does.
TEST(MemoryTest, SharedAddressesWrapAt32Bits) {
  const Words data = RunOne(WithAddress(R"(
    .shared .align 4 .b8 tile[64];
    .reg .b32 %r<2>;
    mov.u32 %r0, 0xfffffff0;
    st.shared.u32 [%r0+16], 5;
    ld.shared.u32 %r1, [tile];
    st.global.u32 [%p], %r1;)"));
  EXPECT_EQ(data[0], 5u);
}

TEST(MemoryTest, DynamicSharedMemoryFollowsTheStaticOne) {
  RunOptions options;
  options.block = {1, 1, 1};
  options.dynamic_shared_bytes = 32;
  const Outcome outcome = RunPtx(R"(.version 9.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 unused[4096];
.shared .align 4 .u32 first;
.visible .entry k(.param .u64 data) {
  .shared .align 4 .u32 second;
  .reg .b64 %p; .reg .b32 %r<4>;
  ld.param.u64 %p, [data];
  mov.u32 %r0, dynamic;
  mov.u32 %r1, first;
  mov.u32 %r2, second;
  st.shared.u32 [dynamic+28], 3;
  ld.shared.u32 %r3, [%r0+28];
  st.global.v4.u32 [%p], {%r0, %r1, %r2, %r3};
  mov.u32 %r0, %dynamic_smem_size;
  mov.u32 %r1, %total_smem_size;
  st.global.v2.u32 [%p+16], {%r0, %r1};
  ret;
}
)",
                                 options);
  EXPECT_EQ(outcome.error + outcome.finding, "");
  EXPECT_EQ(Words(outcome.data.begin(), outcome.data.begin() + 6), (Words{16, 4, 0, 3, 32, 48}));
}

TEST(MemoryTest, ModuleVariables) {
  const Outcome outcome = RunPtx(R"(.version 9.0
.target sm_80
.address_size 64
.const .align 4 .b8 table[8] = {1, 0, 0, 0, 0xff, 255, -1, -1};
.const .align 4 .f32 weights[2][2] = {{0f3F800000, 0f40000000}, {1.5, 0f00000000}};
.global .align 4 .u32 counter;
.global .u32 values[4] = {7, 8};
.global .u64 pointer = generic(values)+4;
.global .align 8 .b8 bytes[8] = {0xFF(values), 0xFF00(values), 0xFF0000(values), 0xFF000000(values),
  0xFF00000000(values), 0xFF0000000000(values), 0xFF000000000000(values), 0xFF00000000000000(values)};
.visible .entry k(.param .u64 data) {
  .reg .b64 %p, %d<3>; .reg .b32 %r<8>;
  ld.param.u64 %p, [data];
  ld.const.u32 %r0, [table+4];
  ld.global.u32 %r1, [counter];
  ld.global.u64 %d0, [pointer];
  ld.global.u32 %r2, [%d0];
  ld.global.u32 %r3, [values+12];
  st.global.v4.u32 [%p], {%r0, %r1, %r2, %r3};
  mov.u64 %d1, weights;
  ld.const.u32 %r4, [%d1+8];
  ld.global.u64 %d2, [bytes];
  ld.u32 %r5, [%d2];
  mov.u64 %d1, values+4;
  ld.global.u32 %r6, [%d1];
  mov.u32 %r7, 0;
  st.global.v4.u32 [%p+16], {%r4, %r5, %r6, %r7};
  ret;
}
)");
  EXPECT_EQ(outcome.error + outcome.finding, "");
  EXPECT_EQ(Words(outcome.data.begin(), outcome.data.begin() + 8),
            (Words{0xffffffff, 0, 8, 0, 0x3fc00000, 7, 8, 0}));
}

TEST(MemoryTest, ParametersByNameOffsetAndAddress) {
  const Words data = RunOne(WithAddress(R"(
    .reg .b64 %d<3>; .reg .b32 %r<2>;
    mov.b64 %d0, data;
    ld.param.u32 %r0, [data+4];
    ld.param.u32 %r1, [%d0+4];
    sub.u32 %r0, %r0, %r1;
    cvta.param.u64 %d1, %d0;
    ld.u64 %d2, [%d1];
    sub.u64 %d2, %d2, %p;
    st.global.u32 [%p], %r0;
    st.global.u64 [%p+8], %d2;)"),
                            {9, 9, 9, 9});
  EXPECT_EQ(data, (Words{0, 9, 0, 0}));
}

TEST(MemoryTest, PackAndUnpack) {
  EXPECT_EQ(EvaluateOne("mov.b64 %d, {%a, %b};", {64, 32, 32}, {1, 2}), 0x200000001u);
  EXPECT_EQ(EvaluateOne("mov.b32 %d, {%a, %b};", {32, 16, 16}, {1, 2}), 0x20001u);
  EXPECT_EQ(EvaluateOne("mov.b32 %d, {%a, %b, 3, %a};", {32, 8, 8}, {1, 2}), 0x01030201u);
  EXPECT_EQ(EvaluateOne("mov.b64 %d, {%a, %b, %a, %b};", {64, 16, 16}, {1, 2}),
            0x0002000100020001u);
  EXPECT_EQ(EvaluateOne("mov.b64 {%d, _}, %a;", {32, 64}, {0x200000001}), 1u);
  EXPECT_EQ(EvaluateOne("mov.b64 {_, %d}, %a;", {32, 64}, {0x200000001}), 2u);
  EXPECT_EQ(EvaluateOne("mov.b32 {_, %d, _, _}, %a;", {8, 32}, {0x04030201}), 2u);
  EXPECT_EQ(EvaluateOne("mov.b16 %d, {%a, %b};", {16, 8, 8}, {0x12, 0x34}), 0x3412u);
  EXPECT_EQ(BodyError(".reg .b32 a; .reg .b16 h;\nmov.b32 a, {h, h, h};"),
            "ptx line 6: mov.b32: no such vector for this type");
  EXPECT_EQ(BodyError(".reg .b32 a;\nmov.b32 a, {a, a};"),
            "ptx line 6: mov.b32: the parts do not make up the whole");
}

TEST(MemoryTest, StrongAccessesAndFences) {
  const Words data = RunOne(WithAddress(R"(
    .reg .b32 %r<4>;
    ld.volatile.global.u32 %r0, [%p];
    ld.acquire.gpu.global.u32 %r1, [%p+4];
    ld.relaxed.sys.global.v2.u32 {%r2, %r3}, [%p+8];
    fence.acq_rel.gpu;
    fence.sc.sys;
    membar.gl;
    prefetch.global.L2 [%p];
    st.release.gpu.global.u32 [%p], %r3;
    st.volatile.global.u32 [%p+4], %r2;)"),
                            {1, 2, 3, 4});
  EXPECT_EQ(data, (Words{4, 3, 3, 4}));
  EXPECT_EQ(BodyError(".reg .b64 p;\nst.const.u64 [p], p;"),
            "ptx line 6: st.const.u64: this memory cannot be written");
}

TEST(MemoryTest, ClocksDoNotGoBack) {
  const Words data = RunOne(WithAddress(R"(
    .reg .b64 %d<3>; .reg .pred %q; .reg .b32 %r;
    mov.u64 %d0, %clock64;
    mov.u64 %d1, %globaltimer;
    setp.le.u64 %q, %d0, %d1;
    selp.u32 %r, 1, 0, %q;
    st.global.u32 [%p], %r;)"));
  EXPECT_EQ(data[0], 1u);
}

}  // namespace
}  // namespace lijit::emulator
