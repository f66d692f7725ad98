// SPDX-License-Identifier: Apache-2.0
#include "tools/dump_command.h"

#include <fmt/format.h>

#include <span>

#include "lijit/cubin.h"
#include "tools/disassemble.h"
#include "tools/dump_diff.h"
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

Result<std::string> SassOf(const cubin::Dump& dump) {
  LIJIT_ASSIGN(const std::string nvdisasm, FindNvdisasm());
  std::string sass;
  LIJIT_TRY(DisassembleAll(nvdisasm, dump, sass));
  return sass;
}

Status AddSass(const cubin::Dump& dump, Report& report) {
  report.json["sass"] = nullptr;
  LIJIT_ASSIGN(const std::string sass, SassOf(dump));
  report.json["sass"] = sass;
  if (!sass.empty()) report.text += "\n" + sass;
  return {};
}

Result<EntryDump> DumpAny(const std::string& bytes) {
  const auto span = std::as_bytes(std::span(bytes));
  if (std::optional<EntryDump> entry = DumpEntry(span)) return *std::move(entry);
  if (std::optional<cubin::Dump> bundle = DumpBundle(span)) return EntryDump{*bundle, std::nullopt};
  LIJIT_ASSIGN(cubin::Dump dump, cubin::DumpBytes(span));
  return EntryDump{std::move(dump), std::nullopt};
}

Result<EntryDump> DumpFile(const std::string& path) {
  LIJIT_ASSIGN(const std::string bytes, ReadFile(path));
  Result<EntryDump> any = DumpAny(bytes);
  if (!any.ok()) return InvalidArgument(path + ": " + any.error().message);
  return any;
}

Report ReportDump(const EntryDump& any) {
  Report report{
      .json = ToJson(any.dump), .text = cubin::Render(any.dump), .ok = any.dump.problems.empty()};
  report.json["ok"] = report.ok;
  if (any.entry) {
    report.json["entry"] = EntryFieldsJson(*any.entry);
    report.json["target"] = any.entry->target;
    report.text = EntryFieldsText(*any.entry) + "\n" + report.text;
  }
  return report;
}

Result<Report> DumpDifferences(const DumpOptions& options) {
  std::vector<EntryDump> dumps;
  std::vector<DumpSide> sides;
  for (const std::string& path : options.paths) {
    LIJIT_ASSIGN(EntryDump any, DumpFile(path));
    dumps.push_back(std::move(any));
  }
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    DumpSide side{options.paths[i], ReportDump(dumps[i]).json, &dumps[i].dump, ""};
    if (options.sass) {
      LIJIT_ASSIGN(side.sass, SassOf(dumps[i].dump));
    }
    sides.push_back(std::move(side));
  }
  return ReportDumpDiff(sides[0], sides[1]);
}

}  // namespace

void AddDumpOptions(CLI::App& app, DumpOptions& options) {
  app.add_option("FILE", options.paths, "a cubin, a fatbin, an entry of the kernel cache, a bundle")
      ->required()
      ->expected(1, 2);
  app.add_flag("--sass", options.sass, "disassemble, too, if nvdisasm is found");
  app.add_flag("--diff", options.diff, "say what differs between two files");
}

Result<Report> Dump(const DumpOptions& options) {
  if (options.paths.size() != (options.diff ? 2u : 1u)) {
    return InvalidArgument(options.diff ? "--diff compares two files; name both"
                                        : "name one file, or compare two by --diff");
  }
  if (options.diff) return DumpDifferences(options);
  LIJIT_ASSIGN(const EntryDump any, DumpFile(options.paths[0]));
  Report report = ReportDump(any);
  if (options.sass) report.status = AddSass(any.dump, report);
  return report;
}

int RunDump(const DumpOptions& options) { return Print("cubin-dump", Dump(options), options.json); }

}  // namespace lijit::tools
