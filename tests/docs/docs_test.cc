// SPDX-License-Identifier: Apache-2.0
// README says what is true: its examples are the programs that the package tests build and run, its
// support table is what the program prints, and its links lead somewhere. So does
// docs/operations.md: its counters are those of the cache. (Its commands are run by
// tests/cli/operations_test.cc.) LIJIT_BLESS=1 rewrites the generated parts.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "lijit/cache.h"

namespace lijit {
namespace {

const std::filesystem::path kRoot = LIJIT_SOURCE_DIR;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What `lijit targets --markdown` prints.
std::string SupportTable() {
  std::string text;
  std::FILE* pipe = popen("'" LIJIT_PROGRAM "' targets --markdown", "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  return text;
}

// Checks the part of a file between two marks, or rewrites it.
void ExpectPart(const std::string& file, const std::string& begin, const std::string& end,
                const std::string& wanted) {
  std::string text = ReadFile(kRoot / file);
  const std::size_t first = text.find(begin);
  ASSERT_NE(first, std::string::npos) << file << " lacks '" << begin << "'";
  const std::size_t from = first + begin.size();
  const std::size_t to = text.find(end, from);
  ASSERT_NE(to, std::string::npos) << file << " lacks '" << end << "'";
  if (std::getenv("LIJIT_BLESS") != nullptr) {
    text.replace(from, to - from, wanted);
    std::ofstream(kRoot / file, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text.substr(from, to - from), wanted) << "LIJIT_BLESS=1 rewrites it";
}

TEST(Docs, ReadmeExamplesAreTheProgramsThatAreTested) {
  const auto example = [](const std::string& file) {
    const std::string text = ReadFile(kRoot / "tests/package/consumer" / file);
    return text.substr(text.find('\n') + 1);  // without the licence line
  };
  ExpectPart("README.md", "```cpp\n", "```\n", example("main.cc"));
  ExpectPart("README.md", "```c\n", "```\n", example("c_main.c"));
}

TEST(Docs, ReadmeSupportTableIsWhatTheProgramPrints) {
  const std::string table = SupportTable();
  ASSERT_NE(table.find("`sm_86`"), std::string::npos) << table;
  ExpectPart("README.md", "LIJIT_BLESS=1 ctest -R docs_test rewrites it -->\n",
             "<!-- support table end -->", "\n" + table + "\n");
}

TEST(Docs, EveryCounterIsExplained) {
  std::string table = "\n| counter | it is | meaning |\n|---|---|---|\n";
  constexpr const char* kKinds[] = {"a hit", "a miss", "damage", "an event"};  // by Class
  for (const cache::CounterInfo& counter : cache::kCounterInfos) {
    table += "| `" + std::string(counter.name) + "` | " +
             kKinds[static_cast<std::size_t>(counter.kind)] + " | " + std::string(counter.meaning) +
             " |\n";
  }
  ExpectPart("docs/operations.md", "LIJIT_BLESS=1 ctest -R docs_test rewrites it -->\n",
             "<!-- counters end -->", table + "\n");
}

TEST(Docs, LinksLeadSomewhere) {
  const std::regex link(R"(\]\(([^)#:]+)\))");
  std::vector<std::filesystem::path> files = {kRoot / "README.md", kRoot / "CONTRIBUTING.md"};
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  for (const auto& file : files) {
    const std::string text = ReadFile(file);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      const std::filesystem::path target = file.parent_path() / (*it)[1].str();
      EXPECT_TRUE(std::filesystem::exists(target)) << file << " links to " << target;
    }
  }
}

}  // namespace
}  // namespace lijit
