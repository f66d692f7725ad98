// SPDX-License-Identifier: Apache-2.0
// The interface of lowering: passes by name, extraction, schedules, parameters, rewriting.
#include "compiler/lower/lower.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/ir/builder.h"
#include "compiler/ir/printer.h"
#include "compiler/lower/parameters.h"
#include "compiler/lower/rewrite.h"
#include "compiler/lower/schedule.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::lower {
namespace {

const target::Target& Sm86() {
  static const target::Target target = target::ParseTarget("sm_86").value();
  return target;
}

TEST(Passes, HaveNamesOfTheirOwnAndASentence) {
  std::set<std::string_view> names;
  for (const Pass& pass : AllPasses()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_FALSE(pass.doc.empty()) << pass.name;
    EXPECT_NE(pass.run, nullptr) << pass.name;
  }
  EXPECT_EQ(AllPasses().front().name, "schedule_simt");
}

TEST(Passes, UnknownOnesAreNamedWithTheKnown) {
  ir::Module module;
  const Status status = RunPass(module, Sm86(), "vectorize");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.error().message,
            "there is no pass 'vectorize'; there are schedule_simt native_conversions "
            "expand_conversions simplify schedule_wgmma_s8 schedule_wgmma_e4m3 schedule_mma_s8 "
            "schedule_mma_f16");
}

TEST(Passes, RunAgainChangeNothing) {
  ir::Module module = ExtractKernel(ir::IndexerOf("mxfp4"), "write_cache").value();
  module = Lower(std::move(module), Sm86(), "simt").value();
  const std::string once = ir::Print(module);
  EXPECT_EQ(ir::Print(Lower(std::move(module), Sm86(), "simt").value()), once);
}

TEST(Extraction, TakesWhatTheKernelMentionsAndNothingElse) {
  const ir::Module all = ir::IndexerOf("nvfp4");
  const ir::Module write = ExtractKernel(all, "write_cache").value();
  ASSERT_EQ(write.kernels.size(), 1u);
  ASSERT_EQ(write.formats.size(), 1u);
  EXPECT_EQ(write.formats[0].name, "nvfp4");
  ASSERT_EQ(write.layouts.size(), 1u);
  const ir::Module ragged = ExtractKernel(all, "logits_ragged").value();
  EXPECT_EQ(ragged.formats.size(), 1u);
  EXPECT_TRUE(ragged.layouts.empty());
  EXPECT_TRUE(ExtractKernel(all, "top_k").value().formats.empty());
}

TEST(Extraction, DependsOnTheKernelAlone) {
  // The same kernel, once behind other formats and once alone.
  const ir::Module among = ExtractKernel(ir::IndexerOf("e3m4"), "gather_cache").value();
  const auto alone = ir::ParseAndVerify(ir::Print(among), "alone.lir");
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  EXPECT_EQ(ir::Print(ExtractKernel(*alone, "gather_cache").value()), ir::Print(among));
}

TEST(Extraction, MovesFormatsOfAttributesToo) {
  ir::Module module = ir::ModuleOf(ir::AllFormatsText() + R"(
entry @e : top_k threads 32 tile 1, 1 shared 0 (%p: ptr) {
  %x = const 1 : f32
  %codes = encode_pair %x, %x { format = @nvfp4 } : i32
  %low, %high = decode_pair %codes { format = @bf16 } : f32, f32
  yield
})");
  const ir::Module one = ExtractKernel(module, "e").value();
  ASSERT_EQ(one.formats.size(), 2u);
  EXPECT_EQ(one.formats[0].name, "nvfp4");
  EXPECT_EQ(one.formats[1].name, "bf16");
  EXPECT_NE(ir::Print(one).find("decode_pair %codes { format = @bf16 }"), std::string::npos);
}

TEST(Extraction, UnknownKernelsAreNamedWithTheKnown) {
  const auto missing = ExtractKernel(ir::IndexerOf("bf16"), "logits");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message,
            "the module has no kernel @logits; it has @quantize_query @write_cache @gather_cache "
            "@logits_ragged @logits_paged @top_k");
  EXPECT_EQ(ExtractKernel(ir::Module{}, "x").error().message,
            "the module has no kernel @x; it has none");
}

