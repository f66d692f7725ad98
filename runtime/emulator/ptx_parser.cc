// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/ptx_parser.h"

#include <unordered_map>
#include <utility>

#include "runtime/emulator/ptx_body_parser.h"
#include "runtime/emulator/ptx_declarations.h"
#include "runtime/emulator/token_stream.h"

namespace lijit::emulator {
namespace {

class ModuleParser {
 public:
  explicit ModuleParser(Module& module) : tokens_(*module.text), module_(module) {}

  Status Parse();

 private:
  Status ParseItem();
  Status ParseVersion();
  Status ParseTarget();
  Status ParseAddressSize();
  Status ParseVariableDeclaration(Space space, bool is_external);
  Status ParseFunction(bool is_entry);
  Status ParseParameters(Function& function, std::vector<std::uint32_t>& indices);
  Status ParsePerformanceDirective(Function& function);
  Result<Dimensions> ParseDimensions();
  Status AddFunction(Function function);

  TokenStream tokens_;
  Module& module_;
  std::unordered_map<std::string_view, std::size_t> functions_;
  std::unordered_map<std::string_view, std::size_t> variables_;
};

Status ModuleParser::Parse() {
  while (!tokens_.AtEnd()) {
    if (!tokens_.TakeIf(';')) LIJIT_TRY(ParseItem());
  }
  if (module_.version.empty()) return tokens_.Fail("the text has no .version");
  if (module_.target.empty()) return tokens_.Fail("the text has no .target");
  return {};
}

Status ModuleParser::ParseItem() {
  bool is_external = false;
  while (true) {
    if (tokens_.TakeIfWord(".extern")) {
      is_external = true;
    } else if (!tokens_.TakeIfWord(".visible") && !tokens_.TakeIfWord(".weak") &&
               !tokens_.TakeIfWord(".common")) {
      break;
    }
  }
  LIJIT_ASSIGN(const std::string_view directive, tokens_.ExpectWord("a directive"));
  if (directive == ".version") return ParseVersion();
  if (directive == ".target") return ParseTarget();
  if (directive == ".address_size") return ParseAddressSize();
  if (directive == ".entry") return ParseFunction(true);
  if (directive == ".func") return ParseFunction(false);
  if (directive == ".file" || directive == ".loc" || directive == ".pragma") {
    tokens_.SkipLine();
    return {};
  }
  if (directive == ".section") {
    LIJIT_ASSIGN([[maybe_unused]] const std::string_view name, tokens_.ExpectWord("a section"));
    return tokens_.SkipBlock();
  }
  const std::optional<Space> space = SpaceOfDirective(directive);
  if (space && *space != Space::kParam && *space != Space::kLocal) {
    return ParseVariableDeclaration(*space, is_external);
  }
  return tokens_.Fail(fmt::format("unknown directive '{}'", directive.substr(0, 64)));
}

Status ModuleParser::ParseVersion() {
  const Token token = tokens_.token();
  if (token.kind != TokenKind::kFloat64) return tokens_.Unexpected("a version such as 9.0");
  module_.version = tokens_.Take().text;
  return {};
}

Status ModuleParser::ParseTarget() {
  LIJIT_ASSIGN(module_.target, tokens_.ExpectWord("a target"));
  while (tokens_.TakeIf(',')) {  // "debug", "texmode_independent"
    LIJIT_ASSIGN([[maybe_unused]] const std::string_view option, tokens_.ExpectWord("an option"));
  }
  return {};
}

Status ModuleParser::ParseAddressSize() {
  LIJIT_ASSIGN(const std::uint64_t bits, tokens_.ExpectInteger("an address size"));
  if (bits != 64) return tokens_.Fail("only .address_size 64 is supported");
  return {};
}

Status ModuleParser::ParseVariableDeclaration(Space space, bool is_external) {
  LIJIT_ASSIGN(std::vector<Variable> variables,
               ParseVariables(tokens_, space, is_external, module_));
  for (Variable& variable : variables) {
    if (is_external && space != Space::kShared) {
      return tokens_.Fail(fmt::format("'{}' is defined in another module", variable.name));
    }
    if (!variables_.emplace(variable.name, module_.variables.size()).second) {
      return tokens_.Fail(fmt::format("'{}' is declared twice", variable.name));
    }
    module_.variables.push_back(std::move(variable));
  }
  return tokens_.Expect(';');
}

Status ModuleParser::ParseFunction(bool is_entry) {
  Function function;
  function.is_entry = is_entry;
  function.line = tokens_.line();
  if (!is_entry && tokens_.token().Is('(')) {
    LIJIT_TRY(ParseParameters(function, function.results));
  }
  LIJIT_ASSIGN(function.name, tokens_.ExpectWord("a function name"));
  if (tokens_.token().Is('(')) LIJIT_TRY(ParseParameters(function, function.parameters));
  while (tokens_.token().kind == TokenKind::kWord) LIJIT_TRY(ParsePerformanceDirective(function));
  if (!tokens_.TakeIf(';')) {
    function.is_defined = true;
    LIJIT_TRY(BodyParser(tokens_, module_, function).Parse());
  }
  return AddFunction(std::move(function));
}

Status ModuleParser::ParseParameters(Function& function, std::vector<std::uint32_t>& indices) {
  LIJIT_TRY(tokens_.Expect('('));
  if (tokens_.TakeIf(')')) return {};
  do {
    LIJIT_ASSIGN(Variable parameter, ParseParameter(tokens_));
    indices.push_back(static_cast<std::uint32_t>(function.variables.size()));
    function.variables.push_back(std::move(parameter));
  } while (tokens_.TakeIf(','));
  return tokens_.Expect(')');
}

Result<Dimensions> ModuleParser::ParseDimensions() {
  Dimensions dimensions{1, 1, 1};
  std::size_t i = 0;
  do {
    LIJIT_ASSIGN(const std::uint64_t value, tokens_.ExpectInteger("a number"));
    if (i == dimensions.size() || value > UINT32_MAX) return tokens_.Fail("bad dimensions");
    dimensions[i++] = static_cast<std::uint32_t>(value);
  } while (tokens_.TakeIf(','));
  return dimensions;
}

Status ModuleParser::ParsePerformanceDirective(Function& function) {
  const std::string_view directive = tokens_.token().text;
  if (directive == ".pragma") {
    tokens_.SkipLine();
    return {};
  }
  tokens_.Take();
  if (directive == ".noreturn" || directive == ".explicitcluster") return {};
  if (directive == ".maxntid") {
    LIJIT_ASSIGN(function.max_threads, ParseDimensions());
    return {};
  }
  if (directive == ".reqntid") {
    LIJIT_ASSIGN(function.required_threads, ParseDimensions());
    return {};
  }
  if (directive == ".reqnctapercluster") {
    LIJIT_ASSIGN(const Dimensions cluster, ParseDimensions());
    if (cluster != Dimensions{1, 1, 1}) return tokens_.Fail("clusters are not supported");
    return {};
  }
  for (std::string_view hint : {".minnctapersm", ".maxnreg", ".maxnctapersm", ".maxclusterrank"}) {
    if (directive != hint) continue;
    LIJIT_ASSIGN([[maybe_unused]] const std::uint64_t value, tokens_.ExpectInteger("a number"));
    return {};
  }
  return tokens_.Fail(fmt::format("unknown directive '{}' of a function", directive.substr(0, 64)));
}

// A declaration may come before the definition.
Status ModuleParser::AddFunction(Function function) {
  const auto [place, added] = functions_.emplace(function.name, module_.functions.size());
  if (added) {
    module_.functions.push_back(std::move(function));
    return {};
  }
  Function& known = module_.functions[place->second];
  if (known.is_defined && function.is_defined) {
    return ErrorAtLine(function.line, fmt::format("'{}' is defined twice", function.name));
  }
  if (function.is_defined) known = std::move(function);
  return {};
}

}  // namespace

Result<Module> ParsePtx(std::string_view text) {
  Module module;
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);  // NVRTC counts it in
  module.text = std::make_unique<const std::string>(text);
  LIJIT_TRY(ModuleParser(module).Parse());
  return module;
}

}  // namespace lijit::emulator
