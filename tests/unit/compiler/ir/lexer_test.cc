// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/lexer.h"

#include <gtest/gtest.h>

#include <string>

namespace lijit::ir {
namespace {

// "kind:text" of every token but the last.
std::string Kinds(std::string_view text) {
  constexpr const char* kNames[] = {"id", "value", "symbol", "number", "punct", "error", "end"};
  std::string all;
  for (const Token& token : Lex(text)) {
    if (token.kind == TokenKind::kEnd) break;
    all += std::string(all.empty() ? "" : " ") + kNames[static_cast<int>(token.kind)] + ":" +
           std::string(token.text);
  }
  return all;
}

TEST(Lexer, EveryKind) {
  EXPECT_EQ(Kinds("kernel @k : logits.paged (%x: f32) -> (f32)"),
            "id:kernel symbol:k punct:: id:logits.paged punct:( value:x punct:: id:f32 punct:) "
            "punct:-> punct:( id:f32 punct:)");
  EXPECT_EQ(Kinds("{ } < > = ,"), "punct:{ punct:} punct:< punct:> punct:= punct:,");
}

TEST(Lexer, Numbers) {
  EXPECT_EQ(Kinds("64 -1 0x7f 1e-4 1e+4 0x1.8p-124 -0x1p+3 1.5"),
            "number:64 number:-1 number:0x7f number:1e-4 number:1e+4 number:0x1.8p-124 "
            "number:-0x1p+3 number:1.5");
  // A sign belongs to an exponent only: e is a digit of 0x1e.
  EXPECT_EQ(Kinds("0x1e-4"), "number:0x1e number:-4");
  EXPECT_EQ(Kinds("-inf nan"), "id:-inf id:nan");
}

TEST(Lexer, CommentsAndBlanksSeparate) {
  EXPECT_EQ(Kinds("a//b c\nd\t\r\n e // the end"), "id:a id:d id:e");
  EXPECT_EQ(Kinds(""), "");
  EXPECT_EQ(Kinds("//"), "");
}

TEST(Lexer, WhatBeginsNoTokenIsAnError) {
  EXPECT_EQ(Kinds("a ; b"), "id:a error:; id:b");
  EXPECT_EQ(Kinds("% @ - / \x01"), "error:% error:@ error:- error:/ error:\x01");
  EXPECT_EQ(Kinds(std::string_view("\0", 1)), std::string("error:") + '\0');
  EXPECT_EQ(Kinds("\xc3\xa4"), "error:\xc3 error:\xa4");
}

TEST(Lexer, LocationsCountFromOne) {
  const auto tokens = Lex("a\n  bc %d\n");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0].location.line, 1);
  EXPECT_EQ(tokens[0].location.column, 1);
  EXPECT_EQ(tokens[1].location.line, 2);
  EXPECT_EQ(tokens[1].location.column, 3);
  EXPECT_EQ(tokens[2].location.column, 6);
  EXPECT_EQ(tokens[3].kind, TokenKind::kEnd);
  EXPECT_EQ(tokens[3].location.line, 3);
  EXPECT_EQ(tokens[3].location.column, 1);
}

}  // namespace
}  // namespace lijit::ir
