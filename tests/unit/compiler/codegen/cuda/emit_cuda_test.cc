// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/cuda/emit_cuda.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "compiler/ir/builder.h"
#include "compiler/ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/support/float_text.h"
#include "tests/support/op_entries.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::codegen {
namespace {

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string Emit(const ir::Module& module) {
  const auto source = EmitCuda(module);
  EXPECT_TRUE(source.ok()) << source.error().message;
  return source.ok() ? *source : "";
}

std::string EmitText(const std::string& parameters, const std::string& body) {
  return Emit(ir::ModuleOf(fmt::format(
      "entry @e : top_k threads 32 tile 1, 1 shared 0 ({}) {{\n{}\nyield\n}}", parameters, body)));
}

TEST(EmitCuda, HasATextForEveryOp) {
  std::set<ir::OpCode> printed;
  for (const tests::OpEntry& one : tests::AllOpEntries()) {
    ASSERT_TRUE(ir::Verify(one.module).empty()) << one.name;
    EXPECT_TRUE(EmitCuda(one.module).ok()) << one.name;
    printed.insert(one.code);
  }
  for (const ir::OpRow& row : ir::AllOps()) {
    const bool lowered = row.level == ir::Level::kAny || row.level == ir::Level::kLow;
    // What tile_scores is written as, templates/, is run by tests/emulated/tensor_core_test.cc.
    const bool one_line = row.code != ir::OpCode::kYield && row.code != ir::OpCode::kTileScores;
    EXPECT_EQ(printed.contains(row.code), lowered && one_line) << row.mnemonic;
  }
}

TEST(EmitCuda, RefusesWhatIsNotLowered) {
  ir::Module module = ir::ModuleOf(ir::AllFormatsText() + R"(
entry @e : top_k threads 32 tile 1, 1 shared 0 (%p: ptr) {
  %x = const 1 : f32
  %codes = encode_pair %x, %x { format = @mxfp4 } : i32
  yield
})");
  EXPECT_EQ(EmitCuda(module).error().message,
            "encode_pair has no CUDA text; the passes of lower turn it into ops that do");
  const char* expected = "CUDA is emitted for a module of one entry; lower one kernel first";
  EXPECT_EQ(EmitCuda(ir::Module{}).error().message, expected);
  module = lower::ExtractKernel(ir::IndexerOf("mxfp4"), "top_k").value();
  EXPECT_EQ(EmitCuda(module).error().message, expected);
  module = lower::Lower(module, target::ParseTarget("sm_86").value(), "simt").value();
  EXPECT_TRUE(EmitCuda(module).ok());
  module.kernels.push_back(module.kernels[0]);
  EXPECT_EQ(EmitCuda(module).error().message, expected);
}

// What NVRTC compiles is this text and nothing else, and a cache key holds all of it.
TEST(EmitCuda, IncludesNothingAndUsesWhatTheTargetHas) {
  for (const ir::Format& format : ir::AllFormats().formats) {
    const ir::Module all = ir::IndexerOf(format.name, {{"heads", "8"}, {"dim", "64"}});
    for (const ir::Kernel& kernel : all.kernels) {
      for (const target::Target& target : target::AllTargets()) {
        const ir::Module one = lower::ExtractKernel(all, kernel.name).value();
        const std::string source = Emit(lower::Lower(one, target, "simt").value());
        const std::string where = fmt::format("@{} {} {}", kernel.name, format.name, target.name);
        EXPECT_FALSE(Contains(source, "#include")) << where;
        EXPECT_TRUE(Contains(source, fmt::format(" {}(\n", kernel.name))) << where;
        if (target.name != "sm_80" && target.name != "sm_86") continue;
        for (const char* part : {"e4m3", "e5m2", "e2m1", "ue8m0"}) {
          EXPECT_FALSE(Contains(source, part)) << where << ": " << part;
        }
      }
    }
  }
}

TEST(EmitCuda, PointersThatNothingIsStoredThroughAreConst) {
  const std::string source = EmitText("%in: ptr, %out: ptr, %unused: ptr", R"(
    %at = const 0 : i64
    %yes = const 1 : i1
    %x = load %in, %at { memory = i32 } : i32
    if %yes { store %out, %at, %x { memory = i32 } yield } else { yield })");
  EXPECT_TRUE(Contains(source, "const unsigned char* __restrict__ in_,")) << source;
  EXPECT_TRUE(Contains(source, "    unsigned char* __restrict__ out_,")) << source;
  EXPECT_TRUE(Contains(source, "const unsigned char* __restrict__ unused_)")) << source;
}

TEST(EmitCuda, LiteralsKeepEveryBit) {
  const auto literal = [](const std::string& number) {
    const std::string source = EmitText("%p: ptr", "%at = const 0 : i64 %x = const " + number +
                                                       " : f32 store %p, %at, %x { memory = f32 }");
    const std::size_t from = source.find("(float)(") + 8;
    return source.substr(from, source.find(");", from) - from);
  };
  EXPECT_EQ(literal("0"), "0.0f");
  EXPECT_EQ(literal("-0.0"), "-0.0f");
  EXPECT_EQ(literal("1"), "1.0f");
  EXPECT_EQ(literal("-1.5"), "-1.5f");
  EXPECT_EQ(literal("inf"), "__uint_as_float(0x7f800000u)");
  EXPECT_EQ(literal("-inf"), "__uint_as_float(0xff800000u)");
  EXPECT_EQ(literal("nan"), "__uint_as_float(0x7fc00000u)");
  for (const std::string number : {"0x1p-149", "0x1.fffffep127", "0x1.99999ap-4", "-0x1p100"}) {
    const std::string text = literal(number);
    ASSERT_TRUE(text.ends_with('f')) << text;
    const auto read = FloatFromText(text.substr(0, text.size() - 1));
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(BitsOfFloat(*read), BitsOfFloat(*FloatFromText(number))) << text;
  }
}

// Names are the user's; words of the language and names of the printer's own are allowed.
TEST(EmitCuda, NamesDoNotMeetOtherNames) {
  const std::string source = EmitText(
      "%for: i64, %v0: i64, %n1: i64, %shared: ptr, %a.b: i64, %3: i64, %max_nan: i64",
      "%x = add %for, %v0 : i64 %y = add %a.b, %3 : i64 store %shared, %x, %y { memory = i64 }");
  for (const char* name : {"for_,", "v0_,", "n1_,", "shared_,", "parameter4,", "parameter5,"}) {
    EXPECT_TRUE(Contains(source, std::string(" ") + name)) << name << "\n" << source;
  }
  EXPECT_TRUE(Contains(source, "v0 = for_ + v0_;")) << source;
}

TEST(EmitCuda, KernelsAreNamedByIdentifiers) {
  ir::Module module =
      ir::ModuleOf("entry @a.b : top_k threads 32 tile 1, 1 shared 0 (%p: ptr) { yield }");
  EXPECT_EQ(EmitCuda(module).error().message,
            "@a.b is no name for a CUDA kernel; letters, digits and _ are");
}

}  // namespace
}  // namespace lijit::codegen