ir::Module KernelOf(std::string_view format, std::string_view kernel) {
  return ExtractKernel(ir::IndexerOf(format), kernel).value();
}

TEST(Schedules, AutoTakesTheFirstThatFits) {
  for (const target::Target& target : target::AllTargets()) {
    const auto name = [&](std::string_view format, std::string_view kernel) {
      return ScheduleFor("auto", KernelOf(format, kernel), target).value().name;
    };
    const bool wgmma = target.name == "sm_90a";
    EXPECT_EQ(name("mxfp4", "logits_paged"), wgmma ? "wgmma_s8" : "mma_s8") << target.name;
    EXPECT_EQ(name("mxfp4", "logits_ragged"), wgmma ? "wgmma_s8" : "mma_s8") << target.name;
    EXPECT_EQ(name("fp8_e4m3", "logits_paged"), wgmma ? "wgmma_e4m3" : "mma_f16") << target.name;
    EXPECT_EQ(name("bf16", "logits_paged"), "simt") << target.name;
    EXPECT_EQ(name("mxfp4", "write_cache"), "simt") << target.name;
    EXPECT_EQ(name("mxfp4", "top_k"), "simt") << target.name;
  }
}

TEST(Schedules, ANamedOneDoesItsKernelsAndSimtTheOthers) {
  EXPECT_EQ(ScheduleFor("mma_s8", KernelOf("mxfp4", "top_k"), Sm86())->name, "simt");
  EXPECT_EQ(ScheduleFor("simt", KernelOf("mxfp4", "logits_paged"), Sm86())->name, "simt");
  const auto refused = ScheduleFor("mma_s8", KernelOf("fp8_e4m3", "logits_paged"), Sm86());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kRefused);
  EXPECT_EQ(refused.error().message,
            "schedule mma_s8 cannot do kernel @logits_paged: @fp8_e4m3 is not E2M1 with a UE8M0 "
            "scale per 32, whose sums are small integers; schedule simt can");
}

TEST(Schedules, UnknownOnesAreNamedWithTheKnown) {
  const auto missing = FindSchedule("wgmma");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(missing.error().message.starts_with("there is no schedule 'wgmma'; there are auto"))
      << missing.error().message;
  for (const ScheduleRow& row : AllSchedules()) {
    EXPECT_NE(missing.error().message.find(row.name), std::string::npos) << row.name;
  }
}

// A row that names a feature or pass that does not exist would abort here.
TEST(Schedules, NameFeaturesAndPassesThatExist) {
  for (const ScheduleRow& row : AllSchedules()) {
    EXPECT_FALSE(row.doc.empty()) << row.name;
    ir::Module empty;
    EXPECT_TRUE(RunPass(empty, Sm86(), row.pass).ok()) << row.pass;
    for (const target::Target& target : target::AllTargets()) {
      for (const char* format : {"mxfp4", "fp8_e4m3"}) {
        const auto found = ScheduleFor(row.name, KernelOf(format, "logits_paged"), target);
        EXPECT_TRUE(found.ok() || found.error().code == ErrorCode::kRefused) << row.name;
      }
    }
  }
}

template <typename Parameters>
void CheckParameters(ir::KernelKind kind) {
  const std::span<const ParameterRow> rows = ParametersOf(kind);
  EXPECT_EQ(sizeof(Parameters), 8 * rows.size()) << ir::KernelKindName(kind);
  std::set<std::string_view> names;
  for (const ParameterRow& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.type == ir::Scalar::kPtr || row.type == ir::Scalar::kI64) << row.name;
  }
}

TEST(EntryParameters, AreAnArrayOf64BitNumbers) {
  CheckParameters<QuantizeQueryParameters>(ir::KernelKind::kQuantizeQuery);
  CheckParameters<WriteCacheParameters>(ir::KernelKind::kWriteCache);
  CheckParameters<GatherCacheParameters>(ir::KernelKind::kGatherCache);
  CheckParameters<LogitsRaggedParameters>(ir::KernelKind::kLogitsRagged);
  CheckParameters<LogitsPagedParameters>(ir::KernelKind::kLogitsPaged);
  CheckParameters<TopKParameters>(ir::KernelKind::kTopK);
}

