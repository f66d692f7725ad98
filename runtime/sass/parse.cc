// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace lijit::sass {
namespace {

constexpr std::string_view kCodeSection = ".text.";
constexpr std::string_view kBlanks = " \t\r";

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// What stands before the next blank, which is taken from `text`.
std::string_view TakeWord(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  text = Trim(text.substr(end));
  return word;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(Trim(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// `(.L_x_1) of branches, and (*"BRANCH_TARGETS .L_x_1,.L_x_2"*) of indirect ones.
std::vector<std::string> LabelsIn(std::string_view operands) {
  std::vector<std::string> labels;
  for (std::size_t at = 0; (at = operands.find("`(", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(operands.find(')', at), operands.size());
    labels.emplace_back(operands.substr(at + 2, end - at - 2));
    at = end;
  }
  constexpr std::string_view kTargets = "BRANCH_TARGETS ";
  const std::size_t list = operands.find(kTargets);
  if (list == std::string_view::npos) return labels;
  operands.remove_prefix(list + kTargets.size());
  for (std::string& label : Split(operands.substr(0, operands.find('"')), ',')) {
    labels.push_back(std::move(label));
  }
  return labels;
}

// "/*0120*/   @!P0 BRA `(.L_x_0) ;"
std::optional<Instruction> ParseInstruction(std::string_view line) {
  Instruction instruction;
  line.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(line.data(), line.data() + line.size(), instruction.address, 16);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  const std::size_t stop = line.rfind(';');
  if (error != std::errc() || !line.starts_with("*/") || stop == std::string_view::npos) return {};
  line = Trim(line.substr(2, stop - 2));
  if (line.starts_with('@')) instruction.guard = TakeWord(line);
  instruction.name = TakeWord(line);
  if (instruction.name.empty()) return {};
  instruction.operands = Split(line, ',');
  instruction.labels = LabelsIn(line);
  instruction.modifiers = Split(instruction.name, '.');
  instruction.modifiers.erase(instruction.modifiers.begin());
  return instruction;
}

class Parser {
 public:
  // False: nothing that is known.
  bool Line(std::string_view line) {
    line = Trim(line);
    if (line.empty() || line.starts_with("//")) return true;
    if (line.starts_with("/*")) return AddInstruction(line);
    if (line.ends_with(':')) return AddLabel(line.substr(0, line.size() - 1));
    return line.starts_with('.');
  }

  std::vector<Function> Take() {
    std::erase_if(functions_, [](const Function& f) { return f.instructions.empty(); });
    return std::move(functions_);
  }

 private:
  bool AddLabel(std::string_view label) {
    if (label.starts_with(kCodeSection)) {
      functions_.emplace_back().name = label.substr(kCodeSection.size());
    } else if (!functions_.empty()) {
      Function& function = functions_.back();
      function.labels.emplace(label, function.instructions.size());
    }
    return true;
  }

  bool AddInstruction(std::string_view line) {
    std::optional<Instruction> instruction = ParseInstruction(line);
    if (!instruction || functions_.empty()) return false;
    functions_.back().instructions.push_back(*std::move(instruction));
    return true;
  }

  std::vector<Function> functions_;
};

}  // namespace

bool Instruction::HasModifier(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Result<std::vector<Function>> ParseSass(std::string_view text) {
  Parser parser;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (parser.Line(line)) continue;
    return InvalidArgument(fmt::format(
        "line {} of the SASS, '{}', is neither an instruction of a .text section, a label nor a "
        "directive; accepted is what nvdisasm -c prints",
        number, line.substr(0, 80)));
  }
  return parser.Take();
}

int RegisterOf(std::string_view operand) {
  operand.remove_prefix(std::min(operand.find_first_not_of("-~|!"), operand.size()));
  if (!operand.starts_with('R')) return -1;
  int number = -1;
  std::from_chars(operand.data() + 1, operand.data() + operand.size(), number);
  return number;
}

}  // namespace lijit::sass
