// SPDX-License-Identifier: Apache-2.0
// `lijit warm`: fill the cache ahead of time.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "lijit/compiler.h"
#include "tools/cache_options.h"
#include "tools/commands.h"
#include "tools/text_table.h"

namespace lijit::tools {
namespace {

struct Options {
  WarmRequest request;
  bool ptx = false;
  std::string cache_dir;
};

// Of the kernels that were compiled; nothing if none was.
std::optional<double> MedianCompileTime(const WarmReport& report) {
  std::vector<double> times;
  for (const WarmEntry& entry : report.entries) {
    if (!entry.hit && entry.error.empty()) times.push_back(entry.compile_ms);
  }
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

nlohmann::ordered_json EntryJson(const WarmEntry& entry) {
  return {{"key", entry.key},       {"kernel", entry.kernel},
          {"target", entry.target}, {"backend", entry.backend},
          {"hit", entry.hit},       {"compile_ms", entry.compile_ms},
          {"error", entry.error},   {"cubin_bytes", entry.cubin_bytes}};
}

nlohmann::ordered_json WarmJson(const WarmReport& report) {
  const std::optional<double> median = MedianCompileTime(report);
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (const WarmEntry& entry : report.entries) entries.push_back(EntryJson(entry));
  return {
      {"ok", report.failed == 0},
      {"kernels", report.kernels},
      {"compiled", report.compiled},
      {"hits", report.hits},
      {"failed", report.failed},
      {"seconds", report.seconds},
      {"median_compile_ms", median ? nlohmann::ordered_json(*median) : nlohmann::ordered_json()},
      {"entries", entries}};
}

std::string ResultOf(const WarmEntry& entry) {
  if (!entry.error.empty()) return "FAILED";
  return entry.hit ? "hit" : fmt::format("{:.0f} ms", entry.compile_ms);
}

std::string WarmText(const WarmReport& report) {
  std::vector<TextRow> rows;
  for (const WarmEntry& entry : report.entries) {
    rows.push_back({entry.key.substr(0, 16), entry.target, entry.backend, entry.kernel,
                    ResultOf(entry), TextBytes(entry.cubin_bytes)});
  }
  std::string text =
      TextTable({"key", "target", "backend", "kernel", ">compiled in", ">image"}, rows);
  for (const WarmEntry& entry : report.entries) {
    if (entry.error.empty()) continue;
    text += fmt::format("\n{} for {}: {}\n", entry.kernel, entry.target, entry.error);
  }
  const std::optional<double> median = MedianCompileTime(report);
  return text + fmt::format("\n{} kernels in {:.1f} s: {} compiled{}, {} hits, {} failed\n",
                            report.kernels, report.seconds, report.compiled,
                            median ? fmt::format(" (median {:.0f} ms)", *median) : "", report.hits,
                            report.failed);
}

Result<Report> DoWarm(const Options& options, Progress& progress) {
  WarmRequest request = options.request;
  if (options.ptx) request.kind = ImageKind::kPtx;
  request.progress = [&progress](int done, int total) { progress.Set(done, total); };
  LIJIT_ASSIGN(const cache::CacheConfig config, ConfigWithFolder(options.cache_dir));
  if (config.dir.empty()) {
    return InvalidArgument(config.note + "; there is no folder to fill: name one by --cache-dir");
  }
  cache::Store store(config);
  LIJIT_ASSIGN(const WarmReport warm, Warm(store, request));
  return Report{.json = WarmJson(warm),
                .text = WarmText(warm),
                .ok = warm.failed == 0 && store.problems().empty(),
                .warnings = store.problems()};
}

}  // namespace

Action AddWarm(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  WarmRequest& request = options->request;
  request.targets = {"sm_86", "sm_90a", "sm_100f"};
  const auto add_list = [&app](const char* name, std::vector<std::string>& values,
                               const char* help) {
    app.add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  std::string models = "comma-separated: all";
  for (const ModelInfo& model : Models()) models += fmt::format(", {}", model.name);
  add_list("--target", request.targets, "comma-separated targets");
  add_list("--model", request.models, models.c_str());
  add_list("--format", request.formats, "comma-separated shipped formats");
  app.add_option("--backend", request.backend, "auto, cuda or ptx")->capture_default_str();
  app.add_flag("--ptx", options->ptx, "PTX for the emulated device instead of cubins");
  app.add_option("--jobs", request.jobs, "threads; 0 is one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--cache-dir", options->cache_dir, kCacheDirHelp);
  app.footer(
      "Needs no GPU. Kernels that several models share are compiled once.\n"
      "Example:\n"
      "  lijit warm --target sm_90a --model deepseek-v3.2 --cache-dir /srv/lijit");
  return [options](Progress& progress) { return DoWarm(*options, progress); };
}

}  // namespace lijit::tools
