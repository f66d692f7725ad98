// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/ptx/emit_llvm.h"

#include <gtest/gtest.h>

#include "tests/unit/compiler/codegen/ptx/entries.h"

// Of LeakSanitizer, where the program has it.
extern "C" __attribute__((weak)) void __lsan_disable();
extern "C" __attribute__((weak)) void __lsan_enable();

namespace lijit::codegen {
namespace {

// Of no other test here, so that the machine that is given up was made for the failure.
constexpr int kPtxOfFailure = 88;

// What LLVM held when it gave up is leaked on purpose: it is left half-built, and its destructors
// would find it so. Nothing else of this program may leak, so only this is not looked at.
Result<std::string> EmitPtxThatFails(const ir::Module& module, const target::Target& target,
                                     int ptx_version) {
  if (__lsan_disable != nullptr) __lsan_disable();
  Result<std::string> ptx = EmitPtx(module, target, ptx_version);
  if (__lsan_enable != nullptr) __lsan_enable();
  return ptx;
}

constexpr int kPtx = 90;

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string PtxOf(std::string_view body, std::string_view target = "sm_86") {
  const Result<std::string> ptx = EmitPtx(ir::ModuleOf(EntryText(body)), TargetNamed(target), kPtx);
  EXPECT_TRUE(ptx.ok()) << ptx.error().message;
  return ptx.ok() ? *ptx : "";
}

TEST(EmitPtx, EveryKernelForEveryTarget) {
  for (const target::Target& target : target::AllTargets()) {
    for (const ir::KernelKindRow& kind : ir::AllKernelKinds()) {
      std::string name(kind.text);
      std::replace(name.begin(), name.end(), '.', '_');
      const auto ptx = EmitPtx(LoweredKernel(name, "mxfp4", target.name), target, kPtx);
      ASSERT_TRUE(ptx.ok()) << name << " for " << target.name << ": " << ptx.error().message;
      EXPECT_TRUE(Has(*ptx, ".version 9.0\n.target " + std::string(target.name) + "\n"));
      EXPECT_TRUE(Has(*ptx, ".visible .entry " + name + "("));
      EXPECT_FALSE(Has(*ptx, ".ftz")) << name << " for " << target.name;
    }
  }
}

// All ops that a backend prints, without those of the middle level.
TEST(EmitPtx, EveryOp) {
  ir::Module module = ir::ModuleOf(ir::TextOfFile("tests/unit/compiler/ir/everything.lir"));
  const ir::Kernel entry = *module.FindKernel("entry");
  module.kernels = {entry};
  std::erase_if(module.kernels[0].body.ops,
                [](const ir::Op& op) { return ir::RowOf(op.code).level == ir::Level::kMid; });
  const Result<std::string> llvm = EmitLlvm(module, TargetNamed("sm_100f"));
  ASSERT_TRUE(llvm.ok()) << llvm.error().message;
  for (const ir::OpRow& row : ir::AllOps()) {
    if (row.level != ir::Level::kLow || row.code == ir::OpCode::kFor) continue;
    if (row.code == ir::OpCode::kTileScores) continue;  // CUDA C++ alone (runtime/support)
    EXPECT_TRUE(std::any_of(module.kernels[0].body.ops.begin(), module.kernels[0].body.ops.end(),
                            [&](const ir::Op& op) { return op.code == row.code; }))
        << "the entry lacks " << row.mnemonic;
  }
  const Result<std::string> ptx = EmitPtx(module, TargetNamed("sm_100f"), kPtx);
  ASSERT_TRUE(ptx.ok()) << ptx.error().message;
}

// Without its rounding an instruction may be fused by the assembler.
TEST(EmitPtx, NothingIsFusedButFma) {
  const std::string ptx = PtxOf(R"(
  %at = const 0 : i64
  %a = load %p, %at { memory = f32 } : f32
  %product = mul %a, %a : f32
  %sum = add %product, %a : f32
  %difference = sub %sum, %product : f32
  %quotient = div %difference, %a : f32
  %fused = fma %quotient, %a, %sum : f32
  store %q, %at, %fused { memory = f32 }
)");
  for (const char* text : {"mul.rn.f32", "add.rn.f32", "sub.rn.f32", "div.rn.f32", "fma.rn.f32"}) {
    EXPECT_TRUE(Has(ptx, text)) << text << "\n" << ptx;
  }
  EXPECT_EQ(ptx.find("fma."), ptx.rfind("fma.")) << ptx;
}

TEST(EmitPtx, ExtremesKeepNan) {
  const std::string ptx = PtxOf(R"(
  %at = const 0 : i64
  %a = load %p, %at { memory = f32 } : f32
  %four = const 4 : i64
  %b = load %p, %four { memory = f32 } : f32
  %larger = max %a, %b : f32
  %smaller = min %larger, %a : f32
  %positive = relu %smaller : f32
  store %q, %at, %positive { memory = f32 }
)");
  EXPECT_TRUE(Has(ptx, "max.NaN.f32")) << ptx;
  EXPECT_TRUE(Has(ptx, "min.NaN.f32")) << ptx;
  EXPECT_FALSE(Has(ptx, "max.f32")) << ptx;
}

TEST(EmitPtx, WhatIsOnlyReadGoesThroughTheReadOnlyCache) {
  const std::string ptx = PtxOf(R"(
  %a = load %p, %n { memory = i32 } : i32
  %b = load %q, %n { memory = i32 } : i32
  %c = add %a, %b : i32
  store %q, %n, %c { memory = i32 }
)");
  EXPECT_TRUE(Has(ptx, "ld.global.nc.")) << ptx;
  EXPECT_TRUE(Has(ptx, "ld.global.b32")) << ptx;
  EXPECT_TRUE(Has(ptx, ".maxntid 32")) << ptx;
}

TEST(EmitPtx, SaysWhatItCannotDo) {
  const ir::Module entry = ir::ModuleOf(EntryText(""));
  target::Target unknown = TargetNamed("sm_86");
  unknown.name = "sm_999";
  const auto no_target = EmitPtx(entry, unknown, kPtx);
  ASSERT_FALSE(no_target.ok());
  EXPECT_EQ(no_target.error().code, ErrorCode::kRefused);
  EXPECT_TRUE(Has(no_target.error().message, "does not know sm_999"));
  EXPECT_EQ(EmitLlvm(entry, unknown).error().code, ErrorCode::kRefused);
  EXPECT_EQ(EmitPtx(entry, TargetNamed("sm_86"), 199).error().code, ErrorCode::kRefused);

  // LLVM itself gives up here.
  const auto too_old = EmitPtxThatFails(entry, TargetNamed("sm_100f"), 80);
  ASSERT_FALSE(too_old.ok());
  EXPECT_EQ(too_old.error().code, ErrorCode::kFailed);
  EXPECT_TRUE(Has(too_old.error().message, "PTX version 8.0 does not support"))
      << too_old.error().message;
  EXPECT_TRUE(EmitPtx(entry, TargetNamed("sm_100f"), kPtx).ok());

  const auto high = EmitPtx(lower::ExtractKernel(ir::IndexerOf("mxfp4"), "top_k").value(),
                            TargetNamed("sm_86"), kPtx);
  EXPECT_EQ(high.error().code, ErrorCode::kInvalidArgument);
}

// An instruction that the target lacks, which lowering would not have put there.
TEST(EmitPtx, SurvivesWhatLlvmCannotSelect) {
  const ir::Module module = ir::ModuleOf(EntryText(R"(
  %at = const 0 : i64
  %codes = load %p, %at { memory = u16 } : i32
  %a, %b = cvt_from_e2m1x2 %codes : f32, f32
  store %q, %at, %a { memory = f32 }
)"));
  const auto ptx = EmitPtxThatFails(module, TargetNamed("sm_90a"), kPtxOfFailure);
  ASSERT_FALSE(ptx.ok());
  EXPECT_EQ(ptx.error().code, ErrorCode::kFailed);
  EXPECT_TRUE(Has(ptx.error().message, "Cannot select")) << ptx.error().message;
  EXPECT_TRUE(EmitPtx(module, TargetNamed("sm_100f"), kPtx).ok());
  EXPECT_TRUE(EmitPtx(ir::ModuleOf(EntryText("")), TargetNamed("sm_90a"), kPtx).ok());
}

TEST(LlvmVersion, IsOfThreeNumbers) {
  int major = 0, minor = 0, patch = 0;
  EXPECT_EQ(std::sscanf(LlvmVersion().c_str(), "%d.%d.%d", &major, &minor, &patch), 3);
  EXPECT_GE(major, 22);
}

}  // namespace
}  // namespace lijit::codegen
