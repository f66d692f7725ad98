// SPDX-License-Identifier: Apache-2.0
// Tokens of .lir text. Spaces, line ends and `// comments` separate and mean nothing.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace lijit::ir {

enum class TokenKind {
  kIdentifier,   // kernel, logits.paged, f32, -inf
  kValue,        // %name, without the sign
  kSymbol,       // @name, without the sign
  kNumber,       // 64, -1, 0x7f, 1e-4, 0x1.8p-124
  kPunctuation,  // { } ( ) < > = , : ->
  kError,        // a character that begins no token
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  SourceLocation location;
};

// The last token is kEnd. The views point into `text`.
std::vector<Token> Lex(std::string_view text);

}  // namespace lijit::ir
