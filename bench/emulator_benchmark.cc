// SPDX-License-Identifier: Apache-2.0
// Speed of the emulated device in thread-instructions a second, on one host thread.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/emulator/launch.h"
#include "runtime/emulator/load.h"

namespace {

using lijit::LaunchShape;
using lijit::emulator::GlobalMemory;
using lijit::emulator::LaunchOptions;
using lijit::emulator::LoadKernel;

struct Parameters {
  std::uint64_t data;
  std::uint32_t rounds;
};
constexpr std::size_t kParameterBytes = 12;  // without the struct's tail

// A loop of `body` over %i, with %f0 to %f3, %r0 to %r3 and the address %rd1 of the thread's 64
// bytes.
std::string LoopKernel(std::string_view body) {
  return fmt::format(R"(.version 9.0
.target sm_86
.address_size 64
.visible .entry loop(.param .u64 data, .param .u32 rounds) {{
  .reg .pred %p<2>;
  .reg .b32 %r<16>;
  .reg .f32 %f<16>;
  .reg .b64 %rd<8>;
  .reg .b32 %i, %n;
  .shared .align 16 .b8 tile[4096];
  ld.param.u64 %rd0, [data];
  ld.param.u32 %n, [rounds];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, 3;
  mov.u32 %r2, 5;
  mov.u32 %r3, 7;
  mul.wide.u32 %rd1, %r0, 64;
  add.s64 %rd1, %rd0, %rd1;
  mov.u32 %r4, tile;
  shl.b32 %r5, %r0, 4;
  add.s32 %r4, %r4, %r5;
  st.shared.v4.u32 [%r4], {{%r0, %r1, %r2, %r3}};
  cvt.rn.f32.u32 %f0, %r0;
  mov.f32 %f1, 0f3F000000;
  mov.f32 %f2, 0f3E800000;
  mov.f32 %f3, 0f40000000;
  mov.u32 %i, 0;
again:
{}
  add.s32 %i, %i, 1;
  setp.lt.u32 %p1, %i, %n;
  @%p1 bra again;
  st.global.f32 [%rd1], %f0;
  st.global.u32 [%rd1+4], %r0;
  ret;
}}
)",
                     body);
}

void RunLoop(benchmark::State& state, std::string_view body) {
  constexpr std::uint32_t kThreads = 256;
  GlobalMemory memory;
  const auto kernel = LoadKernel(LoopKernel(body), "loop", memory);
  const auto data = memory.Allocate(kThreads * 64, "data");
  if (!kernel.ok() || !data.ok() || !memory.Fill(*data, 1, kThreads * 64).ok()) {
    return state.SkipWithError("the kernel does not load");
  }
  LaunchShape shape;
  shape.grid = {4, 1, 1};
  shape.block = {kThreads, 1, 1};
  LaunchOptions options;
  options.host_threads = 1;
  const Parameters parameters{*data, 1000};
  const auto block = std::as_bytes(std::span(&parameters, 1)).first(kParameterBytes);
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const auto result = lijit::emulator::Launch((*kernel)->kernel, shape, block, memory, options);
    if (!result.ok()) return state.SkipWithError(result.error().message.c_str());
    if (result->finding) return state.SkipWithError(result->finding->message.c_str());
    instructions += result->instructions;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
}

void IntegerAndFma(benchmark::State& state) {
  RunLoop(state, R"(
  fma.rn.f32 %f0, %f0, %f1, %f2;
  fma.rn.f32 %f4, %f0, %f2, %f3;
  mad.lo.s32 %r0, %r0, %r1, %r2;
  xor.b32 %r6, %r0, %r3;
  shl.b32 %r7, %r6, 3;
  and.b32 %r8, %r7, 255;
  dp4a.s32.s32 %r0, %r8, %r2, %r0;
  max.f32 %f5, %f4, 0f00000000;
  add.f32 %f0, %f5, %f1;)");
}

void GlobalLoads(benchmark::State& state) {
  RunLoop(state, R"(
  ld.global.nc.v4.f32 {%f4, %f5, %f6, %f7}, [%rd1];
  ld.global.u8 %r5, [%rd1+17];
  fma.rn.f32 %f0, %f4, %f5, %f0;
  fma.rn.f32 %f0, %f6, %f7, %f0;)");
}

void SharedLoads(benchmark::State& state) {
  RunLoop(state, R"(
  ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];
  ld.shared.u32 %r9, [%r4];
  add.s32 %r0, %r5, %r9;)");
}

void Shuffles(benchmark::State& state) {
  RunLoop(state, R"(
  mov.b32 %r5, %f0;
  shfl.sync.bfly.b32 %r6, %r5, 16, 31, -1;
  mov.b32 %f4, %r6;
  max.f32 %f0, %f0, %f4;)");
}

void Divergent(benchmark::State& state) {
  RunLoop(state, R"(
  and.b32 %r5, %r0, 1;
  setp.eq.s32 %p0, %r5, 0;
  @%p0 bra even;
  fma.rn.f32 %f0, %f0, %f1, %f2;
  mad.lo.s32 %r6, %r0, %r1, %r2;
  bra meet;
even:
  fma.rn.f32 %f0, %f0, %f1, %f3;
  mad.lo.s32 %r6, %r0, %r1, %r3;
meet:)");
}

void Fp8Conversion(benchmark::State& state) {
  RunLoop(state, R"(
  { .reg .b16 code; .reg .b32 pair;
    cvt.rn.satfinite.e4m3x2.f32 code, %f0, %f1;
    cvt.rn.f16x2.e4m3x2 pair, code;
    add.s32 %r0, %r0, pair; })");
}

}  // namespace

BENCHMARK(IntegerAndFma);
BENCHMARK(GlobalLoads);
BENCHMARK(SharedLoads);
BENCHMARK(Shuffles);
BENCHMARK(Divergent);
BENCHMARK(Fp8Conversion);
BENCHMARK_MAIN();
