// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/parser.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "compiler/ir/declarations.h"
#include "compiler/ir/lexer.h"
#include "compiler/ir/verifier.h"
#include "compiler/support/float_text.h"

namespace lijit::ir {
namespace {

// Regions nest no deeper than this; the parser's own stack is bounded by it.
constexpr int kMaxDepth = 64;

std::optional<std::int64_t> IntegerFromText(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), magnitude, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (magnitude > limit + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

class Parser {
 public:
  Parser(Module& module, std::string_view text, const std::vector<ParameterOverride>& overrides)
      : module_(module), tokens_(Lex(text)), overrides_(overrides) {}

  // Whether all went well; otherwise error() says what did not.
  bool Run() {
    while (ok() && !At(TokenKind::kEnd)) ParseDeclaration();
    for (const ParameterOverride& given : overrides_) {
      if (ok() && !given.is_optional && !parameters_.contains(given.name)) {
        Fail("parameter", fmt::format("there is no `param {}` in this text to give the value {}",
                                      given.name, given.value));
      }
    }
    return ok();
  }

  const Diagnostic& error() const { return *error_; }

 private:
  bool ok() const { return !error_.has_value(); }

  void FailAt(SourceLocation location, std::string rule, std::string message) {
    if (ok()) error_ = Diagnostic{location, std::move(rule), std::move(message)};
  }
  void Fail(std::string rule, std::string message) {
    FailAt(Peek().location, std::move(rule), std::move(message));
  }
  void Expected(std::string_view what) {
    const Token& token = Peek();
    Fail("syntax", token.kind == TokenKind::kEnd
                       ? fmt::format("expected {}, found the end of the text", what)
                       : fmt::format("expected {}, found '{}'", what, token.text));
  }

  const Token& Peek() const { return tokens_[at_]; }
  bool At(TokenKind kind) const { return Peek().kind == kind; }
  bool AtWord(std::string_view word) const {
    return At(TokenKind::kIdentifier) && Peek().text == word;
  }
  bool AtPunctuation(std::string_view text) const {
    return At(TokenKind::kPunctuation) && Peek().text == text;
  }
  // The end token is never passed, so that Peek stays valid after any error.
  Token Take() {
    const Token token = Peek();
    if (token.kind != TokenKind::kEnd) ++at_;
    return token;
  }
  bool Accept(std::string_view punctuation) {
    if (!AtPunctuation(punctuation)) return false;
    Take();
    return true;
  }
  bool AcceptWord(std::string_view word) {
    if (!AtWord(word)) return false;
    Take();
    return true;
  }
  void Expect(std::string_view punctuation) {
    if (ok() && !Accept(punctuation)) Expected(fmt::format("'{}'", punctuation));
  }
  void ExpectWord(std::string_view word) {
    if (ok() && !AcceptWord(word)) Expected(fmt::format("'{}'", word));
  }
  Token ExpectKind(TokenKind kind, std::string_view what) {
    if (ok() && !At(kind)) Expected(what);
    return ok() ? Take() : Token{};
  }

  // A token, or the token that a parameter of this name stands for.
  Token TakeResolved() {
    const Token token = Take();
    if (token.kind != TokenKind::kIdentifier) return token;
    const auto found = parameters_.find(token.text);
    if (found == parameters_.end()) return token;
    return {found->second.kind, found->second.text, token.location};
  }

  std::int64_t ParseInteger(std::int64_t low, std::int64_t high, std::string_view what) {
    if (!ok()) return 0;
    const Token token = TakeResolved();
    const auto value =
        token.kind == TokenKind::kNumber ? IntegerFromText(token.text) : std::nullopt;
    if (!value || *value < low || *value > high) {
      FailAt(token.location, "integer",
             fmt::format("{} must be an integer from {} to {}, found '{}'", what, low, high,
                         token.text));
      return 0;
    }
    return *value;
  }

  float ParseFloat(std::string_view what) {
    if (!ok()) return 0;
    const Token token = TakeResolved();
    if (token.text == "inv_sqrt") return ParseInverseSquareRoot();
    std::string text(token.text);
    if (token.text == "nan" && Accept("(")) {
      text = fmt::format("nan({})", Take().text);
      Expect(")");
    }
    const auto value = FloatFromText(text);
    if (!value) {
      FailAt(token.location, "float", fmt::format("{} must be a number, found '{}'", what, text));
      return 0;
    }
    return *value;
  }

  // inv_sqrt(n): 1 / sqrt(n), rounded once to f32.
  float ParseInverseSquareRoot() {
    Expect("(");
    const std::int64_t value = ParseInteger(1, 1 << 30, "the argument of inv_sqrt");
    Expect(")");
    return ok() ? static_cast<float>(1.0 / std::sqrt(static_cast<double>(value))) : 0;
  }

  FormatId ParseFormatName() {
    if (!ok()) return -1;
    const Token token = TakeResolved();
    const FormatId id =
        token.kind == TokenKind::kSymbol ? module_.FindFormat(token.text) : FormatId{-1};
    if (id < 0) {
      FailAt(token.location, "unknown-format",
             fmt::format("'{}{}' is not a format declared above",
                         token.kind == TokenKind::kSymbol ? "@" : "", token.text));
    }
    return id;
  }

  Scalar ParseScalar() {
    if (!ok()) return Scalar::kI32;
    const Token token = TakeResolved();
    const auto scalar =
        token.kind == TokenKind::kIdentifier ? ScalarFromName(token.text) : std::optional<Scalar>();
    if (!scalar) {
      FailAt(token.location, "unknown-type", fmt::format("'{}' is not a type", token.text));
    }
    return scalar.value_or(Scalar::kI32);
  }

  std::int32_t ParseDim() {
    return static_cast<std::int32_t>(ParseInteger(1, 65536, "a dimension"));
  }

  Type ParseType() {
    if (!ok()) return {};
    if (AcceptWord("vec")) {
      Expect("<");
      const std::int32_t dim = ParseDim();
      ExpectWord("x");
      const Type type = VecType(dim, ParseScalar());
      Expect(">");
      return type;
    }
    const bool rows = AtWord("rows");
    if (rows || AtWord("row")) {
      Take();
      Expect("<");
      const std::int32_t first = ParseDim();
      ExpectWord("x");
      const std::int32_t second = rows ? ParseDim() : 0;
      if (rows) ExpectWord("x");
      const FormatId format = ParseFormatName();
      Expect(">");
      return rows ? RowsType(first, second, format) : RowType(first, format);
    }
    return ScalarType(ParseScalar());
  }

  void ParseDeclaration() {
    const SourceLocation location = Peek().location;
    if (AcceptWord("param")) return ParseParameter();
    if (AcceptWord("format")) return ParseFormat(location);
    if (AcceptWord("layout")) return ParseLayout(location);
    if (AcceptWord("kernel")) return ParseKernel(location, false);
    if (AcceptWord("entry")) return ParseKernel(location, true);
    Expected("'param', 'format', 'layout', 'kernel' or 'entry'");
  }

  void ParseParameter() {
    const Token name = ExpectKind(TokenKind::kIdentifier, "the parameter's name");
    Expect("=");
    if (!ok()) return;
    const Token value = TakeResolved();
    if (value.kind == TokenKind::kEnd || value.kind == TokenKind::kPunctuation ||
        value.kind == TokenKind::kValue || value.kind == TokenKind::kError) {
      return FailAt(value.location, "syntax",
                    "a parameter is a number, a @format or the name of a type");
    }
    Parameter parameter{value.kind, std::string(value.text)};
    for (const ParameterOverride& given : overrides_) {
      if (given.name != name.text) continue;
      const std::vector<Token> tokens = Lex(given.value);
      if (tokens.size() != 2 || tokens[0].kind == TokenKind::kError ||
          tokens[0].kind == TokenKind::kPunctuation || tokens[0].kind == TokenKind::kValue) {
        return FailAt(value.location, "parameter",
                      fmt::format("'{}' is no value for parameter '{}'", given.value, name.text));
      }
      parameter = {tokens[0].kind, std::string(tokens[0].text)};
    }
    if (!parameters_.emplace(std::string(name.text), parameter).second) {
      FailAt(name.location, "redefinition",
             fmt::format("parameter '{}' is declared twice", name.text));
    }
  }

  // The name of a declaration after its keyword; no two of a kind share one.
  template <typename T>
  std::string ParseNewName(std::string_view what, const std::vector<T>& existing) {
    const Token token = ExpectKind(TokenKind::kSymbol, fmt::format("@name of the {}", what));
    for (const T& item : existing) {
      if (ok() && item.name == token.text) {
        FailAt(token.location, "redefinition",
               fmt::format("{} @{} is declared twice", what, token.text));
      }
    }
    return std::string(token.text);
  }

  std::int64_t ParseFieldValue(const FieldRow& row) {
    if (row.kind == FieldKind::kInteger) return ParseInteger(0, 1 << 20, row.key);
    if (row.kind == FieldKind::kFloat) return BitsOfFloat(ParseFloat(row.key));
    if (!ok()) return 0;
    const Token token = Take();
    const auto value = FieldKeywordValue(row.kind, token.text);
    if (!value) {
      std::string accepted;
      for (const FieldKeyword& keyword : AllFieldKeywords()) {
        if (keyword.kind == row.kind) accepted += fmt::format(" '{}'", keyword.text);
      }
      FailAt(token.location, "keyword",
             fmt::format("{} is one of{}, found '{}'", row.key, accepted, token.text));
    }
    return value.value_or(0);
  }

  // { key = value, ... } of one group; every key at most once.
  void ParseFields(FieldGroup group, void* data) {
    std::set<std::string_view> seen;
    Expect("{");
    while (ok() && !Accept("}")) {
      const Token key = ExpectKind(TokenKind::kIdentifier, "a field");
      const FieldRow* found = nullptr;
      for (const FieldRow& row : AllFields()) {
        if (row.group == group && row.key == key.text) found = &row;
      }
      if (ok() && found == nullptr) {
        FailAt(key.location, "unknown-field",
               fmt::format("{} has no field '{}'", GroupName(group), key.text));
      }
      if (ok() && !seen.insert(key.text).second) {
        FailAt(key.location, "redefinition", fmt::format("field '{}' is given twice", key.text));
      }
      Expect("=");
      if (!ok()) return;
      found->set(data, ParseFieldValue(*found));
      if (!AtPunctuation("}")) Expect(",");
    }
  }

  void ParseFormat(SourceLocation location) {
    Format format;
    format.name = ParseNewName("format", module_.formats);
    format.location = location;
    std::set<std::string_view> seen;
    Expect("{");
    while (ok() && !Accept("}")) {
      const Token group = Peek();
      if (!seen.insert(group.text).second) {
        return Fail("redefinition", fmt::format("'{}' is given twice", group.text));
      }
      if (AcceptWord("element")) {
        ParseFields(FieldGroup::kElement, &format.element);
      } else if (AcceptWord("block_scale")) {
        ParseFields(FieldGroup::kBlockScale, &format.block_scale.emplace());
      } else if (AcceptWord("row_scale")) {
        ParseFields(FieldGroup::kRowScale, &format.row_scale.emplace());
      } else {
        Expected("'element', 'block_scale', 'row_scale' or '}'");
      }
    }
    if (ok() && !seen.contains("element")) {
      FailAt(location, "format", fmt::format("format @{} says no element", format.name));
    }
    if (ok()) module_.formats.push_back(std::move(format));
  }

  void ParseLayout(SourceLocation location) {
    Layout layout;
    layout.name = ParseNewName("layout", module_.layouts);
    layout.location = location;
    ParseFields(FieldGroup::kLayout, &layout);
    if (ok()) module_.layouts.push_back(std::move(layout));
  }

  void ParseKernel(SourceLocation location, bool is_entry) {
    kernel_ = Kernel{};
    kernel_.location = location;
    kernel_.is_entry = is_entry;
    kernel_.name = ParseNewName("kernel", module_.kernels);
    scope_.clear();
    Expect(":");
    const Token kind = ExpectKind(TokenKind::kIdentifier, "what the kernel is for");
    if (!ok()) return;
    const auto known = KernelKindFromName(kind.text);
    if (!known) {
      std::string accepted;
      for (const KernelKindRow& row : AllKernelKinds()) accepted += fmt::format(" {}", row.text);
      return FailAt(kind.location, "kernel-kind",
                    fmt::format("'{}' is no kind of kernel; there are{}", kind.text, accepted));
    }
    kernel_.kind = *known;
    if (AcceptWord("layout")) ParseLayoutName();
    if (is_entry) ParseLaunch();
    ParseTypedNames(kernel_.body.arguments);
    ParseResultTypes();
    Expect("{");
    ParseBlockBody(kernel_.body, 0);
    if (ok()) module_.kernels.push_back(std::move(kernel_));
  }

  void ParseLayoutName() {
    const Token token = ExpectKind(TokenKind::kSymbol, "@name of a layout");
    kernel_.layout = module_.FindLayout(token.text);
    if (ok() && kernel_.layout < 0) {
      FailAt(token.location, "unknown-layout",
             fmt::format("'@{}' is not a layout declared above", token.text));
    }
  }

  void ParseLaunch() {
    const auto number = [this](std::string_view what, std::int64_t high) {
      return static_cast<std::int32_t>(ParseInteger(0, high, what));
    };
    ExpectWord("threads");
    kernel_.threads = number("threads", 1024);
    ExpectWord("tile");
    kernel_.tile_rows = number("rows of a tile", 1 << 20);
    Expect(",");
    kernel_.tile_columns = number("columns of a tile", 1 << 20);
    ExpectWord("shared");
    kernel_.shared_bytes = number("bytes of shared memory", 1 << 20);
  }

  // (%name: type, ...), all defined here.
  void ParseTypedNames(std::vector<ValueId>& names) {
    Expect("(");
    while (ok() && !Accept(")")) {
      const Token name = ExpectKind(TokenKind::kValue, "a %name");
      Expect(":");
      const Type type = ParseType();
      if (ok()) names.push_back(Define(name, type));
      if (!AtPunctuation(")")) Expect(",");
    }
  }

  void ParseResultTypes() {
    if (!Accept("->")) return;
    Expect("(");
    while (ok() && !Accept(")")) {
      kernel_.results.push_back(ParseType());
      if (!AtPunctuation(")")) Expect(",");
    }
  }

  ValueId Define(const Token& name, Type type) {
    // A name of digits is the printer's; it is given anew.
    const bool numbered = name.text.find_first_not_of("0123456789") == std::string_view::npos;
    const ValueId id = kernel_.NewValue(type, numbered ? std::string() : std::string(name.text));
    if (!scope_.emplace(std::string(name.text), id).second) {
      FailAt(name.location, "redefinition",
             fmt::format("%{} is defined twice in this kernel", name.text));
    }
    return id;
  }

  ValueId ParseUse() {
    const Token name = ExpectKind(TokenKind::kValue, "a %value");
    if (!ok()) return 0;
    const auto found = scope_.find(name.text);
    if (found == scope_.end()) {
      FailAt(name.location, "undefined", fmt::format("%{} is not defined above", name.text));
      return 0;
    }
    return found->second;
  }

  // Ops up to and with the closing brace.
  void ParseBlockBody(Block& block, int depth) {
    if (ok() && depth > kMaxDepth) {
      Fail("depth", fmt::format("regions nest deeper than {}", kMaxDepth));
    }
    while (ok() && !Accept("}")) {
      Op op;
      ParseOp(op, depth);
      if (ok()) block.ops.push_back(std::move(op));
    }
  }

  void ParseOp(Op& op, int depth) {
    std::vector<Token> results;
    if (At(TokenKind::kValue)) {
      do {
        results.push_back(ExpectKind(TokenKind::kValue, "a %result"));
      } while (ok() && Accept(","));
      Expect("=");
    }
    const Token mnemonic = ExpectKind(TokenKind::kIdentifier, "an op");
    if (!ok()) return;
    op.location = mnemonic.location;
    const auto code = OpFromMnemonic(mnemonic.text);
    if (!code) {
      return FailAt(mnemonic.location, "unknown-op",
                    fmt::format("there is no op '{}'", mnemonic.text));
    }
    op.code = *code;
    if (op.code == OpCode::kFor) return ParseFor(op, results, depth);
    if (op.code == OpCode::kIf) return ParseIf(op, results, depth);
    if (op.code == OpCode::kTileScores) return ParseTileScores(op, depth);
    if (op.code == OpCode::kConst) return ParseConstant(op, results);
    // A %value behind an op without operands is the next op's result.
    if (RowOf(op.code).operands != 0 && At(TokenKind::kValue)) {
      do {
        op.operands.push_back(ParseUse());
      } while (ok() && Accept(","));
    }
    ParseAttributes(op);
    ParseResults(op, results);
  }

  // ": type, type" for the results, which are defined here.
  void ParseResults(Op& op, const std::vector<Token>& results) {
    if (results.empty()) return;
    Expect(":");
    for (std::size_t i = 0; ok() && i < results.size(); ++i) {
      if (i > 0) Expect(",");
      const Type type = ParseType();
      if (ok()) op.results.push_back(Define(results[i], type));
    }
  }

  void ParseConstant(Op& op, const std::vector<Token>& results) {
    const std::size_t number_at = at_;
    // The type stands behind the number but says how to read it.
    int nesting = 0;
    while (ok() && !At(TokenKind::kEnd) && (nesting > 0 || !AtPunctuation(":"))) {
      nesting += AtPunctuation("(") ? 1 : AtPunctuation(")") ? -1 : 0;
      Take();
    }
    ParseResults(op, results);
    if (!ok()) return;
    if (op.results.size() != 1) return FailAt(op.location, "results", "const has one result");
    const std::size_t after = at_;
    at_ = number_at;
    const Type type = kernel_.TypeOf(op.results[0]);
    if (type.IsF32()) {
      op.constant = BitsOfFloat(ParseFloat("the constant"));
    } else {
      constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
      constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
      std::int64_t value = ParseInteger(kLow, kHigh, "the constant");
      // One number has one text: 0xffffffff is -1.
      constexpr std::int64_t kTop = std::int64_t{1} << 31;
      if (type.IsScalar(Scalar::kI32) && value >= kTop && value < 2 * kTop) value -= 2 * kTop;
      op.constant = static_cast<std::uint64_t>(value);
    }
    if (ok() && !AtPunctuation(":")) Expected("':'");
    at_ = after;
  }

  // Whether attributes follow and not the body of a loop: only they begin with `key =`.
  bool AtAttributes() const {
    return AtPunctuation("{") && at_ + 2 < tokens_.size() &&
           tokens_[at_ + 1].kind == TokenKind::kIdentifier && tokens_[at_ + 2].text == "=";
  }

  void ParseAttributes(Op& op) {
    if (!Accept("{")) return;
    while (ok() && !Accept("}")) {
      const Token key = ExpectKind(TokenKind::kIdentifier, "an attribute");
      const auto known = AttributeFromText(key.text);
      if (ok() && !known) {
        FailAt(key.location, "attribute", fmt::format("there is no attribute '{}'", key.text));
      }
      Expect("=");
      if (!ok()) return;
      op.attributes.push_back({*known, ParseAttributeValue(RowOf(*known))});
      if (!AtPunctuation("}")) Expect(",");
    }
  }

  std::int64_t ParseAttributeValue(const AttributeRow& row) {
    if (row.kind == AttributeKind::kInteger) return ParseInteger(0, 1 << 20, row.text);
    if (row.kind == AttributeKind::kFormat) return ParseFormatName();
    const Token token = TakeResolved();
    const auto value = KeywordValue(row.kind, token.text);
    if (!value) {
      FailAt(token.location, "attribute",
             fmt::format("'{}' is no value of attribute '{}'", token.text, row.text));
    }
    return value.value_or(0);
  }

  void ParseFor(Op& op, const std::vector<Token>& results, int depth) {
    Block body;
    const Token index = ExpectKind(TokenKind::kValue, "the %index");
    Expect("=");
    for (int i = 0; ok() && i < 3; ++i) {
      if (i > 0) Expect(",");
      op.operands.push_back(ParseUse());
    }
    if (!ok()) return;
    body.arguments.push_back(Define(index, kernel_.TypeOf(op.operands[0])));
    std::vector<Type> carried;
    if (AcceptWord("with")) {
      Expect("(");
      while (ok() && !Accept(")")) {
        const Token name = ExpectKind(TokenKind::kValue, "a carried %value");
        Expect("=");
        const ValueId initial = ParseUse();
        if (!ok()) return;
        op.operands.push_back(initial);
        carried.push_back(kernel_.TypeOf(initial));
        body.arguments.push_back(Define(name, carried.back()));
        if (!AtPunctuation(")")) Expect(",");
      }
    }
    if (AtAttributes()) ParseAttributes(op);
    Expect("{");
    ParseBlockBody(body, depth + 1);
    if (!ok()) return;
    if (results.size() != carried.size()) {
      return FailAt(op.location, "results",
                    fmt::format("the loop carries {} values and is given {} result names",
                                carried.size(), results.size()));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      op.results.push_back(Define(results[i], carried[i]));
    }
    op.regions.push_back(std::move(body));
  }

  void ParseTileScores(Op& op, int depth) {
    ParseAttributes(op);
    for (const std::string_view name : {"head", "finish"}) {
      Block& region = op.regions.emplace_back();
      ExpectWord(name);
      ParseTypedNames(region.arguments);
      Expect("{");
      ParseBlockBody(region, depth + 1);
    }
  }

  void ParseIf(Op& op, const std::vector<Token>& results, int depth) {
    op.operands.push_back(ParseUse());
    std::vector<Type> types;
    if (!results.empty()) {
      Expect(":");
      for (std::size_t i = 0; ok() && i < results.size(); ++i) {
        if (i > 0) Expect(",");
        types.push_back(ParseType());
      }
    }
    op.regions.resize(2);
    Expect("{");
    ParseBlockBody(op.regions[0], depth + 1);
    ExpectWord("else");
    Expect("{");
    ParseBlockBody(op.regions[1], depth + 1);
    for (std::size_t i = 0; ok() && i < results.size(); ++i) {
      op.results.push_back(Define(results[i], types[i]));
    }
  }

  struct Parameter {
    TokenKind kind;
    std::string text;
  };

  Module& module_;
  std::vector<Token> tokens_;
  const std::vector<ParameterOverride>& overrides_;
  std::size_t at_ = 0;
  std::optional<Diagnostic> error_;
  std::map<std::string, Parameter, std::less<>> parameters_;
  Kernel kernel_;
  // Every value of the kernel by name. A name is used once in a kernel; that an op only uses values
  // of its own and outer regions is the verifier's rule "dominance".
  std::map<std::string, ValueId, std::less<>> scope_;
};

}  // namespace

Status ParseInto(Module& module, std::string_view text, std::string_view file_name,
                 const std::vector<ParameterOverride>& overrides) {
  Parser parser(module, text, overrides);
  if (parser.Run()) return {};
  return InvalidArgument(RenderDiagnostic(parser.error(), file_name, text));
}

Result<Module> ParseAndVerify(std::string_view text, std::string_view file_name,
                              const std::vector<ParameterOverride>& overrides) {
  Module module;
  LIJIT_TRY(ParseInto(module, text, file_name, overrides));
  if (const auto problems = Verify(module); !problems.empty()) {
    return InvalidArgument(RenderDiagnostics(problems, file_name, text));
  }
  return module;
}

}  // namespace lijit::ir
