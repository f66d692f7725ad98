// SPDX-License-Identifier: Apache-2.0
// Splits PTX text into tokens. Any bytes are accepted; what is no token becomes one of kind kError.
#pragma once

#include <cstdint>
#include <string_view>

namespace lijit::emulator {

enum class TokenKind : std::uint8_t {
  kWord,         // name, directive or instruction with its suffixes: "%tid.x", ".reg", "add.s32"
  kInteger,      // value in `bits`
  kFloat32,      // 0f3F800000, bits in `bits`
  kFloat64,      // 0d... or decimal, bits in `bits`
  kString,       // text without the quotes
  kPunctuation,  // one character
  kEnd,
  kError  // text says what is wrong
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  std::uint64_t bits = 0;
  std::uint32_t line = 1;

  bool Is(char character) const {
    return kind == TokenKind::kPunctuation && text.front() == character;
  }
  bool IsWord(std::string_view word) const { return kind == TokenKind::kWord && text == word; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token Next();

 private:
  char Peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  bool SkipBlanks();  // false: a comment that does not end
  Token Make(TokenKind kind, std::size_t begin, std::uint64_t bits = 0) const;
  Token Error(std::string_view message) const;
  Token Word();
  Token String();
  Token Number();
  Token HexFloat(TokenKind kind, std::size_t digits);
  Token DecimalFloat(std::size_t begin);

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace lijit::emulator
