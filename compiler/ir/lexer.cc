// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/lexer.h"

namespace lijit::ir {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsName(char c) { return IsLetter(c) || IsDigit(c) || c == '.'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Token Next() {
    SkipBlank();
    const SourceLocation location{line_, column_};
    if (at_ == text_.size()) return {TokenKind::kEnd, {}, location};
    const char c = Peek();
    if (c == '%' || c == '@') return TakeSigil(c, location);
    if (IsLetter(c) || (c == '-' && IsLetter(Peek(1)))) {
      const std::size_t begin = at_;
      Advance();
      return {TokenKind::kIdentifier, TakeName(begin), location};
    }
    if (IsDigit(c) || (c == '-' && IsDigit(Peek(1)))) return TakeNumber(location);
    return TakePunctuation(c, location);
  }

 private:
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void Advance() {
    const bool line_end = text_[at_++] == '\n';
    line_ += line_end ? 1 : 0;
    column_ = line_end ? 1 : column_ + 1;
  }

  void SkipBlank() {
    while (at_ < text_.size()) {
      const char c = Peek();
      if (c == '/' && Peek(1) == '/') {
        while (at_ < text_.size() && Peek() != '\n') Advance();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        Advance();
      } else {
        return;
      }
    }
  }

  std::string_view TakeName(std::size_t begin) {
    while (at_ < text_.size() && IsName(Peek())) Advance();
    return text_.substr(begin, at_ - begin);
  }

  Token TakeSigil(char sigil, SourceLocation location) {
    Advance();
    const std::string_view name = TakeName(at_);
    if (name.empty()) return {TokenKind::kError, text_.substr(at_ - 1, 1), location};
    return {sigil == '%' ? TokenKind::kValue : TokenKind::kSymbol, name, location};
  }

  // Digits, letters and points; a sign only after the mark of an exponent.
  Token TakeNumber(SourceLocation location) {
    const std::size_t begin = at_;
    if (Peek() == '-') Advance();
    const bool hexadecimal = Peek() == '0' && Peek(1) == 'x';
    while (IsName(Peek())) {
      const char c = Peek();
      Advance();
      const bool mark = hexadecimal ? c == 'p' : c == 'e';
      if (mark && (Peek() == '-' || Peek() == '+')) Advance();
    }
    return {TokenKind::kNumber, text_.substr(begin, at_ - begin), location};
  }

  Token TakePunctuation(char c, SourceLocation location) {
    const std::size_t begin = at_;
    const bool arrow = c == '-' && Peek(1) == '>';
    Advance();
    if (arrow) Advance();
    constexpr std::string_view kSingle = "{}()<>=,:";
    const bool known = arrow || kSingle.find(c) != std::string_view::npos;
    return {known ? TokenKind::kPunctuation : TokenKind::kError, text_.substr(begin, at_ - begin),
            location};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace

std::vector<Token> Lex(std::string_view text) {
  Scanner scanner(text);
  std::vector<Token> tokens;
  do {
    tokens.push_back(scanner.Next());
  } while (tokens.back().kind != TokenKind::kEnd);
  return tokens;
}

}  // namespace lijit::ir
