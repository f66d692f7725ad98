// SPDX-License-Identifier: Apache-2.0
// What the parser and the decoder accept, and their errors, which name the line.
#include "runtime/emulator/ptx_parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

constexpr std::string_view kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

std::string ParseError(std::string_view text) {
  const auto module = ParsePtx(text);
  return module.ok() ? "" : module.error().message;
}

std::string AfterHead(std::string_view text) {
  return ParseError(fmt::format("{}{}", kHead, text));
}

TEST(ParserTest, HeaderIsNeeded) {
  EXPECT_EQ(ParseError(""), "ptx line 1: the text has no .version");
  EXPECT_EQ(ParseError(".version 9.0\n"), "ptx line 1: the text has no .target");
  EXPECT_EQ(ParseError(".version nine\n"),
            "ptx line 1: expected a version such as 9.0, found 'nine'");
  EXPECT_EQ(ParseError(".version 9.0\n.target sm_90, debug\n"), "");
  EXPECT_EQ(ParseError(".version 9.0\n.target sm_90\n.address_size 32\n"),
            "ptx line 3: only .address_size 64 is supported");
  const auto module = ParsePtx(kHead);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(module->version, "9.0");
  EXPECT_EQ(module->target, "sm_90a");
}

TEST(ParserTest, Lexing) {
  EXPECT_EQ(AfterHead("/* no end"), "ptx line 4: comment without an end");
  EXPECT_EQ(AfterHead("// one\n/* two\nlines */ .file 1 \"a.cu\"\n#"),
            "ptx line 7: unexpected character");
  EXPECT_EQ(AfterHead(".file 1 \"a"), "ptx line 4: string without an end");
  EXPECT_EQ(AfterHead(".global .u32 x = 0x;"), "ptx line 4: bad integer, or one beyond 64 bits");
  EXPECT_EQ(AfterHead(".global .u32 x = 99999999999999999999;"),
            "ptx line 4: bad integer, or one beyond 64 bits");
  EXPECT_EQ(AfterHead(".global .f32 x = 0f3F8;"),
            "ptx line 4: a hexadecimal float needs 8 (0f) or 16 (0d) digits");
  EXPECT_EQ(AfterHead(".global .u32 x = 12ab;"), "ptx line 4: bad integer");
  EXPECT_EQ(AfterHead(".global .u32 x = 0x10U, y = 017, z = 0b101, w;"), "");
  EXPECT_EQ(AfterHead(std::string_view("\0\0", 2)), "");  // the end that NVRTC counts in
  EXPECT_EQ(AfterHead(std::string_view("\0x", 2)), "ptx line 4: unexpected character");
}

TEST(ParserTest, Declarations) {
  EXPECT_EQ(AfterHead(".global .align 3 .b8 x;"),
            "ptx line 4: alignment 3 is no power of two up to 65536");
  EXPECT_EQ(AfterHead(".global .b8 x[];"),
            "ptx line 4: 'x' needs a length; only an .extern array has none");
  EXPECT_EQ(AfterHead(".global .b64 x[999999999999];"),
            "ptx line 4: 'x' is larger than 4294967296 bytes");
  EXPECT_EQ(AfterHead(".global .b64 x[4294967296][4294967296];"),
            "ptx line 4: 'x' is larger than 4294967296 bytes");
  EXPECT_EQ(AfterHead(".shared .u32 x = 1;"),
            "ptx line 4: only .global and .const variables may have initial values");
  EXPECT_EQ(AfterHead(".global .u32 x[2] = {1, 2, 3};"),
            "ptx line 4: too many initial values for 'x' (8 bytes)");
  EXPECT_EQ(AfterHead(".global .u64 x = y;"), "ptx line 4: 'y' is not declared");
  EXPECT_EQ(AfterHead(".shared .u32 y;\n.global .u64 x = y;"),
            "ptx line 5: the address of 'y' is not known before a launch");
  EXPECT_EQ(AfterHead(".global .pred p;"), "ptx line 4: a variable cannot have type .pred");
  EXPECT_EQ(AfterHead(".extern .global .u32 x;"), "ptx line 4: 'x' is defined in another module");
  EXPECT_EQ(AfterHead(".global .u32 x;\n.global .u32 x;"), "ptx line 5: 'x' is declared twice");
  EXPECT_EQ(AfterHead(".global .v4 .f32 quad[2];\n.visible .global .align 4 .b8 y[3];"), "");
  std::string nested = ".global .u32 x[9] = ";
  nested.append(100, '{');
  EXPECT_EQ(AfterHead(nested), "ptx line 4: initial values are nested too deeply");
}