TEST(EntryParameters, StandInTheEntryAsInTheTable) {
  const ir::Module all = ir::IndexerOf("fp8_e4m3");
  for (const ir::Kernel& kernel : all.kernels) {
    const ir::Module lowered =
        Lower(ExtractKernel(all, kernel.name).value(), Sm86(), "simt").value();
    const ir::Kernel& entry = lowered.kernels[0];
    const std::span<const ParameterRow> rows = ParametersOf(kernel.kind);
    ASSERT_EQ(entry.body.arguments.size(), rows.size()) << kernel.name;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto id = static_cast<std::size_t>(entry.body.arguments[i]);
      EXPECT_EQ(entry.values[id].name, rows[i].name);
      EXPECT_EQ(entry.values[id].type, ir::ScalarType(rows[i].type)) << rows[i].name;
    }
  }
}

// %p is a parameter; the body adds 1 in a loop and outside of it.
ir::Module AddingModule() {
  return ir::ModuleOf(R"(
entry @e : top_k threads 32 tile 1, 1 shared 0 (%p: ptr, %n: i64) {
  %one = const 1 : i64
  %a = add %n, %one : i64
  %sum = for %i = %one, %a, %one with (%s = %a) {
    %b = add %s, %i : i64
    %c = add %b, %a : i64
    yield %c
  }
  %d = add %sum, %a : i64
  store %p, %d, %sum { memory = i64 }
  yield
})");
}

std::size_t Count(const ir::Block& block, ir::OpCode code) {
  std::size_t count = 0;
  for (const ir::Op& op : block.ops) {
    if (op.code == code) ++count;
    for (const ir::Block& region : op.regions) count += Count(region, code);
  }
  return count;
}

TEST(Rewriting, ReplacesOpsAndTheirUsesInRegionsToo) {
  ir::Module module = AddingModule();
  ir::Kernel& entry = module.kernels[0];
  RewriteOps(entry, [](const ir::Op& op, ir::Builder& b, std::vector<ir::ValueId>& results) {
    if (op.code != ir::OpCode::kAdd) return false;
    const ir::ValueId negative = b.Sub(b.I64(0), op.operands[1]);
    results = {b.Sub(op.operands[0], negative)};
    return true;
  });
  EXPECT_EQ(Count(entry.body, ir::OpCode::kAdd), 0u);
  EXPECT_EQ(Count(entry.body, ir::OpCode::kSub), 8u);
  const auto again = ir::ParseAndVerify(ir::Print(module), "rewritten.lir");
  EXPECT_TRUE(again.ok()) << again.error().message;
}

TEST(Rewriting, MayHandOutAnOperandOrAConstant) {
  ir::Module module = AddingModule();
  ir::Kernel& entry = module.kernels[0];
  RewriteOps(entry, [](const ir::Op& op, ir::Builder& b, std::vector<ir::ValueId>& results) {
    if (op.code != ir::OpCode::kAdd) return false;
    results = {op.operands[0] == op.operands[1] ? b.I64(7) : op.operands[0]};
    return true;
  });
  EXPECT_EQ(ir::Print(module),
            "entry @e : top_k threads 32 tile 1, 1 shared 0 (%p: ptr, %n: i64) {\n"
            "  %one = const 1 : i64\n"
            "  %sum = for %i = %one, %n, %one with (%s = %n) {\n"
            "    yield %s\n"
            "  }\n"
            "  store %p, %sum, %sum { memory = i64 }\n"
            "  yield\n"
            "}\n");
}

TEST(Rewriting, LeavesWhatItIsToldTo) {
  ir::Module module = AddingModule();
  const std::string before = ir::Print(module);
  RewriteOps(module.kernels[0],
             [](const ir::Op&, ir::Builder&, std::vector<ir::ValueId>&) { return false; });
  EXPECT_EQ(ir::Print(module), before);
}

}  // namespace
}  // namespace lijit::lower
