// SPDX-License-Identifier: Apache-2.0
#include "tools/dump_command.h"

#include <fmt/format.h>

#include <span>

#include "lijit/cubin.h"
#include "tools/disassemble.h"
#include "tools/dump_entry.h"
#include "tools/dump_json.h"
#include "tools/files.h"
#include "tools/render_cache.h"

namespace lijit::tools {
namespace {

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

Status AddSass(const cubin::Dump& dump, Report& report) {
  report.json["sass"] = nullptr;
  LIJIT_ASSIGN(const std::string nvdisasm, FindNvdisasm());
  std::string sass;
  LIJIT_TRY(DisassembleAll(nvdisasm, dump, sass));
  report.json["sass"] = sass;
  if (!sass.empty()) report.text += "\n" + sass;
  return {};
}

Result<EntryDump> DumpAny(const std::string& bytes) {
  const auto span = std::as_bytes(std::span(bytes));
  if (std::optional<EntryDump> entry = DumpEntry(span)) return *std::move(entry);
  LIJIT_ASSIGN(cubin::Dump dump, cubin::DumpBytes(span));
  return EntryDump{std::move(dump), std::nullopt};
}

}  // namespace

Result<Report> Dump(const DumpOptions& options) {
  LIJIT_ASSIGN(const std::string bytes, ReadFile(options.path));
  const Result<EntryDump> any = DumpAny(bytes);
  if (!any.ok()) return InvalidArgument(options.path + ": " + any.error().message);
  Report report{.json = ToJson(any->dump),
                .text = cubin::Render(any->dump),
                .ok = any->dump.problems.empty()};
  report.json["ok"] = report.ok;
  if (any->entry) {
    report.json["entry"] = EntryFieldsJson(*any->entry);
    report.json["target"] = any->entry->target;
    report.text = EntryFieldsText(*any->entry) + "\n" + report.text;
  }
  if (options.sass) report.status = AddSass(any->dump, report);
  return report;
}

int RunDump(const DumpOptions& options) { return Print("cubin-dump", Dump(options), options.json); }

}  // namespace lijit::tools
