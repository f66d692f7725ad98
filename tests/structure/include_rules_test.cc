// SPDX-License-Identifier: Apache-2.0
#include "tests/structure/include_rules.h"

#include <gtest/gtest.h>

#include "tests/structure/source_tree.h"

namespace lijit::structure {
namespace {

bool IsLayered(std::string_view path) {
  for (std::string_view folder :
       {"include/", "templates/", "compiler/", "cache/", "runtime/", "tools/"}) {
    if (path.starts_with(folder)) return true;
  }
  return false;
}

bool IsCode(std::string_view path) {
  for (std::string_view ending : {".h", ".cc", ".cu", ".cuh", ".def"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

TEST(IncludeRules, HoldForEverySourceFile) {
  int files = 0;
  for (const std::string& path : SourceFiles()) {
    if (!IsLayered(path) || !IsCode(path)) continue;
    ++files;
    for (const Include& include : ParseIncludes(ReadSource(path))) {
      const auto objection = Objection(FolderRules(), path, include);
      EXPECT_FALSE(objection) << path << " includes " << include.name << ": " << *objection;
    }
  }
  EXPECT_GT(files, 10) << "the source tree was not found";
}

// The table must follow the list of layers: whatever a folder includes may not include it back.
TEST(IncludeRules, HaveNoCycle) {
  for (const FolderRule& a : FolderRules()) {
    for (const FolderRule& b : FolderRules()) {
      if (a.folder == b.folder) continue;
      const Include a_includes_b{std::string(b.folder) + "/x.h", true};
      const Include b_includes_a{std::string(a.folder) + "/x.h", true};
      EXPECT_TRUE(Objection(FolderRules(), std::string(a.folder) + "/x.cc", a_includes_b) ||
                  Objection(FolderRules(), std::string(b.folder) + "/x.cc", b_includes_a))
          << a.folder << " and " << b.folder << " may include one another";
    }
  }
}

// "a b" as "`a` `b` " or "a b ".
std::string Cell(std::string_view names, bool quoted) {
  std::string cell;
  while (!names.empty()) {
    const std::string name(names.substr(0, names.find(' ')));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    cell += (quoted ? "`" + name + "`" : name) + " ";
  }
  return cell;
}

TEST(IncludeRules, AreTheTableOfTheDocument) {
  std::string table = "<!-- table: layers -->\n| folder | may include | may use |\n|---|---|---|\n";
  for (const FolderRule& rule : FolderRules()) {
    table += "| `" + std::string(rule.folder) + "` | " + Cell(rule.may_include, true) + "| " +
             Cell(rule.may_use, false) + "|\n";
  }
  table += "<!-- table end -->";
  EXPECT_NE(ReadSource("docs/architecture.md").find(table), std::string::npos)
      << "docs/architecture.md should have\n"
      << table;
}

TEST(IncludeRules, FolderNamesInTheTableAreFolders) {
  for (const FolderRule& rule : FolderRules()) {
    std::string_view rest = rule.may_include;
    while (!rest.empty()) {
      const std::string name(rest.substr(0, rest.find(' ')));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      const FolderRule* owner = OwningRule(FolderRules(), name + "/x.h");
      ASSERT_NE(owner, nullptr) << name;
      EXPECT_EQ(owner->folder, name) << "in the row of " << rule.folder;
    }
  }
}

struct Case {
  const char* path;
  const char* line;
  const char* objection;  // "" if the include is fine
};

// Made-up files: each line breaks or keeps one row.
constexpr Case kCases[] = {
    {"compiler/support/a.cc", "#include \"compiler/ir/type.h\"", "must not include compiler/ir"},
    {"compiler/support/a.cc", "#include <fmt/format.h>", ""},
    {"compiler/support/a.cc", "#include \"lijit/result.h\"", ""},
    {"compiler/ir/a.cc", "#include \"compiler/target/target.h\"", "must not include"},
    {"compiler/target/a.cc", "#include \"compiler/ir/type.h\"", "must not include compiler/ir"},
    {"compiler/lower/a.cc", "#include \"compiler/codegen/cuda/emit.h\"", "must not include"},
    {"compiler/lower/a.cc", "#include \"compiler/ir/type.h\"", ""},
    {"compiler/codegen/cuda/a.cc", "#include \"compiler/codegen/ptx/emit.h\"", "must not include"},
    {"compiler/codegen/cuda/a.cc", "#include <llvm/IR/Module.h>", "must not use llvm"},
    {"compiler/codegen/ptx/a.cc", "#include <llvm/IR/Module.h>", ""},
    {"compiler/codegen/cuda/a.cc", "#include <nvrtc.h>", "must not use cuda"},
    {"cache/store.cc", "#include \"compiler/ir/type.h\"", "must not include compiler/ir"},
    {"cache/store.cc", "#include \"compiler/target/target.h\"", "must not include"},
    {"cache/store.cc", "#include <cuda.h>", "must not use cuda"},
    {"cache/store.cc", "#  include <sys/file.h>  // flock", ""},
    {"cache/cubin/elf.cc", "#include \"cache/store.h\"", "must not include cache"},
    {"cache/store.cc", "#include \"cache/cubin/elf.h\"", ""},
    {"runtime/device/a.cc", "#include <cuda.h>", ""},
    {"runtime/jit.cc", "#include <nlohmann/json.hpp>", "must not use json"},
    {"runtime/jit.cc", "#include \"tools/x.h\"", "must not include tools"},
    {"tools/run.cc", "#include \"runtime/jit.h\"", "must not include runtime"},
    {"tools/run.cc", "#include <nlohmann/json.hpp>", ""},
    {"include/lijit/lijit.h", "#include \"compiler/ir/type.h\"", "must not include compiler/ir"},
    {"include/lijit/lijit.h", "#include <fmt/format.h>", "must not use fmt"},
    {"include/lijit/lijit.h", "#include <stdint.h>", ""},
    {"templates/mma.cu", "#include <cuda_fp8.h>", "must not use cuda"},
    {"runtime/a.cc", "#include \"a.h\"", "is in no folder"},
    {"runtime/a.cc", "#include <boost/any.hpp>", "is of no library"},
    {"compiler/new_folder/a.cc", "#include <vector>", "is in no folder"},
};

TEST(IncludeRules, ObjectToBrokenRows) {
  for (const Case& c : kCases) {
    const auto includes = ParseIncludes(c.line);
    ASSERT_EQ(includes.size(), 1u) << c.line;
    const std::string objection = Objection(FolderRules(), c.path, includes[0]).value_or("");
    EXPECT_EQ(objection.empty(), c.objection[0] == '\0') << c.path << ' ' << c.line << objection;
    EXPECT_NE(objection.find(c.objection), std::string::npos) << c.path << ": " << objection;
  }
}

}  // namespace
}  // namespace lijit::structure
