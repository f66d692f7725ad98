// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/ptx_declarations.h"

#include <bit>

namespace lijit::emulator {
namespace {

constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxAlignment = 1 << 16;
constexpr int kMaxNesting = 16;

struct Declarator {
  Variable variable;
  unsigned element_bytes = 1;
};

Result<Type> ParseType(TokenStream& tokens) {
  const Token& token = tokens.token();
  if (token.kind == TokenKind::kWord && token.text.front() == '.') {
    if (const std::optional<Type> type = TypeBySuffix(token.text.substr(1))) {
      tokens.Take();
      return *type;
    }
  }
  return tokens.Unexpected("a type");
}

// Reads .align, .ptr, .v2 and such, and the type, into `declarator`.
Status ParsePrefix(TokenStream& tokens, Declarator& declarator) {
  unsigned vector = 1;
  bool aligned = false;
  bool pointer = false;
  std::optional<Type> type;
  while (tokens.token().kind == TokenKind::kWord && tokens.token().text.front() == '.') {
    if (tokens.TakeIfWord(".align")) {
      LIJIT_ASSIGN(const std::uint64_t alignment, tokens.ExpectInteger("an alignment"));
      if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) {
        return tokens.Fail(
            fmt::format("alignment {} is no power of two up to {}", alignment, kMaxAlignment));
      }
      // After .ptr, the alignment is that of the memory pointed at.
      if (!pointer) declarator.variable.alignment = alignment;
      aligned = aligned || !pointer;
    } else if (tokens.TakeIfWord(".v2")) {
      vector = 2;
    } else if (tokens.TakeIfWord(".v4")) {
      vector = 4;
    } else if (tokens.TakeIfWord(".ptr")) {
      pointer = true;
    } else if (pointer && SpaceOfDirective(tokens.token().text)) {
      tokens.Take();
    } else {
      LIJIT_ASSIGN(type, ParseType(tokens));
    }
  }
  if (!type) return tokens.Unexpected("a type");
  if (*type == Type::kPred) return tokens.Fail("a variable cannot have type .pred");
  declarator.element_bytes = Bits(*type) / 8;
  declarator.variable.bytes = std::uint64_t{declarator.element_bytes} * vector;
  if (!aligned) declarator.variable.alignment = declarator.variable.bytes;
  return {};
}

// Reads `name[4][8]` into a copy of `declarator`.
Result<Declarator> ParseDeclarator(TokenStream& tokens, Declarator declarator, bool may_be_open) {
  Variable& variable = declarator.variable;
  variable.line = tokens.line();
  LIJIT_ASSIGN(variable.name, tokens.ExpectWord("a name"));
  bool open = false;
  while (tokens.TakeIf('[')) {
    if (tokens.TakeIf(']')) {
      open = true;
      continue;
    }
    LIJIT_ASSIGN(const std::uint64_t count, tokens.ExpectInteger("an array length"));
    LIJIT_TRY(tokens.Expect(']'));
    if (count != 0 && variable.bytes > kMaxVariableBytes / count) {
      return tokens.Fail(
          fmt::format("'{}' is larger than {} bytes", variable.name, kMaxVariableBytes));
    }
    variable.bytes *= count;
  }
  if (open && !may_be_open) {
    return tokens.Fail(
        fmt::format("'{}' needs a length; only an .extern array has none", variable.name));
  }
  if (open) variable.bytes = 0;
  return declarator;
}

class InitializerParser {
 public:
  InitializerParser(TokenStream& tokens, const Module& module, Declarator& declarator)
      : tokens_(tokens), module_(module), declarator_(declarator) {}

  Status Parse() { return ParseValue(0); }

 private:
  Status ParseValue(int nesting) {
    if (!tokens_.TakeIf('{')) return ParseScalar();
    if (nesting == kMaxNesting) return tokens_.Fail("initial values are nested too deeply");
    if (tokens_.TakeIf('}')) return {};
    do {
      LIJIT_TRY(ParseValue(nesting + 1));
    } while (tokens_.TakeIf(','));
    return tokens_.Expect('}');
  }

  Status ParseScalar() {
    const bool negative = tokens_.TakeIf('-');
    const Token token = tokens_.token();
    switch (token.kind) {
      case TokenKind::kInteger:
        tokens_.Take();
        // 0xFF00(name): one byte of an address.
        if (tokens_.TakeIf('(')) return ParseMasked(token.bits);
        return Append(negative ? std::uint64_t{0} - token.bits : token.bits);
      case TokenKind::kFloat32:
      case TokenKind::kFloat64:
        tokens_.Take();
        if (negative) return tokens_.Fail("a negative float is written in hexadecimal");
        if (token.kind == TokenKind::kFloat64 && declarator_.element_bytes == 4) {
          const auto value = static_cast<float>(std::bit_cast<double>(token.bits));
          return Append(std::bit_cast<std::uint32_t>(value));
        }
        return Append(token.bits);
      default:
        return ParseAddress(declarator_.element_bytes, 0);
    }
  }

