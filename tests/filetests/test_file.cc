// SPDX-License-Identifier: Apache-2.0
#include "tests/filetests/test_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

namespace lijit::filetests {
namespace {

constexpr std::string_view kExpect = "\n// expect:\n";
constexpr std::string_view kError = "// error: ";

std::vector<std::string> Words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> Lines(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

struct LineError {
  int line;
  std::string message;
  std::string rule;
};

// "message [rule]"
LineError SplitRule(int line, const std::string& text) {
  const std::size_t open = text.rfind(" [");
  const std::size_t close = text.rfind(']');
  if (open == std::string::npos || close == std::string::npos) return {line, text, ""};
  return {line, text.substr(0, open), text.substr(open + 2, close - open - 2)};
}

std::vector<LineError> AnnotatedErrors(std::string_view text) {
  std::vector<LineError> errors;
  int number = 0;
  for (const std::string& line : Lines(text)) {
    ++number;
    for (std::size_t at = line.find(kError); at != std::string::npos;) {
      const std::size_t begin = at + kError.size();
      at = line.find(kError, begin);
      errors.push_back(SplitRule(number, line.substr(begin, at - begin)));
    }
  }
  return errors;
}

std::vector<LineError> ReportedErrors(std::string_view diagnostics) {
  static const std::regex kPattern(R"(^[^:]*:(\d+):\d+: error: (.*)$)");
  std::vector<LineError> errors;
  for (const std::string& line : Lines(diagnostics)) {
    std::smatch match;
    if (std::regex_match(line, match, kPattern)) {
      errors.push_back(SplitRule(std::stoi(match[1]), match[2]));
    }
  }
  return errors;
}

}  // namespace

Result<TestFile> ReadTestFile(const std::string& name, std::string text) {
  TestFile file{name, std::move(text), {}, {}, {}};
  for (const std::string& line : Lines(file.text)) {
    const std::vector<std::string> words = Words(line);
    if (words.size() < 3 || words[0] != "//") continue;
    if (words[1] == "use") file.uses.push_back(words[2]);
    if (words[1] != "test") continue;
    if (!file.command.empty()) {
      return InvalidArgument(fmt::format("{} has two `// test` lines; a file is one test", name));
    }
    file.command = words[2];
    file.arguments.assign(words.begin() + 3, words.end());
  }
  if (file.command.empty()) {
    return InvalidArgument(fmt::format("{} has no line `// test <command>`", name));
  }
  return file;
}

std::string ExpectedOutput(std::string_view text) {
  const std::size_t at = text.find(kExpect);
  if (at == std::string_view::npos) return {};
  std::string output;
  for (const std::string& line : Lines(text.substr(at + kExpect.size()))) {
    output += line.starts_with("// ") ? line.substr(3) : line == "//" ? "" : line;
    output += '\n';
  }
  return output;
}

std::string WithExpectedOutput(std::string_view text, std::string_view output) {
  std::string blessed(text.substr(0, text.find(kExpect)));
  while (blessed.ends_with('\n')) blessed.pop_back();
  blessed += "\n";
  blessed += kExpect;
  for (const std::string& line : Lines(output))
    blessed += line.empty() ? "//\n" : "// " + line + "\n";
  return blessed;
}

std::string CompareErrors(std::string_view text, std::string_view diagnostics) {
  std::vector<LineError> wanted = AnnotatedErrors(text);
  std::string problems;
  for (const LineError& error : ReportedErrors(diagnostics)) {
    const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const LineError& one) {
      return one.line == error.line && one.rule == error.rule &&
             error.message.find(one.message) != std::string::npos;
    });
    if (found != wanted.end()) {
      wanted.erase(found);
    } else {
      problems +=
          fmt::format("unexpected at line {}: {} [{}]\n", error.line, error.message, error.rule);
    }
  }
  for (const LineError& error : wanted) {
    problems += fmt::format("missing at line {}: {} [{}]\n", error.line, error.message, error.rule);
  }
  return problems;
}

}  // namespace lijit::filetests
