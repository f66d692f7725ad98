// SPDX-License-Identifier: Apache-2.0
// The parsers' view of the tokens: one token ahead, and errors that carry the line.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "lijit/result.h"
#include "runtime/emulator/ptx_lexer.h"

namespace lijit::emulator {

// An error at a line of the PTX text.
inline Error ErrorAtLine(std::uint32_t line, std::string_view message) {
  return InvalidArgument(fmt::format("ptx line {}: {}", line, message));
}

class TokenStream {
 public:
  explicit TokenStream(std::string_view text) : lexer_(text), token_(lexer_.Next()) {}

  const Token& token() const { return token_; }
  std::uint32_t line() const { return token_.line; }
  bool AtEnd() const { return token_.kind == TokenKind::kEnd; }

  Token Take() {
    Token taken = token_;
    taken_line_ = taken.line;
    token_ = lexer_.Next();
    return taken;
  }
  bool TakeIf(char character) {
    if (!token_.Is(character)) return false;
    Take();
    return true;
  }
  bool TakeIfWord(std::string_view word) {
    if (!token_.IsWord(word)) return false;
    Take();
    return true;
  }

  // An error about what was taken last.
  Error Fail(std::string_view message) const { return ErrorAtLine(taken_line_, message); }
  // "expected X, found Y", or the lexer's own complaint.
  Error Unexpected(std::string_view expected) const {
    if (token_.kind == TokenKind::kError) return ErrorAtLine(token_.line, token_.text);
    const std::string_view found = token_.text.substr(0, 64);
    return ErrorAtLine(token_.line, fmt::format("expected {}, found '{}'", expected, found));
  }

  Status Expect(char character) {
    if (TakeIf(character)) return {};
    return Unexpected(fmt::format("'{}'", character));
  }
  Result<std::string_view> ExpectWord(std::string_view what) {
    if (token_.kind != TokenKind::kWord) return Unexpected(what);
    return Take().text;
  }
  Result<std::uint64_t> ExpectInteger(std::string_view what) {
    if (token_.kind != TokenKind::kInteger) return Unexpected(what);
    return Take().bits;
  }
  // Skips the rest of the line: line information has no end mark.
  void SkipLine() {
    const std::uint32_t line = token_.line;
    while (!AtEnd() && token_.line == line && token_.kind != TokenKind::kError) Take();
  }
  // Skips a {...} block, with the blocks inside.
  Status SkipBlock();

 private:
  Lexer lexer_;
  Token token_;
  std::uint32_t taken_line_ = 1;
};

}  // namespace lijit::emulator