  Status ParseMasked(std::uint64_t mask) {
    const auto shift = static_cast<unsigned>(std::countr_zero(mask));
    if (mask == 0 || shift % 8 != 0 || mask >> shift != 0xff) {
      return tokens_.Fail("a mask of an address must select one byte");
    }
    LIJIT_TRY(ParseAddress(1, shift));
    return tokens_.Expect(')');
  }

  Status ParseAddress(unsigned bytes, unsigned shift) {
    const bool generic = tokens_.TakeIfWord("generic");
    if (generic) LIJIT_TRY(tokens_.Expect('('));
    LIJIT_ASSIGN(const std::string_view name, tokens_.ExpectWord("an initial value"));
    Relocation relocation;
    relocation.offset = declarator_.variable.initial.size();
    relocation.bytes = bytes;
    relocation.shift = shift;
    bool found = false;
    for (std::uint32_t i = 0; i < module_.variables.size() && !found; ++i) {
      found = module_.variables[i].name == name;
      relocation.variable = i;
    }
    if (!found) return tokens_.Fail(fmt::format("'{}' is not declared", name));
    const Space space = module_.variables[relocation.variable].space;
    if (space != Space::kGlobal && space != Space::kConst) {
      return tokens_.Fail(fmt::format("the address of '{}' is not known before a launch", name));
    }
    if (generic) LIJIT_TRY(tokens_.Expect(')'));
    LIJIT_TRY(ParseAddend(relocation));
    LIJIT_TRY(Append(0));
    declarator_.variable.relocations.push_back(relocation);
    return {};
  }

  Status ParseAddend(Relocation& relocation) {
    const bool minus = tokens_.token().Is('-');
    if (!minus && !tokens_.token().Is('+')) return {};
    tokens_.Take();
    LIJIT_ASSIGN(const std::uint64_t addend, tokens_.ExpectInteger("an offset"));
    relocation.addend = static_cast<std::int64_t>(minus ? std::uint64_t{0} - addend : addend);
    return {};
  }

  Status Append(std::uint64_t bits) {
    std::vector<std::uint8_t>& initial = declarator_.variable.initial;
    if (initial.size() + declarator_.element_bytes > declarator_.variable.bytes) {
      return tokens_.Fail(fmt::format("too many initial values for '{}' ({} bytes)",
                                      declarator_.variable.name, declarator_.variable.bytes));
    }
    for (unsigned i = 0; i < declarator_.element_bytes; ++i) {
      initial.push_back(i < 8 ? static_cast<std::uint8_t>(bits >> (8 * i)) : std::uint8_t{0});
    }
    return {};
  }

  TokenStream& tokens_;
  const Module& module_;
  Declarator& declarator_;
};

}  // namespace

Status TokenStream::SkipBlock() {
  LIJIT_TRY(Expect('{'));
  for (std::uint64_t depth = 1; depth > 0;) {
    if (AtEnd() || token_.kind == TokenKind::kError) return Unexpected("'}'");
    depth += token_.Is('{');
    depth -= token_.Is('}');
    Take();
  }
  return {};
}

std::optional<Space> SpaceOfDirective(std::string_view directive) {
  if (directive == ".global") return Space::kGlobal;
  if (directive == ".shared") return Space::kShared;
  if (directive == ".local") return Space::kLocal;
  if (directive == ".const") return Space::kConst;
  if (directive == ".param") return Space::kParam;
  return std::nullopt;
}

Result<std::vector<Variable>> ParseVariables(TokenStream& tokens, Space space, bool is_external,
                                             const Module& module) {
  Declarator prefix;
  prefix.variable.space = space;
  prefix.variable.is_external = is_external;
  LIJIT_TRY(ParsePrefix(tokens, prefix));
  std::vector<Variable> variables;
  do {
    LIJIT_ASSIGN(Declarator declarator, ParseDeclarator(tokens, prefix, is_external));
    if (tokens.TakeIf('=')) {
      if (space != Space::kGlobal && space != Space::kConst) {
        return tokens.Fail("only .global and .const variables may have initial values");
      }
      LIJIT_TRY(InitializerParser(tokens, module, declarator).Parse());
    }
    variables.push_back(std::move(declarator.variable));
  } while (tokens.TakeIf(','));
  return variables;
}

Result<Variable> ParseParameter(TokenStream& tokens) {
  if (!tokens.TakeIfWord(".param")) return tokens.Unexpected("'.param'");
  Declarator prefix;
  prefix.variable.space = Space::kParam;
  LIJIT_TRY(ParsePrefix(tokens, prefix));
  LIJIT_ASSIGN(Declarator declarator, ParseDeclarator(tokens, prefix, false));
  return std::move(declarator.variable);
}

}  // namespace lijit::emulator
