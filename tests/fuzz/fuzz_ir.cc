// SPDX-License-Identifier: Apache-2.0
// Any text: parser, verifier and printer do not crash; what is sound comes back from its own text
// and can be evaluated.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/declarations.h"
#include "compiler/ir/evaluate_body.h"
#include "compiler/ir/lexer.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"

namespace lijit::ir {
namespace {

// Zeros of the parameter's type.
EvaluatedValue ZeroOf(const BodyEvaluator& body, const Type& type) {
  const auto dim = static_cast<std::size_t>(type.dim);
  const std::vector<float> zeros(dim);
  switch (type.shape) {
    case Type::Shape::kScalar:
      return NumberValue(0);
    case Type::Shape::kVec:
      return NumbersValue(zeros);
    case Type::Shape::kRow:
    case Type::Shape::kRows:
      break;
  }
  const StoredRow row = body.CodesOf(type).Encode(zeros);
  return RowsValue(std::vector(static_cast<std::size_t>(std::max(type.heads, 1)), row));
}

void Evaluate(const Module& module, const Kernel& kernel) {
  const BodyEvaluator body(module, kernel);
  std::vector<EvaluatedValue> parameters;
  for (const ValueId id : kernel.body.arguments) {
    parameters.push_back(ZeroOf(body, kernel.TypeOf(id)));
  }
  LIJIT_CHECK(body.Run(parameters).size() == kernel.results.size());
}

// Tables of 16-bit codes take too long to make for every input.
bool HasWideFormat(const Module& module) {
  for (const Format& format : module.formats) {
    if (format.element.Bits() == 16) return true;
  }
  return false;
}

void Run(std::string_view text) {
  Module module;
  const Status parsed = ParseInto(module, text, "fuzz.lir");
  if (!parsed.ok()) {
    LIJIT_CHECK(!parsed.error().message.empty());
    return;
  }
  const std::string printed = Print(module);
  if (const auto problems = Verify(module); !problems.empty()) {
    LIJIT_CHECK(!RenderDiagnostics(problems, "fuzz.lir", text).empty());
    return;
  }
  const auto again = ParseAndVerify(printed, "printed.lir");
  LIJIT_CHECK(again.ok());
  LIJIT_CHECK(Print(*again) == printed);
  for (const Kernel& kernel : module.kernels) {
    if (!kernel.is_entry && !HasWideFormat(module)) Evaluate(module, kernel);
  }
}

// Every word of the tables.
std::vector<std::string_view> AllWords() {
  std::vector<std::string_view> words = {"64",   "0",  "-1", "vec", "row",
                                         "rows", "%x", "@f", "{",   "}"};
  for (const OpRow& row : AllOps()) words.push_back(row.mnemonic);
  for (const AttributeRow& row : AllAttributes()) words.push_back(row.text);
  for (const KernelKindRow& row : AllKernelKinds()) words.push_back(row.text);
  for (const FieldRow& row : AllFields()) words.push_back(row.key);
  for (const FieldKeyword& row : AllFieldKeywords()) words.push_back(row.text);
  for (const char* scalar : {"i1", "i32", "i64", "f32", "bf16", "f16", "ptr"})
    words.push_back(scalar);
  return words;
}

// Puts another word or token of the same text in the place of a token, or drops the token.
std::string Mutated(std::string_view text, std::mt19937& random) {
  static const std::vector<std::string_view> words = AllWords();
  const std::vector<Token> tokens = Lex(text);
  const auto any = [&] { return tokens[random() % tokens.size()]; };
  const Token token = any();
  const auto sigil = [](const Token& t) {
    return t.kind == TokenKind::kValue || t.kind == TokenKind::kSymbol ? 1 : 0;
  };
  const auto whole = [&](const Token& t) {
    return std::string_view(t.text.data() - sigil(t),
                            t.text.size() + static_cast<std::size_t>(sigil(t)));
  };
  if (token.kind == TokenKind::kEnd) return std::string(text);
  const std::string_view old = whole(token);
  const auto begin = static_cast<std::size_t>(old.data() - text.data());
  const Token other = any();
  const std::string_view from_text =
      other.kind == TokenKind::kEnd ? std::string_view() : whole(other);
  const std::string_view put = random() % 2 == 0 ? words[random() % words.size()] : from_text;
  std::string result(text.substr(0, begin));
  result += put;
  result += text.substr(begin + old.size());
  return result;
}

}  // namespace
}  // namespace lijit::ir

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Every other mutation is one of tokens: those of bytes seldom reach the verifier.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  std::mt19937 random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text =
      lijit::ir::Mutated({reinterpret_cast<const char*>(data), size}, random).substr(0, max_size);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lijit::ir::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
