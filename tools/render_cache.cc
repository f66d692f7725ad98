// SPDX-License-Identifier: Apache-2.0
#include "tools/render_cache.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "tools/render_key.h"
#include "tools/text_table.h"

namespace lijit::tools {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kShortKey = 16;

std::string TextTime(std::int64_t seconds) {
  if (seconds == 0) return "at a time that is not recorded";  // as in bundles
  const std::time_t time = seconds;
  std::tm parts{};
  if (gmtime_r(&time, &parts) == nullptr) return fmt::format("{} s since 1970", seconds);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", parts);
}

std::string FolderText(const cache::CacheConfig& config) {
  std::string text = config.dir.empty() ? config.note : config.dir;
  for (const std::string& dir : config.readonly_dirs) text += "\n" + dir + " (read-only)";
  return text;
}

std::string_view KindName(ImageKind kind) { return kind == ImageKind::kPtx ? "ptx" : "cubin"; }

}  // namespace

Report ReportList(const cache::CacheConfig& config, const std::vector<cache::EntryInfo>& entries) {
  json list = json::array();
  std::vector<TextRow> rows;
  std::uint64_t bytes = 0;
  for (const cache::EntryInfo& entry : entries) {
    bytes += entry.bytes;
    list.push_back({{"key", entry.key},
                    {"path", entry.path},
                    {"readonly", entry.readonly},
                    {"bytes", entry.bytes},
                    {"used", entry.used}});
    rows.push_back({entry.key.substr(0, kShortKey), TextBytes(entry.bytes), TextTime(entry.used),
                    entry.readonly ? "read-only" : ""});
  }
  return {.json = {{"ok", true},
                   {"dir", config.dir},
                   {"readonly_dirs", config.readonly_dirs},
                   {"entries", list}},
          .text = TextFields({{"folder", FolderText(config)}}) +
                  (rows.empty() ? "" : "\n" + TextTable({"key", ">size", "last use", ""}, rows)) +
                  fmt::format("\n{} entries, {}\n", entries.size(), TextBytes(bytes))};
}

json EntryFieldsJson(const cache::Entry& entry) {
  return {{"key_text", entry.key},
          {"key_fields", KeyJson(entry.key)},
          {"image", KindName(entry.kind)},
          {"target", entry.target},
          {"kernel_names", entry.kernels},
          {"resources", entry.resources},
          {"log", entry.log},
          {"tools", entry.tools},
          {"created", entry.created},
          {"image_bytes", entry.image.size()}};
}

std::string EntryFieldsText(const cache::Entry& entry) {
  return Printable(TextFields({{"image", fmt::format("{} for {}, {}", KindName(entry.kind),
                                                     entry.target, TextBytes(entry.image.size()))},
                               {"kernels", Join(entry.kernels)},
                               {"made by", Join(entry.tools)},
                               {"made", TextTime(entry.created)},
                               {"resources", entry.resources},
                               {"log", entry.log.empty() ? "empty" : entry.log}}) +
                   "\nThe key's fields:\n" + KeyText(entry.key));
}

Report ReportEntry(const std::string& key, const cache::Entry& entry) {
  Report report{.json = EntryFieldsJson(entry), .text = EntryFieldsText(entry)};
  report.json["ok"] = true;
  report.json["key"] = key;
  return report;
}

Report ReportVerify(const cache::VerifyReport& verified) {
  json damaged = json::array();
  std::string text;
  for (const cache::DamagedEntry& entry : verified.damaged) {
    const std::string_view reason = cache::Info(entry.reason).name;
    damaged.push_back(
        {{"key", entry.key}, {"reason", reason}, {"path", entry.path}, {"message", entry.message}});
    text += fmt::format("{}: {}: {}\n", entry.path, reason, entry.message);
  }
  const bool ok = verified.damaged.empty();
  text += fmt::format("{} entries, {} damaged\n", verified.entries, verified.damaged.size());
  if (!ok) text += "Damaged entries are moved aside and built anew when they are next needed.\n";
  return {.json = {{"ok", ok}, {"entries", verified.entries}, {"damaged", damaged}},
          .text = text,
          .ok = ok};
}

Report ReportStats(const cache::CacheConfig& config, const cache::StoreStats& stats) {
  json counters = json::object();
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < cache::kCounterCount; ++i) {
    const cache::CounterInfo& info = cache::kCounterInfos[i];
    counters[std::string(info.name)] = stats.total[i];
    if (stats.total[i] == 0) continue;
    rows.push_back(
        {fmt::to_string(stats.total[i]), std::string(info.name), std::string(info.meaning)});
  }
  const std::string limit = config.max_size == 0 ? "no limit" : TextBytes(config.max_size);
  return {.json = {{"ok", true},
                   {"dir", config.dir},
                   {"max_size", config.max_size},
                   {"entries", stats.entries},
                   {"bytes", stats.bytes},
                   {"counters", counters}},
          .text = TextFields({{"folder", FolderText(config)},
                              {"entries", fmt::to_string(stats.entries)},
                              {"size", fmt::format("{} of {}", TextBytes(stats.bytes), limit)}}) +
                  (rows.empty() ? "\nNothing was counted yet.\n"
                                : "\n" + TextTable({">times", "counter", "meaning"}, rows))};
}

Report ReportExport(const std::string& path, const cache::BundleReport& bundle) {
  return {.json = {{"ok", true},
                   {"file", path},
                   {"entries", bundle.entries},
                   {"bytes", bundle.bytes},
                   {"sha256", bundle.sha256}},
          .text = fmt::format("{}: {} entries, {}, sha256 {}\n", path, bundle.entries,
                              TextBytes(bundle.bytes), bundle.sha256)};
}

Report ReportImport(const std::string& path, const cache::BundleReport& bundle) {
  Report report = ReportExport(path, bundle);
  report.json["stored"] = bundle.stored;
  report.text += fmt::format("{} entries stored, {} were there\n", bundle.stored,
                             bundle.entries - bundle.stored);
  return report;
}

Report ReportGc(const cache::GcReport& gc) {
  Report report;
  report.json = {{"ok", !gc.busy},
                 {"busy", gc.busy},
                 {"entries", gc.entries},
                 {"bytes", gc.bytes},
                 {"evicted_entries", gc.evicted_entries},
                 {"evicted_bytes", gc.evicted_bytes},
                 {"swept", gc.swept}};
  report.ok = !gc.busy;
  report.text =
      gc.busy
          ? "Another process is cleaning this folder; nothing was done.\n"
          : fmt::format("{} entries ({}) removed, {} temporary files swept; {} entries ({}) stay\n",
                        gc.evicted_entries, TextBytes(gc.evicted_bytes), gc.swept, gc.entries,
                        TextBytes(gc.bytes));
  return report;
}

}  // namespace lijit::tools
