// SPDX-License-Identifier: Apache-2.0
// What every file of the checkout owes: a licence line, no path of somebody's machine, and a
// changelog that knows the version.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/structure/source_tree.h"

namespace lijit::structure {
namespace {

struct CommentStyle {
  std::string_view opening;
  std::string_view endings;  // ends of file names, separated by spaces
};

constexpr CommentStyle kCommentStyles[] = {
    {"// ", ".h .c .cc .cu .cuh .def .lir"},
    {"# ", ".cmake CMakeLists.txt .py .sh .yml .dict .ci/run .ci/nightly dev"},
};

bool EndsWithOneOf(std::string_view path, std::string_view endings) {
  while (!endings.empty()) {
    const std::string_view ending = endings.substr(0, endings.find(' '));
    const std::string_view start =
        path.substr(0, path.size() - std::min(path.size(), ending.size()));
    if (path.ends_with(ending) && (ending[0] == '.' || start.empty() || start.ends_with("/"))) {
      return true;
    }
    endings.remove_prefix(std::min(endings.size(), ending.size() + 1));
  }
  return false;
}

// "" if this kind of file needs no licence line.
std::string_view CommentOpening(std::string_view path) {
  for (const CommentStyle& style : kCommentStyles) {
    if (EndsWithOneOf(path, style.endings)) return style.opening;
  }
  return "";
}

// A script's first line names its interpreter, or its dialect to the linter.
bool HasLicenseLine(std::string_view text, std::string_view opening) {
  auto lines = Lines(text);
  if (!lines.empty() && (lines[0].starts_with("#!") || lines[0].starts_with("# shellcheck"))) {
    lines.erase(lines.begin());
  }
  return !lines.empty() && lines[0] == std::string(opening) + "SPDX-License-Identifier: Apache-2.0";
}

// The first folder of somebody's home in the text, or "".
std::string HomePath(const std::string& text) {
  static const std::regex kHome("/(home|Users)/[A-Za-z0-9._-]+/|[\"' =(:]/root/[A-Za-z0-9._-]");
  std::smatch match;
  return std::regex_search(text, match, kHome) ? match.str() : "";
}

bool IsBinary(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// The newest version that a changelog in the form of keepachangelog.com names: "## [0.1.0] - ...".
std::string ChangelogVersion(std::string_view text) {
  static const std::regex kHeading(R"(^## \[([0-9]+\.[0-9]+\.[0-9]+)\] - (.+)$)");
  for (const std::string& line : Lines(text)) {
    std::smatch match;
    if (std::regex_match(line, match, kHeading)) return match[1];
  }
  return "";
}

TEST(SourceFiles, BeginWithTheLicenseLine) {
  int checked = 0;
  for (const std::string& path : SourceFiles()) {
    const std::string_view opening = CommentOpening(path);
    if (opening.empty()) continue;
    ++checked;
    EXPECT_TRUE(HasLicenseLine(ReadSource(path), opening))
        << path << " must begin with: " << opening << "SPDX-License-Identifier: Apache-2.0";
  }
  EXPECT_GT(checked, 10) << "the source tree was not found";
}

TEST(SourceFiles, HaveNoPathsOfHomeFolders) {
  for (const std::string& path : SourceFiles()) {
    const std::string text = ReadSource(path);
    if (IsBinary(text)) continue;
    EXPECT_EQ(HomePath(text), "") << path;
  }
}

TEST(SourceFiles, ChangelogKnowsTheVersion) {
  EXPECT_EQ(ChangelogVersion(ReadSource("CHANGELOG.md")), LIJIT_VERSION);
}

TEST(SourceFileRules, SeeAMissingLicenseLine) {
  EXPECT_EQ(CommentOpening("compiler/ir/a.cc"), "// ");
  EXPECT_EQ(CommentOpening("tests/package/consumer/a.c"), "// ");
  EXPECT_EQ(CommentOpening("tests/filetests/a.lir"), "// ");
  EXPECT_EQ(CommentOpening("tests/CMakeLists.txt"), "# ");
  EXPECT_EQ(CommentOpening("dev"), "# ");
  EXPECT_EQ(CommentOpening("docs/ir.md"), "");
  EXPECT_TRUE(HasLicenseLine("// SPDX-License-Identifier: Apache-2.0\n", "// "));
  EXPECT_TRUE(HasLicenseLine("#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n", "# "));
  EXPECT_FALSE(HasLicenseLine("#pragma once\n// SPDX-License-Identifier: Apache-2.0\n", "// "));
  EXPECT_FALSE(HasLicenseLine("// SPDX-License-Identifier: MIT\n", "// "));
  EXPECT_FALSE(HasLicenseLine("", "// "));
}

TEST(SourceFileRules, SeeAHomePath) {
  const std::string home = std::string("/") + "home/";
  EXPECT_EQ(HomePath("see " + home + "ada/lijit/a.cc"), home + "ada/");
  EXPECT_NE(HomePath("\"/" + std::string("root/x\"")), "");
  EXPECT_EQ(HomePath("$HOME/.cache/lijit, ~/.cache and tree/root/x"), "");
}

TEST(SourceFileRules, ReadTheNewestVersionOfAChangelog) {
  EXPECT_EQ(ChangelogVersion("# Changelog\n\n## [1.2.3] - 2030-01-02\n## [1.0.0] - x\n"), "1.2.3");
  EXPECT_EQ(ChangelogVersion("## [Unreleased]\n"), "");
}

}  // namespace
}  // namespace lijit::structure
