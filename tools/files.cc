// SPDX-License-Identifier: Apache-2.0
#include "tools/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace lijit::tools {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Result<std::string> ReadAll(std::FILE* file, const std::string& name) {
  std::string bytes;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof(buffer), file)) {
    bytes.append(buffer, count);
  }
  if (std::ferror(file) != 0) {
    return InvalidArgument(fmt::format("{} cannot be read: {}", name, std::strerror(errno)));
  }
  return bytes;
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  if (path == "-") return ReadAll(stdin, "stdin");
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return InvalidArgument(path + " is a directory; name a file");
  }
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    return InvalidArgument(fmt::format("{} cannot be opened: {}", path, std::strerror(errno)));
  }
  return ReadAll(file.get(), path);
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) {
    return InvalidArgument(fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
  }
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (std::fclose(file.release()) != 0 || !written) {
    return Failed(fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
  }
  return {};
}

}  // namespace lijit::tools
