// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/ptx_lexer.h"

#include <bit>
#include <charconv>

namespace lijit::emulator {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool IsWordPart(char c) { return IsWordStart(c) || IsDigit(c); }

}  // namespace

Token Lexer::Make(TokenKind kind, std::size_t begin, std::uint64_t bits) const {
  return {kind, text_.substr(begin, position_ - begin), bits, line_};
}

Token Lexer::Error(std::string_view message) const {
  return {TokenKind::kError, message, 0, line_};
}

bool Lexer::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = Peek();
    if (c == '\n') {
      ++line_;
      ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++position_;
    } else if (c == '/' && Peek(1) == '/') {
      while (position_ < text_.size() && Peek() != '\n') ++position_;
    } else if (c == '/' && Peek(1) == '*') {
      const std::size_t end = text_.find("*/", position_ + 2);
      if (end == text_.npos) return false;
      for (; position_ < end + 2; ++position_) line_ += Peek() == '\n';
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::Next() {
  if (!SkipBlanks()) return Error("comment without an end");
  if (position_ >= text_.size()) return {TokenKind::kEnd, "end of text", 0, line_};
  const char c = Peek();
  if (IsWordStart(c)) return Word();
  if (IsDigit(c)) return Number();
  if (c == '"') return String();
  if (std::string_view("@!,;:()[]{}<>=+-|~*/&^?").find(c) != std::string_view::npos) {
    ++position_;
    return Make(TokenKind::kPunctuation, position_ - 1);
  }
  return Error("unexpected character");
}

Token Lexer::Word() {
  const std::size_t begin = position_++;
  while (true) {
    if (IsWordPart(Peek())) {
      ++position_;
    } else if (Peek() == ':' && Peek(1) == ':' && IsWordPart(Peek(2))) {
      position_ += 2;  // "shared::cta"
    } else {
      return Make(TokenKind::kWord, begin);
    }
  }
}

Token Lexer::String() {
  const std::size_t begin = position_ + 1;
  const std::size_t end = text_.find('"', begin);
  if (end == text_.npos || text_.substr(begin, end - begin).find('\n') != text_.npos) {
    return Error("string without an end");
  }
  position_ = end;
  Token token = Make(TokenKind::kString, begin);
  ++position_;
  return token;
}

Token Lexer::HexFloat(TokenKind kind, std::size_t digits) {
  const std::size_t begin = position_;
  position_ += 2;
  std::uint64_t bits = 0;
  const char* first = text_.data() + position_;
  std::size_t count = 0;
  while (IsHexDigit(Peek(count))) ++count;
  if (count != digits) return Error("a hexadecimal float needs 8 (0f) or 16 (0d) digits");
  std::from_chars(first, first + count, bits, 16);
  position_ += count;
  return Make(kind, begin, bits);
}

Token Lexer::DecimalFloat(std::size_t begin) {
  double value = 0;
  const char* end = text_.data() + text_.size();
  const auto [stop, error] = std::from_chars(text_.data() + begin, end, value);
  if (error != std::errc()) return Error("number out of range");
  position_ = static_cast<std::size_t>(stop - text_.data());
  return Make(TokenKind::kFloat64, begin, std::bit_cast<std::uint64_t>(value));
}

Token Lexer::Number() {
  const std::size_t begin = position_;
  const char marker = Peek() == '0' ? Peek(1) : '\0';
  if (marker == 'f' || marker == 'F') return HexFloat(TokenKind::kFloat32, 8);
  if (marker == 'd' || marker == 'D') return HexFloat(TokenKind::kFloat64, 16);
  int base = 10;
  if (marker == 'x' || marker == 'X') base = 16;
  if (marker == 'b' || marker == 'B') base = 2;
  if (IsDigit(marker)) base = 8;
  if (base == 10 || base == 8) {
    std::size_t digits = 0;
    while (IsDigit(Peek(digits))) ++digits;
    const char next = Peek(digits);
    if ((next == '.' && IsDigit(Peek(digits + 1))) || next == 'e' || next == 'E') {
      return DecimalFloat(begin);
    }
  }
  if (base == 16 || base == 2) position_ += 2;
  std::uint64_t bits = 0;
  const char* first = text_.data() + position_;
  const auto [stop, error] = std::from_chars(first, text_.data() + text_.size(), bits, base);
  if (error != std::errc()) return Error("bad integer, or one beyond 64 bits");
  position_ += static_cast<std::size_t>(stop - first);
  if (Peek() == 'U') ++position_;
  if (IsWordPart(Peek()) && Peek() != '.') return Error("bad integer");
  return Make(TokenKind::kInteger, begin, bits);
}

}  // namespace lijit::emulator
