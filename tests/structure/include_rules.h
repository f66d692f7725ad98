// SPDX-License-Identifier: Apache-2.0
// Which folder may include what: the dependency table of docs/architecture.md as data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lijit::structure {

// A folder, the folders below it in the list of layers that it may include besides itself, and the
// outside libraries (by name) besides the C++ standard library. A file belongs to the
// longest folder that its path starts with. Names are separated by spaces.
struct FolderRule {
  std::string_view folder;
  std::string_view may_include;
  std::string_view may_use;
};

std::span<const FolderRule> FolderRules();

// One #include, as written: `name` without its quotes or angle brackets.
struct Include {
  std::string name;
  bool quoted = false;
};

// The #include lines of a C++ or CUDA source.
std::vector<Include> ParseIncludes(std::string_view source);

// The rule that owns a path, or nullptr.
const FolderRule* OwningRule(std::span<const FolderRule> rules, std::string_view path);

// Why `path` must not have this include, or nothing if it may. Quoted names are relative to the
// root or to include/.
std::optional<std::string> Objection(std::span<const FolderRule> rules, std::string_view path,
                                     const Include& include);

}  // namespace lijit::structure
