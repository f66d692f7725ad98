// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/parser.h"

#include <gtest/gtest.h>

#include "compiler/ir/printer.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::ir {
namespace {

// The message for a text that does not parse: its first line.
std::string ErrorOf(const std::string& text, const std::vector<ParameterOverride>& values = {}) {
  Module module;
  const Status status = ParseInto(module, text, "t.lir", values);
  if (status.ok()) return "parsed";
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  return status.error().message.substr(0, status.error().message.find('\n'));
}

const std::string kHead = "kernel @k : top_k (%x: f32) -> (f32) {\n";

struct BadText {
  std::string text;
  std::string error;
};

TEST(Parser, ErrorsSayWhereAndWhat) {
  const BadText bad[] = {
      {"foo",
       "t.lir:1:1: error: expected 'param', 'format', 'layout', 'kernel' or 'entry', found 'foo' "
       "[syntax]"},
      {"kernel @k", "t.lir:1:10: error: expected ':', found the end of the text [syntax]"},
      {"kernel k", "t.lir:1:8: error: expected @name of the kernel, found 'k' [syntax]"},
      {"kernel @k : sort",
       "t.lir:1:13: error: 'sort' is no kind of kernel; there are quantize_query write_cache "
       "gather_cache logits.ragged logits.paged top_k [kernel-kind]"},
      {"kernel @k : write_cache layout @p",
       "t.lir:1:32: error: '@p' is not a layout declared above [unknown-layout]"},
      {"kernel @k : top_k (%x: f33)", "t.lir:1:24: error: 'f33' is not a type [unknown-type]"},
      {"kernel @k : top_k (%x: row<32 x @f>)",
       "t.lir:1:33: error: '@f' is not a format declared above [unknown-format]"},
      {"kernel @k : top_k (%x: vec<0 x f32>)",
       "t.lir:1:28: error: a dimension must be an integer from 1 to 65536, found '0' [integer]"},
      {"kernel @k : top_k (%x: f32, %x: f32)",
       "t.lir:1:29: error: %x is defined twice in this kernel [redefinition]"},
      {kHead + "  yield %y }", "t.lir:2:9: error: %y is not defined above [undefined]"},
      {kHead + "  %y = frob %x : f32 }", "t.lir:2:8: error: there is no op 'frob' [unknown-op]"},
      {kHead + "  %y = relu %x : f32\n  %y = relu %x : f32 }",
       "t.lir:3:3: error: %y is defined twice in this kernel [redefinition]"},
      {kHead + "  %y = relu %x { speed = 3 } : f32 }",
       "t.lir:2:18: error: there is no attribute 'speed' [attribute]"},
      {kHead + "  %y = round %x { to = f64 } : f32 }",
       "t.lir:2:24: error: 'f64' is no value of attribute 'to' [attribute]"},
      {kHead + "  %y = const one : f32 }",
       "t.lir:2:14: error: the constant must be a number, found 'one' [float]"},
      {kHead + "  %y = const 1.5 : i32 }",
       "t.lir:2:14: error: the constant must be an integer from -9223372036854775808 to "
       "9223372036854775807, found '1.5' [integer]"},
      {kHead + "  %y = const 1 2 : f32 }", "t.lir:2:16: error: expected ':', found '2' [syntax]"},
      {kHead + "  const 1 }", "t.lir:2:3: error: const has one result [results]"},
      {kHead + "  %y = const inv_sqrt(0) : f32 }",
       "t.lir:2:23: error: the argument of inv_sqrt must be an integer from 1 to 1073741824, found "
       "'0' [integer]"},
      {kHead + "  ; }", "t.lir:2:3: error: expected an op, found ';' [syntax]"},
      {"format @f { }", "t.lir:1:1: error: format @f says no element [format]"},
      {"format @f { elements { } }",
       "t.lir:1:13: error: expected 'element', 'block_scale', 'row_scale' or '}', found 'elements' "
       "[syntax]"},
      {"format @f { element { bits = 3 } }",
       "t.lir:1:23: error: element has no field 'bits' [unknown-field]"},
      {"format @f { element { bias = 3, bias = 3 } }",
       "t.lir:1:33: error: field 'bias' is given twice [redefinition]"},
      {"format @f { element { bias = -3 } }",
       "t.lir:1:30: error: bias must be an integer from 0 to 1048576, found '-3' [integer]"},
      {"format @f { element { ties = up } }",
       "t.lir:1:30: error: ties is one of 'even' 'zero', found 'up' [keyword]"},
      {"format @f { element { bias = 3 } element { bias = 3 } }",
       "t.lir:1:34: error: 'element' is given twice [redefinition]"},
      {"layout @l { } layout @l { }",
       "t.lir:1:22: error: layout @l is declared twice [redefinition]"},
      {"layout @l { tokens = 64 order = planar }",
       "t.lir:1:25: error: expected ',', found 'order' [syntax]"},
      {"param p = 3\nparam p = 4",
       "t.lir:2:7: error: parameter 'p' is declared twice [redefinition]"},
      {"param p = {",
       "t.lir:1:11: error: a parameter is a number, a @format or the name of a type [syntax]"},
      {"param p = 99999999999999999999\nlayout @l { tokens = p }",
       "t.lir:2:22: error: tokens must be an integer from 0 to 1048576, found "
       "'99999999999999999999' [integer]"},
      {"entry @e : top_k tile 1, 1",
       "t.lir:1:18: error: expected 'threads', found 'tile' [syntax]"},
  };
  for (const BadText& one : bad) EXPECT_EQ(ErrorOf(one.text), one.error) << one.text;
}

TEST(Parser, LoopsCheckTheirNames) {
  const std::string head =
      "entry @e : top_k threads 32 tile 1, 1 shared 0 (%n: i64) {\n  %z = const 0 : i64\n";
  EXPECT_EQ(ErrorOf(head + "  %r = for %i = %z, %n, %n { yield }"),
            "t.lir:3:8: error: the loop carries 0 values and is given 1 result names [results]");
  EXPECT_EQ(ErrorOf(head + "  for %z = %z, %n, %n { yield } yield }"),
            "t.lir:3:7: error: %z is defined twice in this kernel [redefinition]");
  EXPECT_EQ(ErrorOf(head + "  %c = eq %z, %z : i1 if %c { yield } yield }"),
            "t.lir:3:39: error: expected 'else', found 'yield' [syntax]");
}

TEST(Parser, ErrorsShowTheLineWithACaret) {
  Module module;
  const Status status = ParseInto(module, "layout @l {\n\ttokens = many }", "dir/t.lir");
  EXPECT_EQ(status.error().message,
            "dir/t.lir:2:11: error: tokens must be an integer from 0 to 1048576, found 'many' "
            "[integer]\n\ttokens = many }\n\t         ^\n");
}

TEST(Parser, RegionsNestToALimit) {
  const auto nested = [](int depth) {
    std::string text =
        "entry @e : top_k threads 32 tile 1, 1 shared 0 (%p: ptr) { %t = const 1 : i1\n";
    for (int i = 0; i < depth; ++i) text += "if %t {\n";
    for (int i = 0; i < depth; ++i) text += "yield } else { yield }\n";
    return text + "yield }";
  };
  EXPECT_EQ(ErrorOf(nested(64)), "parsed");
  EXPECT_EQ(ErrorOf(nested(65)), "t.lir:67:1: error: regions nest deeper than 64 [depth]");
  EXPECT_NE(ErrorOf(nested(20000)).find("[depth]"), std::string::npos);
}

TEST(Parser, ParametersStandForTheirValues) {
  const std::string text =
      "param page = 64 param input = bf16 layout @pages { tokens = page } "
      "kernel @k : top_k (%x: input) -> (f32) { %y = const inv_sqrt(page) : f32 yield %y }";
  Module module;
  ASSERT_TRUE(ParseInto(module, text, "t.lir", {{"page", "16"}, {"input", "f32"}}).ok());
  EXPECT_EQ(module.layouts[0].tokens, 16);
  EXPECT_EQ(module.kernels[0].TypeOf(0), ScalarType(Scalar::kF32));
  EXPECT_NE(Print(module).find("const 0.25 : f32"), std::string::npos);
}

TEST(Parser, ParametersMustExistAndFit) {
  EXPECT_EQ(ErrorOf("param page = 64", {{"pages", "16"}}),
            "t.lir:1:16: error: there is no `param pages` in this text to give the value 16 "
            "[parameter]");
  for (const char* value : {"", "{", "1 2", "%x", ";"}) {
    EXPECT_EQ(ErrorOf("param page = 64", {{"page", value}}),
              "t.lir:1:14: error: '" + std::string(value) +
                  "' is no value for parameter 'page' [parameter]");
  }
}

TEST(Parser, LaterTextUsesWhatTheModuleHas) {
  Module module;
  ASSERT_TRUE(ParseInto(module, ShippedText("formats.lir"), "formats.lir").ok());
  ASSERT_TRUE(ParseInto(module, ShippedText("indexer.lir"), "indexer.lir").ok());
  EXPECT_NE(module.FindKernel("logits_paged"), nullptr);
  EXPECT_EQ(module.FindKernel("nothing"), nullptr);
}

TEST(Parser, I32ConstantsAreKeptSignExtended) {
  const auto constant = [](const std::string& number) {
    Module module;
    EXPECT_TRUE(ParseInto(module, kHead + "%c = const " + number + " : i32 yield %x }", "t").ok());
    return static_cast<std::int64_t>(module.kernels[0].body.ops[0].constant);
  };
  EXPECT_EQ(constant("0xffffffff"), -1);
  EXPECT_EQ(constant("-1"), -1);
  EXPECT_EQ(constant("2147483648"), -2147483648LL);
  EXPECT_EQ(constant("2147483647"), 2147483647);
}

TEST(Parser, ShippedModulesAreSound) {
  for (const Format& format : AllFormats().formats) {
    for (const char* heads : {"8", "16", "32", "64", "128"}) {
      for (const char* dim : {"32", "64", "128", "256"}) {
        IndexerOf(format.name, {{"heads", heads}, {"dim", dim}});
      }
    }
  }
  for (const char* style : {"neox", "interleaved"}) {
    for (const char* place : {"first", "last"}) {
      ModuleOf(AllFormatsText() + std::string(ShippedText("rotated.lir")),
               {{"style", style}, {"place", place}, {"format", "@mxfp4"}});
    }
  }
}

}  // namespace
}  // namespace lijit::ir