TEST(ParserTest, FunctionsAndDirectives) {
  EXPECT_EQ(AfterHead(".entry k(.param .u64 .ptr .global .align 16 p)\n.maxntid 128, 1, 1\n"
                      ".minnctapersm 2\n.maxnreg 64\n.pragma \"x\";\n{ .loc 1 2 3\n ret; }\n"
                      ".section .debug_str { .b8 1,2 \n $L: .b32 x }\n"),
            "");
  EXPECT_EQ(AfterHead(".entry k() .reqnctapercluster 2, 1, 1 { ret; }"),
            "ptx line 4: clusters are not supported");
  EXPECT_EQ(AfterHead(".entry k() .warp { ret; }"),
            "ptx line 4: unknown directive '.warp' of a function");
  EXPECT_EQ(AfterHead(".entry k(.reg .u32 x) { ret; }"),
            "ptx line 4: expected '.param', found '.reg'");
  EXPECT_EQ(AfterHead(".entry k() { ret; }\n.entry k() { ret; }"),
            "ptx line 5: 'k' is defined twice");
  EXPECT_EQ(AfterHead(".entry k() {\n ret;\n"),
            "ptx line 6: expected an instruction or '}', found "
            "'end of text'");
  EXPECT_EQ(AfterHead(".alias a, b;"), "ptx line 4: unknown directive '.alias'");
  EXPECT_EQ(LoadError(fmt::format("{}.entry a() {{ ret; }}\n.entry b() {{ ret; }}", kHead)),
            "the PTX has no kernel 'k'; it has 'a', 'b'");
  EXPECT_EQ(LoadError(kHead), "the PTX has no kernel 'k'; it has none");
}

TEST(ParserTest, Bodies) {
  EXPECT_EQ(
      BodyError(".reg .b32 %r<2>, x;\n{ .reg .b64 %r<2>, x; mov.b64 %r1, x; }\nmov.b32 %r1, x;"),
      "");
  EXPECT_EQ(BodyError(".reg .b32 a, a;"), "ptx line 5: register 'a' is declared twice");
  EXPECT_EQ(BodyError(".reg .b32 %r<4>;\nmov.b32 %r4, 0;"),
            "ptx line 6: mov.b32: a destination must be a register");
  EXPECT_EQ(BodyError(".reg .b32 %r<4>;\nmov.b32 %r3, %r4;"),
            "ptx line 6: mov.b32: '%r4' is not declared");
  EXPECT_EQ(BodyError(".reg .f16x2 a;"), "ptx line 5: no register type '.f16x2'");
  EXPECT_EQ(BodyError("bra nowhere;"), "ptx line 5: no label 'nowhere'");
  EXPECT_EQ(BodyError("a:\na:"), "ptx line 6: label 'a' is declared twice");
  EXPECT_EQ(BodyError("{ a: bra a; }\n{ a: bra a; }"), "");
  EXPECT_EQ(BodyError("{ a: }\nbra a;"), "ptx line 6: no label 'a'");
  EXPECT_EQ(BodyError(".reg .b32 r;\n@r ret;"), "ptx line 6: 'r' is no predicate register");
  EXPECT_EQ(BodyError("ret"), "ptx line 6: expected an operand, found '}'");
  EXPECT_EQ(BodyError("bra a b;"), "ptx line 5: expected ';', found 'b'");
  EXPECT_EQ(BodyError("x: .callprototype _ ();"), "ptx line 5: indirect calls are not supported");
  EXPECT_EQ(BodyError(".weird 3;"), "ptx line 5: unknown directive '.weird' in a function");
  EXPECT_EQ(BodyError(std::string(70, '{')), "ptx line 5: too many nested braces");
  EXPECT_EQ(BodyError(".reg .b64 d; mov.b64 d, {{{{d}}}};"),
            "ptx line 5: operands are nested too deeply");
  EXPECT_EQ(BodyError(".pragma \"nounroll\";\n.loc 1 2 3, function_name a, inlined_at 4 5 6\nret;"),
            "");
}

