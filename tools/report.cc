// SPDX-License-Identifier: Apache-2.0
#include "tools/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/exit_codes.h"

namespace lijit::tools {
namespace {

nlohmann::ordered_json ErrorObject(const Error& error) {
  const ErrorKind& kind = KindOf(error.code);
  return {{"code", kind.name}, {"message", error.message}, {"exit_code", kind.exit_code}};
}

// Names in a damaged file may be no UTF-8, which JSON cannot hold.
std::string JsonText(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void Complain(std::string_view program, std::string_view message) {
  fmt::print(stderr, "{}: {}{}", program, message, message.ends_with('\n') ? "" : "\n");
}

// A full disk or a closed pipe must not look like success.
bool WriteToStdout(std::string_view program, std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return true;
  Complain(program, fmt::format("the output cannot be written: {}", std::strerror(errno)));
  return false;
}

int PrintError(std::string_view program, const Error& error, bool json) {
  Complain(program, error.message);
  const nlohmann::ordered_json object = {{"ok", false}, {"error", ErrorObject(error)}};
  if (json && !WriteToStdout(program, JsonText(object))) return kExitNo;
  return KindOf(error.code).exit_code;
}

std::string Rendered(const Report& report, bool json) {
  if (!json) return report.text;
  nlohmann::ordered_json object = report.json;
  if (!report.status.ok()) object["error"] = ErrorObject(report.status.error());
  return JsonText(object);
}

}  // namespace

int Print(std::string_view program, const Result<Report>& report, bool json) {
  if (!report.ok()) return PrintError(program, report.error(), json);
  for (const std::string& warning : report->warnings) Complain(program, warning);
  if (!WriteToStdout(program, Rendered(*report, json))) return kExitNo;
  if (!report->status.ok()) {
    Complain(program, report->status.error().message);
    return KindOf(report->status.error().code).exit_code;
  }
  return report->ok ? kExitDone : kExitNo;
}

}  // namespace lijit::tools
