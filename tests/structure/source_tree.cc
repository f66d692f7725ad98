// SPDX-License-Identifier: Apache-2.0
#include "tests/structure/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace lijit::structure {
namespace {

namespace fs = std::filesystem;

bool IsSkippedFolder(const std::string& name) {
  return (name.starts_with(".") && name != ".ci") || name.starts_with("build") ||
         name == "__pycache__";
}

}  // namespace

std::vector<std::string> SourceFiles() {
  const fs::path root = LIJIT_SOURCE_DIR;
  std::vector<std::string> files;
  for (auto entry = fs::recursive_directory_iterator(root);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_directory() && IsSkippedFolder(entry->path().filename().string())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      files.push_back(entry->path().lexically_relative(root).generic_string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string ReadSource(std::string_view path) {
  std::ifstream file(fs::path(LIJIT_SOURCE_DIR) / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> Lines(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace lijit::structure
