// SPDX-License-Identifier: Apache-2.0
#include "tools/dump_command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "lijit/cubin.h"
#include "tools/disassemble.h"
#include "tools/dump_json.h"

namespace lijit::tools {
namespace {

enum ExitCode { kDone = 0, kProblems = 1, kBadInput = 2, kNotAvailable = 4 };

Result<std::vector<std::byte>> ReadFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return InvalidArgument(path + " is a directory; name a file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return InvalidArgument(fmt::format("{} cannot be opened: {}", path, std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) return InvalidArgument(path + " cannot be read");
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return std::vector<std::byte>(bytes, bytes + text.size());
}

int Fail(const std::string& message, ExitCode code) {
  fmt::print(stderr, "error: {}\n", message);
  return code;
}

// The SASS of every cubin in the dump.
Status DisassembleAll(const std::string& nvdisasm, const cubin::Dump& dump, std::string& out) {
  if (!dump.code.empty()) {
    LIJIT_ASSIGN(const std::string sass, Disassemble(nvdisasm, dump.code));
    out += sass;
  }
  for (const cubin::Member& member : dump.members)
    for (const cubin::Dump& inner : member.dump) LIJIT_TRY(DisassembleAll(nvdisasm, inner, out));
  return {};
}

// Names in a damaged file may be no UTF-8, which JSON cannot hold.
std::string JsonText(const nlohmann::json& object) {
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

int RunDump(const DumpOptions& options) {
  const Result<std::vector<std::byte>> bytes = ReadFile(options.path);
  if (!bytes.ok()) return Fail(bytes.error().message, kBadInput);
  const Result<cubin::Dump> dump = cubin::DumpBytes(*bytes);
  if (!dump.ok()) return Fail(options.path + ": " + dump.error().message, kBadInput);

  Status status;
  std::string sass;
  if (options.sass) {
    const Result<std::string> nvdisasm = FindNvdisasm();
    status = nvdisasm.ok() ? DisassembleAll(*nvdisasm, *dump, sass) : Status(nvdisasm.error());
  }
  if (options.json) {
    nlohmann::json object = ToJson(*dump);
    if (options.sass) object["sass"] = status.ok() ? nlohmann::json(sass) : nlohmann::json();
    fmt::print("{}\n", JsonText(object));
  } else {
    fmt::print("{}{}{}", cubin::Render(*dump), sass.empty() ? "" : "\n", sass);
  }
  if (!status.ok())
    return Fail(status.error().message,
                status.error().code == ErrorCode::kUnavailable ? kNotAvailable : kProblems);
  return dump->problems.empty() ? kDone : kProblems;
}

}  // namespace lijit::tools
