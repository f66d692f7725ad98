// SPDX-License-Identifier: Apache-2.0
// `lijit cache`: look after the kernel cache.
#include <memory>

#include "lijit/bundle.h"
#include "lijit/cache.h"
#include "lijit/cubin.h"
#include "tools/cache_options.h"
#include "tools/commands.h"
#include "tools/render_cache.h"
#include "tools/render_key.h"

namespace lijit::tools {
namespace {

struct Options {
  std::string cache_dir;
  std::string key, other_key;
  std::string max_size;
  std::string file;
  std::vector<std::string> targets;
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
  return ReportEntry(cache::KeyDigest(entry.key), entry);
}

Result<Report> Explain(cache::Store& store, const Options& options) {
  LIJIT_ASSIGN(const cache::Entry a, store.Read(options.key));
  LIJIT_ASSIGN(const cache::Entry b, store.Read(options.other_key));
  return ReportExplain(a.key, b.key);
}

Result<Report> Export(cache::Store& store, const Options& options) {
  LIJIT_ASSIGN(const cache::BundleReport bundle,
               cache::Export(store, options.file, options.targets, CheckImage));
  return ReportExport(options.file, bundle);
}

Result<Report> Import(cache::Store& store, const Options& options) {
  LIJIT_ASSIGN(const cache::BundleReport bundle, cache::Import(store, options.file, CheckImage));
  return ReportImport(options.file, bundle);
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
    {"explain", "say in what the keys of two entries differ", Explain},
    {"verify", "decode every entry and check its image; exit code 1 if any is damaged", Verify},
    {"stats", "entries, bytes, and what was counted by every process", Stats},
    {"gc", "remove the least recently used entries", Gc},
    {"export", "write the entries of all folders to one file, for other machines", Export},
    {"import", "store the entries of such a file, all or none", Import},
};

constexpr const char* kFooter =
    "A file of export is a tar archive. Unpacked, for example as a layer of an image, it is a\n"
    "folder for $LIJIT_CACHE_READONLY_DIRS. The same entries give the same bytes.\n"
    "Examples:\n"
    "  lijit cache ls\n"
    "  lijit cache show 3f2a\n"
    "  lijit cache verify --json\n"
    "  lijit cache gc --max-size 512MiB\n"
    "  lijit cache export kernels.tar --target sm_90a";

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
  CLI::App& explain = *app.get_subcommand("explain");
  explain.add_option("A", options->key, "the first hex digits of a key")->required();
  explain.add_option("B", options->other_key, "the same of another key")->required();
  for (const char* const name : {"export", "import"}) {
    app.get_subcommand(name)->add_option("FILE", options->file, "the bundle")->required();
  }
  app.get_subcommand("export")
      ->add_option("--target", options->targets, "comma-separated targets (default: all)")
      ->delimiter(',');
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