TEST(ParserTest, UnknownInstructionsAndModifiersAreNamed) {
  EXPECT_EQ(BodyError("frobnicate.u32 a, b;"),
            "ptx line 5: frobnicate.u32: this instruction is not known to the emulator");
  EXPECT_EQ(BodyError(".reg .b32 a;\nadd.quick.u32 a, a, a;"),
            "ptx line 6: add.quick.u32: unknown modifier '.quick'");
  EXPECT_EQ(BodyError(".reg .b32 a;\nadd.wide.u32 a, a, a;"),
            "ptx line 6: add.wide.u32: modifier '.wide' is not known to the emulator here");
  EXPECT_EQ(BodyError(".reg .b32 a;\nadd.b32 a, a, a;"),
            "ptx line 6: add.b32: this instruction is not known to the emulator with type .b32");
  EXPECT_EQ(BodyError(".reg .b32 a;\nadd a, a, a;"), "ptx line 6: add: a type is missing");
  EXPECT_EQ(BodyError(".reg .f32 a;\nadd.rn.rz.f32 a, a, a;"),
            "ptx line 6: add.rn.rz.f32: modifiers '.rn' and '.rz' exclude each other");
  EXPECT_EQ(BodyError("mov.u8.u8.u8.u8.u8.u8 a, b;"),
            "ptx line 5: mov.u8.u8.u8.u8.u8.u8: too many types");
}

TEST(ParserTest, OperandsMustFit) {
  const auto error = [](std::string_view text) {
    return BodyError(fmt::format(".reg .b32 a; .reg .b64 d; .reg .pred p; .reg .b16 h;\n{}", text));
  };
  EXPECT_EQ(error("add.u32 a, a;"), "ptx line 6: add.u32: an operand is missing");
  EXPECT_EQ(error("add.u32 a, a, a, a;"), "ptx line 6: add.u32: 1 operands too many");
  EXPECT_EQ(error("add.u32 a, a, d;"),
            "ptx line 6: add.u32: register 'd' has 64 bits where 32 are wanted");
  EXPECT_EQ(error("add.u32 5, a, a;"), "ptx line 6: add.u32: a destination must be a register");
  EXPECT_EQ(error("add.u32 a, !a, a;"), "ptx line 6: add.u32: only a predicate can be negated");
  EXPECT_EQ(error("ld.global.u32 a, d;"), "ptx line 6: ld.global.u32: an address in [] is wanted");
  EXPECT_EQ(error("ld.global.u32 a, [a];"),
            "ptx line 6: ld.global.u32: an address in this space has 64 bits");
  EXPECT_EQ(error("ld.global.u32 h, [d];"),
            "ptx line 6: ld.global.u32: register 'h' has 16 bits where 32 are wanted");
  EXPECT_EQ(error("ld.global.v2.u32 a, [d];"),
            "ptx line 6: ld.global.v2.u32: 2 destinations are wanted");
  EXPECT_EQ(error("ld.global.v8.u64 {d,d,d,d,d,d,d,d}, [d];"),
            "ptx line 6: ld.global.v8.u64: a vector has at most 256 bits");
  EXPECT_EQ(error("ld.shared.u32 a, [data];"),
            "ptx line 6: ld.shared.u32: the name is of another space");
  EXPECT_EQ(error("mov.u32 a, %clock64;"),
            "ptx line 6: mov.u32: the register and the clock differ in width");
  EXPECT_EQ(error("mov.u32 a, %nosuch;"), "ptx line 6: mov.u32: '%nosuch' is not declared");
  EXPECT_EQ(error("add.u32 a, a, a|a;"), "ptx line 6: only a destination can be a pair");
  EXPECT_EQ(error("shfl.up.b32 a, a, 1, 0, -1;"), "ptx line 6: shfl.up.b32: needs '.sync'");
  EXPECT_EQ(error("bra 5;"), "ptx line 6: bra: needs a label");
}

// Text cut anywhere, or with any byte changed, gives an error or a module and nothing worse.
TEST(ParserTest, DamagedTextIsSafe) {
  const std::string text = KernelText(
      ".reg .b64 %p<3>; .reg .pred q; .shared .b8 x[4];\nl: ld.param.u64 %p0, [data];\n"
      "@!q bra l;\nmov.b64 {%p1, _}, %p2;\n{ .reg .f32 f; add.f32 f, 0f00000000, 1.5; }");
  for (std::size_t cut = 0; cut < text.size(); ++cut) (void)LoadError(text.substr(0, cut));
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char byte : {'\0', '{', '}', '"', ';', '9', '%', '\xff'}) {
      std::string damaged = text;
      damaged[i] = byte;
      (void)LoadError(damaged);
    }
  }
}

}  // namespace
}  // namespace lijit::emulator
