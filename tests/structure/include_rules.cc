// SPDX-License-Identifier: Apache-2.0
#include "tests/structure/include_rules.h"

#include <fmt/format.h>

#include <regex>
#include <sstream>

namespace lijit::structure {
namespace {

constexpr FolderRule kFolderRules[] = {
    {"include/lijit", "", ""},
    {"templates", "", ""},
    {"compiler/support", "include/lijit", "fmt"},
    {"compiler/ir", "compiler/support include/lijit", "fmt"},
    {"compiler/target", "compiler/support include/lijit", "fmt"},
    {"compiler/lower", "compiler/ir compiler/target compiler/support include/lijit", "fmt"},
    {"compiler/codegen",
     "compiler/lower compiler/ir compiler/target compiler/support include/lijit", "fmt"},
    {"compiler/codegen/cuda",
     "compiler/codegen compiler/lower compiler/ir compiler/target compiler/support include/lijit",
     "fmt"},
    {"compiler/codegen/ptx",
     "compiler/codegen compiler/lower compiler/ir compiler/target compiler/support include/lijit",
     "fmt llvm"},
    {"cache/cubin", "compiler/support include/lijit", "fmt elf"},
    {"cache", "cache/cubin compiler/support include/lijit", "fmt posix zstd xxhash openssl"},
    {"runtime",
     "cache cache/cubin compiler/codegen compiler/codegen/cuda compiler/codegen/ptx compiler/lower "
     "compiler/ir compiler/target compiler/support include/lijit",
     "fmt posix cuda"},
    {"tools", "include/lijit", "fmt posix cli11 json"},
};

// An outside library and the starts of its headers' names.
struct Library {
  std::string_view name;
  std::string_view headers;
};

constexpr Library kLibraries[] = {
    {"fmt", "fmt/"},
    {"llvm", "llvm/ llvm-c/"},
    {"cuda", "cuda nvrtc.h nvJitLink.h"},
    {"zstd", "zstd"},
    {"xxhash", "xxhash.h"},
    {"openssl", "openssl/"},
    {"cli11", "CLI/"},
    {"json", "nlohmann/"},
    {"elf", "elf.h"},
    {"posix",
     "dirent.h dlfcn.h errno.h fcntl.h link.h poll.h pthread.h pwd.h signal.h spawn.h sys/ "
     "unistd.h"},
};

std::vector<std::string> Words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool HasWord(std::string_view text, std::string_view word) {
  for (const std::string& each : Words(text)) {
    if (each == word) return true;
  }
  return false;
}

// <vector>, <cstdint>, and the headers that the C interface shares with C.
bool IsStandard(std::string_view name) {
  return name.find_first_of("./") == std::string_view::npos ||
         HasWord("stdbool.h stddef.h stdint.h", name);
}

std::string_view LibraryOf(std::string_view header) {
  for (const Library& library : kLibraries) {
    for (const std::string& start : Words(library.headers)) {
      if (header.starts_with(start)) return library.name;
    }
  }
  return "";
}

std::optional<std::string> ObjectionToLibrary(const FolderRule& rule, std::string_view header) {
  if (IsStandard(header)) return std::nullopt;
  const std::string_view library = LibraryOf(header);
  if (library.empty()) return fmt::format("<{}> is of no library in the table", header);
  if (HasWord(rule.may_use, library)) return std::nullopt;
  return fmt::format("{} must not use {}", rule.folder, library);
}

std::optional<std::string> ObjectionToFolder(std::span<const FolderRule> rules,
                                             const FolderRule& rule, const std::string& header) {
  const std::string path = header.starts_with("lijit/") ? "include/" + header : header;
  const FolderRule* target = OwningRule(rules, path);
  if (target == nullptr) return fmt::format("\"{}\" is in no folder of the table", header);
  if (target->folder == rule.folder || HasWord(rule.may_include, target->folder)) {
    return std::nullopt;
  }
  return fmt::format("{} must not include {}", rule.folder, target->folder);
}

}  // namespace

std::span<const FolderRule> FolderRules() { return kFolderRules; }

std::vector<Include> ParseIncludes(std::string_view source) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  std::istringstream stream{std::string(source)};
  std::vector<Include> includes;
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) includes.push_back({match[2], match[1] == "\""});
  }
  return includes;
}

const FolderRule* OwningRule(std::span<const FolderRule> rules, std::string_view path) {
  const FolderRule* owner = nullptr;
  for (const FolderRule& rule : rules) {
    const bool inside =
        path.starts_with(rule.folder) && path.substr(rule.folder.size()).starts_with("/");
    if (inside && (owner == nullptr || rule.folder.size() > owner->folder.size())) owner = &rule;
  }
  return owner;
}

std::optional<std::string> Objection(std::span<const FolderRule> rules, std::string_view path,
                                     const Include& include) {
  const FolderRule* rule = OwningRule(rules, path);
  if (rule == nullptr) return fmt::format("{} is in no folder of the table", path);
  return include.quoted ? ObjectionToFolder(rules, *rule, include.name)
                        : ObjectionToLibrary(*rule, include.name);
}

}  // namespace lijit::structure
