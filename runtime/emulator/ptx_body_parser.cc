// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/ptx_body_parser.h"

#include "runtime/emulator/ptx_declarations.h"

namespace lijit::emulator {
namespace {

constexpr int kMaxNesting = 3;

bool IsBranch(std::string_view name) { return name == "bra" || name == "bra.uni"; }

Operand MakeOperand(Operand::Kind kind, std::uint64_t value = 0) {
  Operand operand;
  operand.kind = kind;
  operand.value = value;
  return operand;
}

}  // namespace

BodyParser::BodyParser(TokenStream& tokens, const Module& module, Function& function)
    : tokens_(tokens), module_(module), function_(function) {
  for (std::uint32_t i = 0; i < function.variables.size(); ++i) {
    scopes_.DeclareVariable(function.variables[i].name, i);
  }
}

Status BodyParser::Parse() {
  LIJIT_TRY(tokens_.Expect('{'));
  const std::size_t outermost = scopes_.depth();
  while (scopes_.depth() >= outermost) {
    if (tokens_.TakeIf('{')) {
      if (scopes_.depth() == Scopes::kMaxDepth) return tokens_.Fail("too many nested braces");
      scopes_.Open();
    } else if (tokens_.TakeIf('}')) {
      if (scopes_.depth() == outermost) break;
      scopes_.Close();
    } else {
      LIJIT_TRY(ParseItem());
    }
  }
  return ResolveLabels();
}

Status BodyParser::ParseItem() {
  if (tokens_.TakeIf(';')) return {};
  if (tokens_.token().Is('@')) return ParseInstruction();
  if (tokens_.token().kind != TokenKind::kWord) return tokens_.Unexpected("an instruction or '}'");
  if (tokens_.token().text.front() == '.') return ParseDirective();
  return ParseInstruction();
}

Status BodyParser::ParseDirective() {
  const std::string_view directive = tokens_.token().text;
  if (directive == ".loc" || directive == ".file") {
    tokens_.SkipLine();
    return {};
  }
  if (directive == ".pragma") {
    tokens_.Take();
    while (tokens_.token().kind == TokenKind::kString || tokens_.token().Is(',')) tokens_.Take();
    return tokens_.Expect(';');
  }
  if (directive == ".reg") return ParseRegisters();
  if (directive == ".extern") {
    tokens_.Take();
    if (tokens_.TakeIfWord(".shared")) return ParseVariableDeclaration(Space::kShared, true);
    return tokens_.Unexpected("'.shared' after '.extern'");
  }
  tokens_.Take();
  const std::optional<Space> space = SpaceOfDirective(directive);
  if (!space || *space == Space::kGlobal || *space == Space::kConst) {
    return tokens_.Fail(
        fmt::format("unknown directive '{}' in a function", directive.substr(0, 64)));
  }
  return ParseVariableDeclaration(*space, false);
}

Status BodyParser::ParseRegisters() {
  tokens_.Take();
  LIJIT_ASSIGN(const std::string_view suffix, tokens_.ExpectWord("a register type"));
  const std::optional<Type> type = TypeBySuffix(suffix.substr(1));
  if (suffix.front() != '.' || !type || Info(*type).type_class >= TypeClass::kPacked) {
    return tokens_.Fail(fmt::format("no register type '{}'", suffix.substr(0, 64)));
  }
  do {
    LIJIT_ASSIGN(const std::string_view name, tokens_.ExpectWord("a register name"));
    bool added = true;
    if (tokens_.TakeIf('<')) {
      LIJIT_ASSIGN(const std::uint64_t count, tokens_.ExpectInteger("a number of registers"));
      LIJIT_TRY(tokens_.Expect('>'));
      added = scopes_.DeclareRegisters(name, count, *type);
    } else {
      added = scopes_.DeclareRegister(name, *type);
    }
    if (!added) return tokens_.Fail(fmt::format("register '{}' is declared twice", name));
  } while (tokens_.TakeIf(','));
  return tokens_.Expect(';');
}

Status BodyParser::ParseVariableDeclaration(Space space, bool is_external) {
  LIJIT_ASSIGN(std::vector<Variable> variables,
               ParseVariables(tokens_, space, is_external, module_));
  for (Variable& variable : variables) {
    const auto index = static_cast<std::uint32_t>(function_.variables.size());
    if (!scopes_.DeclareVariable(variable.name, index)) {
      return tokens_.Fail(fmt::format("'{}' is declared twice", variable.name));
    }
    function_.variables.push_back(std::move(variable));
  }
  return tokens_.Expect(';');
}

Status BodyParser::ParseLabel(std::string_view name) {
  if (tokens_.token().IsWord(".branchtargets")) return ParseBranchTable(name);
  if (tokens_.token().IsWord(".callprototype") || tokens_.token().IsWord(".calltargets")) {
    return tokens_.Fail("indirect calls are not supported");
  }
  if (!scopes_.DeclareLabel(name, function_.statements.size())) {
    return tokens_.Fail(fmt::format("label '{}' is declared twice", name));
  }
  return {};
}

Status BodyParser::ParseBranchTable(std::string_view name) {
  tokens_.Take();
  BranchTable table;
  table.name = name;
  do {
    Operand target = MakeOperand(Operand::Kind::kName, scopes_.current());
    LIJIT_ASSIGN(target.name, tokens_.ExpectWord("a label"));
    table.targets.push_back(std::move(target));
  } while (tokens_.TakeIf(','));
  function_.branch_tables.push_back(std::move(table));
  return tokens_.Expect(';');
}

Status BodyParser::ParseInstruction() {
  Statement statement;
  LIJIT_TRY(ParseGuard(statement));
  statement.scope = scopes_.current();
  statement.line = tokens_.line();
  LIJIT_ASSIGN(statement.name, tokens_.ExpectWord("an instruction"));
  if (!statement.guard.present && tokens_.TakeIf(':')) return ParseLabel(statement.name);
  LIJIT_TRY(ParseOperands(statement));
  function_.statements.push_back(std::move(statement));
  return tokens_.Expect(';');
}

Status BodyParser::ParseGuard(Statement& statement) {
  if (!tokens_.TakeIf('@')) return {};
  statement.guard.present = true;
  statement.guard.negated = tokens_.TakeIf('!');
  LIJIT_ASSIGN(const std::string_view name, tokens_.ExpectWord("a predicate"));
  const std::optional<std::uint32_t> reg = scopes_.FindRegister(name, function_);
  if (!reg || function_.registers[*reg] != Type::kPred) {
    return tokens_.Fail(fmt::format("'{}' is no predicate register", name.substr(0, 64)));
  }
  statement.guard.reg = *reg;
  return {};
}

Status BodyParser::ParseOperands(Statement& statement) {
  if (tokens_.token().Is(';')) return {};
  do {
    LIJIT_ASSIGN(Operand operand, ParseOperand(0));
    statement.operands.push_back(std::move(operand));
    LIJIT_TRY(ParsePair(statement));
  } while (tokens_.TakeIf(','));
  return {};
}

Status BodyParser::ParsePair(Statement& statement) {
  if (!tokens_.TakeIf('|')) return {};
  if (statement.operands.size() != 1) return tokens_.Fail("only a destination can be a pair");
  LIJIT_ASSIGN(statement.second_destination, ParseOperand(0));
  return {};
}

Result<Operand> BodyParser::ParseOperand(int nesting) {
  if (nesting == kMaxNesting) return tokens_.Fail("operands are nested too deeply");
  if (tokens_.TakeIf('[')) return ParseAddress();
  if (tokens_.TakeIf('{')) return ParseList(Operand::Kind::kVector, '}', nesting + 1);
  if (tokens_.TakeIf('(')) return ParseList(Operand::Kind::kArguments, ')', nesting + 1);
  if (tokens_.TakeIf('!')) {
    LIJIT_ASSIGN(Operand operand, ParseName());
    operand.negated = true;
    return operand;
  }
  if (tokens_.token().kind == TokenKind::kWord) {
    LIJIT_ASSIGN(Operand operand, ParseName());
    if (operand.kind == Operand::Kind::kSymbol) LIJIT_TRY(ParseOffset(operand));
    return operand;
  }
  return ParseNumber();
}

Result<Operand> BodyParser::ParseList(Operand::Kind kind, char end, int nesting) {
  Operand list = MakeOperand(kind);
  if (tokens_.TakeIf(end)) return list;
  do {
    LIJIT_ASSIGN(Operand element, ParseOperand(nesting));
    list.elements.push_back(std::move(element));
  } while (tokens_.TakeIf(','));
  LIJIT_TRY(tokens_.Expect(end));
  return list;
}

Result<Operand> BodyParser::ParseAddress() {
  Operand address = MakeOperand(Operand::Kind::kAddress);
  LIJIT_ASSIGN(Operand base,
               tokens_.token().kind == TokenKind::kWord ? ParseName() : ParseNumber());
  LIJIT_TRY(ParseOffset(address));
  LIJIT_TRY(tokens_.Expect(']'));
  address.elements.push_back(std::move(base));
  return address;
}

// Reads `+4`, `+-4` or `-4`, if there is one, and adds it to the operand's value.
Status BodyParser::ParseOffset(Operand& operand) {
  const bool minus = tokens_.token().Is('-');
  if (!minus && !tokens_.token().Is('+')) return {};
  tokens_.Take();
  const bool negative = minus != tokens_.TakeIf('-');
  LIJIT_ASSIGN(const std::uint64_t offset, tokens_.ExpectInteger("an offset"));
  operand.value += negative ? std::uint64_t{0} - offset : offset;
  return {};
}

Result<Operand> BodyParser::ParseNumber() {
  const bool negative = tokens_.TakeIf('-');
  const Token token = tokens_.token();
  if (token.kind == TokenKind::kInteger) {
    tokens_.Take();
    return MakeOperand(Operand::Kind::kInteger,
                       negative ? std::uint64_t{0} - token.bits : token.bits);
  }
  if (token.kind == TokenKind::kFloat32 || token.kind == TokenKind::kFloat64) {
    tokens_.Take();
    const bool is_f32 = token.kind == TokenKind::kFloat32;
    const std::uint64_t sign = std::uint64_t{negative} << (is_f32 ? 31 : 63);
    return MakeOperand(is_f32 ? Operand::Kind::kFloat32 : Operand::Kind::kFloat64,
                       token.bits ^ sign);
  }
  return tokens_.Unexpected("an operand");
}

Result<Operand> BodyParser::ParseName() {
  LIJIT_ASSIGN(const std::string_view name, tokens_.ExpectWord("an operand"));
  Operand operand = MakeOperand(Operand::Kind::kName, scopes_.current());
  operand.name = name;
  if (name == "_") {
    operand.kind = Operand::Kind::kSink;
  } else if (const auto reg = scopes_.FindRegister(name, function_)) {
    operand.kind = Operand::Kind::kRegister;
    operand.value = *reg;
  } else if (const auto variable = scopes_.FindVariable(name)) {
    operand.kind = Operand::Kind::kSymbol;
    operand.value = 0;
    operand.symbol = {false, *variable};
  } else if (name.front() == '%' || name == "WARP_SZ") {
    operand.kind = Operand::Kind::kSpecial;
  } else {
    for (std::uint32_t i = 0; i < module_.variables.size(); ++i) {
      if (module_.variables[i].name != name) continue;
      operand.kind = Operand::Kind::kSymbol;
      operand.value = 0;
      operand.symbol = {true, i};
    }
  }
  return operand;
}

Status BodyParser::ResolveLabels() {
  for (Statement& statement : function_.statements) {
    if (!IsBranch(statement.name)) continue;
    for (Operand& operand : statement.operands) {
      LIJIT_TRY(ResolveLabel(operand, statement.scope, statement.line));
    }
  }
  for (BranchTable& table : function_.branch_tables) {
    for (Operand& target : table.targets) {
      const auto scope = static_cast<std::uint32_t>(target.value);
      LIJIT_TRY(ResolveLabel(target, scope, function_.line));
    }
  }
  return {};
}

Status BodyParser::ResolveLabel(Operand& operand, std::uint32_t scope, std::uint32_t line) {
  if (operand.kind != Operand::Kind::kName) return {};
  const std::optional<std::uint64_t> statement = scopes_.FindLabel(operand.name, scope);
  if (!statement) {
    return ErrorAtLine(line, fmt::format("no label '{}'", operand.name.substr(0, 64)));
  }
  operand.kind = Operand::Kind::kLabel;
  operand.value = *statement;
  return {};
}

}  // namespace lijit::emulator
