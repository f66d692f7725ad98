// SPDX-License-Identifier: Apache-2.0
// `lijit cache`: look after the kernel cache.
#include <memory>

#include "lijit/cache.h"
#include "lijit/cubin.h"
#include "tools/cache_options.h"
#include "tools/commands.h"
#include "tools/render_cache.h"

namespace lijit::tools {
namespace {

struct Options {
  std::string cache_dir;
  std::string key;
  std::string max_size;
};

using Work = Result<Report> (*)(cache::Store&, const Options&);

struct Subcommand {
  const char* name;
  const char* help;
  Work work;
};

Status CheckImage(const cache::Entry& entry) {
  if (entry.kind != ImageKind::kCubin) return {};
  return cubin::Verify(entry.image, entry.target, entry.kernels);
}

Result<Report> Ls(cache::Store& store, const Options&) {
  return ReportList(store.config(), store.List());
}

Result<Report> Show(cache::Store& store, const Options& options) {
  LIJIT_ASSIGN(const cache::Entry entry, store.Read(options.key));
  std::string key = options.key;
  for (const cache::EntryInfo& info : store.List()) {
    if (info.key.starts_with(options.key)) key = info.key;
  }
  return ReportEntry(key, entry);
}

Result<Report> Verify(cache::Store& store, const Options&) {
  return ReportVerify(store.Verify(CheckImage));
}

Result<Report> Stats(cache::Store& store, const Options&) {
  return ReportStats(store.config(), store.Stats());
}

Result<Report> Gc(cache::Store& store, const Options& options) {
  std::uint64_t max_size = store.config().max_size;
  if (!options.max_size.empty()) {
    LIJIT_ASSIGN(max_size, cache::ParseSize(options.max_size));
  } else if (max_size == 0) {
    return InvalidArgument("LIJIT_CACHE_MAX_SIZE sets no limit; give one by --max-size");
  }
  LIJIT_ASSIGN(const cache::GcReport gc, store.Gc(max_size));
  return ReportGc(gc);
}

constexpr Subcommand kSubcommands[] = {
    {"ls", "list the entries of all folders", Ls},
    {"show", "print one entry's key, target, kernels, resources and log", Show},
    {"verify", "decode every entry and check its image; exit code 1 if any is damaged", Verify},
    {"stats", "entries, bytes, and what was counted by every process", Stats},
    {"gc", "remove the least recently used entries", Gc},
};

constexpr const char* kFooter =
    "export and import, which move entries to other machines, are not in this version; a folder\n"
    "may be copied as it is, or be mounted and named in $LIJIT_CACHE_READONLY_DIRS.\n"
    "Examples:\n"
    "  lijit cache ls\n"
    "  lijit cache show 3f2a\n"
    "  lijit cache verify --json\n"
    "  lijit cache gc --max-size 512MiB";

// A folder that cannot be used is no empty cache.
Result<Report> DoCache(const Options& options, const Subcommand& subcommand) {
  LIJIT_ASSIGN(const cache::CacheConfig config, ConfigWithFolder(options.cache_dir));
  cache::Store store(config);
  LIJIT_ASSIGN(Report report, subcommand.work(store, options));
  report.warnings = store.problems();
  report.ok = report.ok && store.problems().empty();
  report.json["ok"] = report.ok;
  report.json["problems"] = store.problems();
  return report;
}

}  // namespace

Action AddCache(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  const auto add_cache_dir = [&](CLI::App& to) {
    to.add_option("--cache-dir", options->cache_dir, kCacheDirHelp);
  };
  app.footer(kFooter);
  app.require_subcommand(1);
  add_cache_dir(app);
  for (const Subcommand& subcommand : kSubcommands) {
    add_cache_dir(*app.add_subcommand(subcommand.name, subcommand.help));
  }
  app.get_subcommand("show")
      ->add_option("KEY", options->key, "the first hex digits of a key")
      ->required();
  app.get_subcommand("gc")->add_option(
      "--max-size", options->max_size,
      "how much may stay, for example 512MiB\n(default: $LIJIT_CACHE_MAX_SIZE, 2GiB)");
  return [options, &app](Progress&) -> Result<Report> {
    for (const Subcommand& subcommand : kSubcommands) {
      if (app.got_subcommand(subcommand.name)) return DoCache(*options, subcommand);
    }
    return InvalidArgument("name one of the subcommands of lijit cache");
  };
}

}  // namespace lijit::tools
