// SPDX-License-Identifier: Apache-2.0
// docs/ir.md has the tables of the sources. LIJIT_BLESS=1 in the environment writes them anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "compiler/ir/declarations.h"
#include "compiler/ir/op.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::ir {
namespace {

constexpr char kDocument[] = "docs/ir.md";

std::string Code(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", text); }

// The trailing comments of rows `MACRO(table, enumerator, "text")` of a .def file.
struct Keyword {
  std::string table;
  std::string text;
  std::string comment;
};

std::vector<Keyword> KeywordsOf(const std::string& file, const std::string& macro) {
  const std::regex row("^" + macro + R"re(\((\w+), \w+, "([^"]+)"\)(\s*// (.*))?$)re");
  std::istringstream stream(TextOfFile(file));
  std::vector<Keyword> keywords;
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) keywords.push_back({match[1], match[2], match[4]});
  }
  return keywords;
}

constexpr std::array kFieldKinds = {"Integer",   "Float",     "Special", "Overflow",
                                    "Ties",      "Zero",      "Packing", "ScaleCode",
                                    "ScaleRule", "Nonfinite", "Order"};
constexpr std::array kAttributeKinds = {"Integer", "Format", "RopeStyle", "RopePlace",
                                        "Half",    "Memory", "MatrixUnit"};

std::string FieldOf(std::string_view kind) {
  for (const FieldRow& row : AllFields()) {
    if (kFieldKinds[static_cast<std::size_t>(row.kind)] == kind) return std::string(row.key);
  }
  return "";
}

std::string AttributeOf(std::string_view kind) {
  for (const AttributeRow& row : AllAttributes()) {
    if (kAttributeKinds[static_cast<std::size_t>(row.kind)] == kind) return std::string(row.text);
  }
  return "";
}

std::string KeywordTable(const std::vector<Keyword>& keywords,
                         std::string (*owner)(std::string_view kind)) {
  std::string table = "| of | word | meaning |\n|---|---|---|\n";
  for (const Keyword& keyword : keywords) {
    table +=
        fmt::format("| `{}` | `{}` | {} |\n", owner(keyword.table), keyword.text, keyword.comment);
  }
  return table;
}

std::string ScalarTable() {
  std::string table = "| scalar | bytes | meaning |\n|---|---|---|\n";
#define SCALAR(enumerator, text, bytes, doc) \
  table += fmt::format("| `{}` | {} | {} |\n", text, bytes, doc);
#include "compiler/ir/scalars.def"
  return table;
}

// "integer", "f32" or the words.
std::string FieldValue(const FieldRow& row) {
  if (row.kind == FieldKind::kInteger) return "integer";
  if (row.kind == FieldKind::kFloat) return "f32";
  std::string words;
  for (const FieldKeyword& keyword : AllFieldKeywords()) {
    if (keyword.kind == row.kind) words += (words.empty() ? "" : " ") + Code(keyword.text);
  }
  return words;
}

std::string FieldTable(FieldGroup group) {
  const std::string_view head = group == FieldGroup::kLayout ? "layout" : GroupName(group);
  std::string table = fmt::format("| field of `{}` | value | meaning |\n|---|---|---|\n", head);
  for (const FieldRow& row : AllFields()) {
    if (row.group != group) continue;
    table += fmt::format("| `{}` | {} | {} |\n", row.key, FieldValue(row), row.doc);
  }
  return table;
}

// A bar would end the cell.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

std::string Count(int count) { return count < 0 ? "*" : fmt::format("{}", count); }

std::string OpTable(Level level) {
  std::string table = "| op | operands | results | attributes | meaning |\n|---|---|---|---|---|\n";
  for (const OpRow& row : AllOps()) {
    if (row.level != level) continue;
    table += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.mnemonic, Count(row.operands),
                         Count(row.results), Code(row.attributes), Escaped(row.doc));
  }
  return table;
}

std::string KernelKindTable() {
  std::string table = "| kind | one evaluation of the body |\n|---|---|\n";
  for (const KernelKindRow& row : AllKernelKinds()) {
    table += fmt::format("| `{}` | {} |\n", row.text, row.doc);
  }
  return table;
}

std::string AttributeValue(const AttributeRow& row) {
  if (row.kind == AttributeKind::kInteger) return "integer";
  if (row.kind == AttributeKind::kFormat) return "@format";
  std::string words;
  for (std::int64_t value = 0; !KeywordText(row.kind, value).empty(); ++value) {
    words += (words.empty() ? "" : " ") + Code(KeywordText(row.kind, value));
  }
  return words;
}

std::string AttributeTable() {
  std::string table = "| attribute | value | meaning |\n|---|---|---|\n";
  for (const AttributeRow& row : AllAttributes()) {
    table += fmt::format("| `{}` | {} | {} |\n", row.text, AttributeValue(row), row.doc);
  }
  return table;
}

// The list at the head of verifier.h: a heading, then rules with the lines that continue them.
std::string RuleTable() {
  static const std::regex kHeading("// ([A-Z][a-z]+)");
  static const std::regex kRule("//   ([a-z-]+)  +(.*)");
  static const std::regex kMore("//      +(.*)");
  std::istringstream stream(TextOfFile("compiler/ir/verifier.h"));
  std::string heading;
  std::string table = "| of | rule | what holds |\n|---|---|---|";
  for (std::string line; std::getline(stream, line) && line != "#pragma once";) {
    std::smatch match;
    if (std::regex_match(line, match, kHeading)) heading = match[1];
    if (std::regex_match(line, match, kRule)) {
      table += fmt::format(" |\n| {} | `{}` | {}", heading, match[1].str(), match[2].str());
    } else if (std::regex_match(line, match, kMore)) {
      table += " " + match[1].str();
    }
  }
  table += " |\n";
  // The separator row has been closed twice.
  return table.replace(table.find("|---| |"), 7, "|---|");
}

std::map<std::string, std::string> AllTables() {
  return {
      {"scalars", ScalarTable()},
      {"element", FieldTable(FieldGroup::kElement)},
      {"block_scale", FieldTable(FieldGroup::kBlockScale)},
      {"row_scale", FieldTable(FieldGroup::kRowScale)},
      {"layout", FieldTable(FieldGroup::kLayout)},
      {"field_keywords", KeywordTable(KeywordsOf("compiler/ir/format.def", "KEYWORD"), FieldOf)},
      {"kernel_kinds", KernelKindTable()},
      {"ops_any", OpTable(Level::kAny)},
      {"ops_high", OpTable(Level::kHigh)},
      {"ops_mid", OpTable(Level::kMid)},
      {"ops_low", OpTable(Level::kLow)},
      {"attributes", AttributeTable()},
      {"attribute_keywords",
       KeywordTable(KeywordsOf("compiler/ir/attributes.def", "ATTRIBUTE_KEYWORD"), AttributeOf)},
      {"rules", RuleTable()},
  };
}

// The document with each table between its markers replaced; `missing` names tables without one.
std::string WithTables(std::string text, std::string& missing) {
  for (const auto& [name, table] : AllTables()) {
    const std::string begin_marker = fmt::format("<!-- table: {} -->\n", name);
    const std::size_t begin = text.find(begin_marker);
    const std::size_t end = text.find("<!-- end -->", begin);
    if (begin == std::string::npos || end == std::string::npos) {
      missing += " " + name;
      continue;
    }
    const std::size_t from = begin + begin_marker.size();
    text.replace(from, end - from, table);
  }
  return text;
}

// The first line of `text` that `other` does not have there.
std::string FirstOther(const std::string& text, const std::string& other) {
  std::istringstream lines(text);
  std::istringstream other_lines(other);
  std::string line;
  for (std::string other_line;
       std::getline(lines, line) && std::getline(other_lines, other_line);) {
    if (line != other_line) break;
  }
  return line;
}

TEST(Documentation, HasTheTablesOfTheSources) {
  const std::string text = TextOfFile(kDocument);
  std::string missing;
  const std::string expected = WithTables(text, missing);
  EXPECT_EQ(missing, "");
  if (text == expected) return;
  const char* bless = std::getenv("LIJIT_BLESS");
  if (bless != nullptr && std::string_view(bless) == "1") {
    std::ofstream(std::string(LIJIT_SOURCE_DIR "/") + kDocument, std::ios::binary) << expected;
    return;
  }
  ADD_FAILURE() << kDocument << " should have the line\n  " << FirstOther(expected, text)
                << "\nIf the sources are right, run the test again with LIJIT_BLESS=1.";
}

// Keywords are read from comments; none may be overlooked.
TEST(Documentation, FindsEveryKeyword) {
  EXPECT_EQ(KeywordsOf("compiler/ir/format.def", "KEYWORD").size(), AllFieldKeywords().size());
  for (const Keyword& keyword : KeywordsOf("compiler/ir/format.def", "KEYWORD")) {
    EXPECT_NE(keyword.comment, "") << keyword.text;
  }
  std::size_t attribute_keywords = 0;
#define ATTRIBUTE_KEYWORD(table, enumerator, text) ++attribute_keywords;
#include "compiler/ir/attributes.def"
  EXPECT_EQ(KeywordsOf("compiler/ir/attributes.def", "ATTRIBUTE_KEYWORD").size(),
            attribute_keywords);
}

// Every rule that the parser reports is named in the document.
TEST(Documentation, NamesTheParsersRules) {
  static const std::regex kReport(R"re(Fail(?:At)?\([^";]*"([a-z-]+)",)re");
  const std::string source = TextOfFile("compiler/ir/parser.cc");
  const std::string document = TextOfFile(kDocument);
  std::set<std::string> rules;
  for (std::sregex_iterator it(source.begin(), source.end(), kReport), end; it != end; ++it) {
    rules.insert((*it)[1]);
  }
  EXPECT_GE(rules.size(), 15u);
  for (const std::string& rule : rules) {
    EXPECT_NE(document.find("`" + rule + "`"), std::string::npos) << rule;
  }
}

// The NVFP4 of the document is the one of the tests.
TEST(Documentation, ExampleIsTheFormatsText) {
  const std::string file = TextOfFile("tests/formats/nvfp4.lir");
  std::istringstream stream(file.substr(file.find("format @nvfp4")));
  std::string indented;
  for (std::string line; std::getline(stream, line);) indented += "    " + line + "\n";
  EXPECT_NE(TextOfFile(kDocument).find(indented), std::string::npos) << indented;
}

}  // namespace
}  // namespace lijit::ir
