// SPDX-License-Identifier: Apache-2.0
// Runs every .lir file below this folder (test_file.h says what they look like). With LIJIT_BLESS=1
// in the environment, `// expect:` texts are replaced by what came out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/filetests/commands.h"
#include "tools/line_diff.h"

namespace lijit::filetests {
namespace {

const std::filesystem::path kFolder = LIJIT_SOURCE_DIR "/tests/filetests";

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (entry.path().extension() == ".lir") {
      names.push_back(std::filesystem::relative(entry.path(), kFolder).generic_string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void CompareText(const TestFile& file, const std::string& output) {
  const std::string expected = ExpectedOutput(file.text);
  if (output == expected) return;
  const char* bless = std::getenv("LIJIT_BLESS");
  if (bless != nullptr && std::string_view(bless) == "1") {
    std::ofstream(kFolder / file.name, std::ios::binary) << WithExpectedOutput(file.text, output);
    return;
  }
  ADD_FAILURE() << file.name << " gives another output:\n"
                << tools::LineDiff(expected, output)
                << "If the new one is right, run the test again with LIJIT_BLESS=1.";
}

class FileTest : public testing::TestWithParam<std::string> {};

TEST_P(FileTest, Holds) {
  const auto file = ReadTestFile(GetParam(), ReadAll(kFolder / GetParam()));
  ASSERT_TRUE(file.ok()) << file.error().message;
  const Command* command = FindCommand(file->command);
  ASSERT_NE(command, nullptr) << "there is no command '" << file->command << "'";
  const Result<std::string> output = command->run(*file);
  if (!output.ok() && output.error().code == ErrorCode::kUnavailable) {
    GTEST_SKIP() << output.error().message;
  }
  ASSERT_TRUE(output.ok()) << output.error().message;
  if (command->expectation == Command::Expectation::kText) return CompareText(*file, *output);
  EXPECT_EQ(CompareErrors(file->text, *output), "") << *output;
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Lir, FileTest, testing::ValuesIn(AllNames()), TestName);

// The rules that a comment at the head of a source file lists, two columns each.
std::set<std::string> ListedRules(const std::string& source) {
  static const std::regex kLine("//   ([a-z-]+)  +[^ ].*");
  std::istringstream stream(ReadAll(LIJIT_SOURCE_DIR "/" + source));
  std::set<std::string> rules;
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kLine)) rules.insert(match[1]);
  }
  return rules;
}

TEST(VerifierRules, EachHasAFileThatBreaksIt) {
  const std::set<std::string> rules = ListedRules("compiler/ir/verifier.h");
  EXPECT_GE(rules.size(), 15u);
  for (const std::string& rule : rules) {
    const std::filesystem::path path = kFolder / "verifier" / (rule + ".lir");
    ASSERT_TRUE(std::filesystem::exists(path)) << "no file test breaks rule " << rule;
    EXPECT_NE(ReadAll(path).find("[" + rule + "]"), std::string::npos) << path;
  }
}

// The rules that verifier.cc reports are those that verifier.h lists.
TEST(VerifierRules, AreThoseThatAreReported) {
  static const std::regex kReport("(?:report\\(|location, |Report\\([^\"]*)\\s*\"([a-z-]+)\"");
  const std::string source = ReadAll(LIJIT_SOURCE_DIR "/compiler/ir/verifier.cc");
  std::set<std::string> reported;
  for (std::sregex_iterator it(source.begin(), source.end(), kReport), end; it != end; ++it) {
    reported.insert((*it)[1]);
  }
  EXPECT_EQ(reported, ListedRules("compiler/ir/verifier.h"));
}

}  // namespace
}  // namespace lijit::filetests
