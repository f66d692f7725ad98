// SPDX-License-Identifier: Apache-2.0
// `lijit bench`: times of the score kernels on a GPU, beside a peer's.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "lijit/analyze.h"
#include "lijit/bench.h"
#include "tools/bench_file.h"
#include "tools/cache_options.h"
#include "tools/commands.h"
#include "tools/disassemble.h"
#include "tools/files.h"
#include "tools/format_option.h"
#include "tools/render_analysis.h"
#include "tools/render_bench.h"

namespace lijit::tools {
namespace {

constexpr char kListSeparator = ',';

struct Options {
  BenchRequest request;
  IndexerConfig indexer;  // but for format and heads
  std::vector<std::string> formats = {"fp8_e4m3", "mxfp4"};
  std::string format_name, cache_dir;
  std::vector<std::string> ops = {"paged"}, masks = {"causal"};
  std::vector<int> heads = {64}, next_n = {1};
  std::vector<std::int64_t> batch = {1}, context = {4096}, queries = {2048}, keys = {4096};
  std::vector<std::string> shapes;  // files or names, instead of all these
  std::vector<std::string> targets;
  bool verify_only = false;
  std::int64_t rotate_mib = 256;
  std::string results, compare;  // files
  bool analyze = false, markdown = false;
  std::vector<std::string> gpus;
};

void AddJobOptions(CLI::App& app, Options& options) {
  app.add_option("--format", options.formats,
                 "shipped formats, or FILE.lir that declare one each;\nseveral: with commas, as in "
                 "all lists here")
      ->delimiter(kListSeparator)
      ->capture_default_str();
  app.add_option("--target", options.targets,
                 "what kernels are compiled for (default: the device's own, or\nwith --analyze the "
                 "GPUs')")
      ->delimiter(kListSeparator);
  app.add_option("--device", options.request.runtime.device, "auto, cuda, cuda:N or emulated")
      ->capture_default_str();
  app.add_option("--backend", options.indexer.backend, "auto, cuda or ptx")->capture_default_str();
  app.add_option("--schedule", options.indexer.schedule, "auto, or a name that targets lists")
      ->capture_default_str();
  app.add_option("--cache-dir", options.cache_dir, kCacheDirHelp);
  app.add_option("--seed", options.request.seed, "of rows and block tables")->capture_default_str();
  app.add_option("--replays", options.request.replays, "timed replays of a graph")
      ->capture_default_str();
  app.add_option("--rotate", options.rotate_mib,
                 "MiB of pages that decode reads before it returns to\nthe first")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_flag("--verify-only", options.verify_only, "no times; what the emulated device can do");
}

void AddShapeOptions(CLI::App& app, Options& options) {
  app.add_option("--shapes", options.shapes,
                 "instead of the lists below: deepgemm (the 64 shapes that\nDeepGEMM was measured "
                 "with), or FILE.json with \"rows\"");
  const auto list = [&app](const char* name, auto& values, const char* help) {
    return app.add_option(name, values, help)->delimiter(kListSeparator)->capture_default_str();
  };
  list("--op", options.ops, "paged: decode; ragged: prefill")
      ->check(CLI::IsMember({"paged", "ragged"}));
  list("--heads", options.heads, "heads of a query");
  list("--batch", options.batch, "requests (paged)");
  list("--context", options.context, "keys a request (paged)");
  list("--next-n", options.next_n, "query rows a request (paged)");
  list("--queries", options.queries, "query rows (ragged)");
  list("--keys", options.keys, "keys (ragged)");
  list("--mask", options.masks, "causal or full (ragged)")
      ->check(CLI::IsMember({"causal", "full"}));
  app.add_option("--head-dim", options.indexer.head_dim, "numbers in a row")->capture_default_str();
  app.add_option("--page", options.indexer.page, "tokens a page")->capture_default_str();
}

void AddCompareOptions(CLI::App& app, Options& options) {
  app.add_option("--compare", options.compare,
                 "also show the ratio to a peer's times, a JSON file with\nthe same members");
  app.add_option("--results", options.results,
                 "compare this file, which bench --json printed, and\nmeasure nothing")
      ->needs("--compare");
}

void AddAnalyzeOptions(CLI::App& app, Options& options) {
  CLI::Option* const analyze = app.add_flag(
      "--analyze", options.analyze,
      "measure nothing and need no GPU: what the kernels execute for\neach pair of query and key, "
      "and what would bound them");
  for (const char* const other : {"--device", "--shapes", "--verify-only", "--replays", "--rotate",
                                  "--compare", "--results", "--cache-dir"}) {
    analyze->excludes(other);
  }
  app.add_option("--gpu", options.gpus,
                 "with --analyze: predict for these (default: all of the\ntarget's kind)")
      ->delimiter(kListSeparator)
      ->needs(analyze);
  app.add_flag("--markdown", options.markdown, "with --analyze: the table of docs/performance.md")
      ->needs(analyze);
}

void AddDecode(const Options& options, int heads, std::vector<BenchShape>& shapes) {
  for (const int next_n : options.next_n) {
    for (const std::int64_t batch : options.batch) {
      for (const std::int64_t context : options.context) {
        BenchShape& shape = shapes.emplace_back();
        shape.heads = heads;
        shape.next_n = next_n;
        shape.batch = batch;
        shape.context = context;
      }
    }
  }
}

void AddPrefill(const Options& options, int heads, std::vector<BenchShape>& shapes) {
  for (const std::int64_t queries : options.queries) {
    for (const std::int64_t keys : options.keys) {
      for (const std::string& mask : options.masks) {
        BenchShape& shape = shapes.emplace_back();
        shape.op = "ragged";
        shape.heads = heads;
        shape.queries = queries;
        shape.keys = keys;
        shape.causal = mask == "causal";
      }
    }
  }
}

Result<std::vector<BenchShape>> ShapesOf(const Options& options) {
  std::vector<BenchShape> shapes;
  for (const std::string& name : options.shapes) {
    if (!name.ends_with(".json") && name != "-") {
      LIJIT_ASSIGN(const std::vector<BenchShape> named, NamedShapes(name));
      shapes.insert(shapes.end(), named.begin(), named.end());
      continue;
    }
    LIJIT_ASSIGN(const std::string text, ReadFile(name));
    LIJIT_ASSIGN(const std::vector<BenchTime> times, ParseBenchFile(text, name));
    for (const BenchTime& time : times) shapes.push_back(time.shape);
  }
  if (!options.shapes.empty()) return shapes;
  for (const std::string& op : options.ops) {
    for (const int heads : options.heads) {
      op == "paged" ? AddDecode(options, heads, shapes) : AddPrefill(options, heads, shapes);
    }
  }
  return shapes;
}

Result<std::vector<IndexerConfig>> IndexersOf(const Options& options) {
  std::vector<IndexerConfig> indexers;
  for (const std::string& format : options.formats) {
    IndexerConfig config = options.indexer;
    LIJIT_TRY(ApplyFormat({format, ""}, config));
    indexers.push_back(std::move(config));
  }
  return indexers;
}

Result<BenchRequest> Complete(const Options& options, Progress& progress) {
  BenchRequest request = options.request;
  LIJIT_ASSIGN(request.runtime.cache, ConfigWithFolder(options.cache_dir));
  if (options.targets.size() > 1) {
    return InvalidArgument("a device runs kernels of one target; several are for --analyze");
  }
  if (!options.targets.empty()) request.runtime.target = options.targets[0];
  LIJIT_ASSIGN(request.indexers, IndexersOf(options));
  LIJIT_ASSIGN(request.shapes, ShapesOf(options));
  request.time = !options.verify_only;
  request.rotated_bytes = options.rotate_mib << 20;
  request.progress = [&progress](int done, int total) { progress.Set(done, total); };
  return request;
}

std::vector<BenchTime> TimesOf(const BenchReport& report) {
  std::vector<BenchTime> times;
  for (const BenchRow& row : report.rows) {
    times.push_back({row.shape, row.format, row.us.value_or(0), 0});
  }
  return times;
}

Result<std::vector<BenchTime>> ReadTimes(const std::string& path) {
  LIJIT_ASSIGN(const std::string text, ReadFile(path));
  return ParseBenchFile(text, path);
}

Result<Report> CompareFiles(const Options& options) {
  LIJIT_ASSIGN(const std::vector<BenchTime> ours, ReadTimes(options.results));
  LIJIT_ASSIGN(const std::vector<BenchTime> peer, ReadTimes(options.compare));
  const BenchComparison comparison = CompareTimes(ours, peer);
  return Report{.json = ComparisonJson(comparison),
                .text = ComparisonText(comparison),
                .ok = !comparison.rows.empty()};
}

Result<Report> DoAnalyze(const Options& options, Progress& progress) {
  if (options.heads.size() != 1 || options.next_n.size() != 1) {
    return InvalidArgument("--analyze takes one number for --heads and one for --next-n");
  }
  AnalyzeRequest request;
  request.targets = options.targets;
  request.gpus = options.gpus;
  request.ops = options.ops;
  LIJIT_ASSIGN(request.indexers, IndexersOf(options));
  for (IndexerConfig& config : request.indexers) config.heads = options.heads[0];
  request.next_n = options.next_n[0];
  request.disassemble = [](std::span<const std::byte> cubin) -> Result<std::string> {
    LIJIT_ASSIGN(const std::string nvdisasm, FindNvdisasm());
    return Disassemble(nvdisasm, cubin);
  };
  request.progress = [&](int done, int total) { progress.Set(done, total); };
  LIJIT_ASSIGN(const AnalyzeReport analysis, Analyze(request));
  return Report{.json = AnalysisJson(analysis),
                .text = options.markdown ? AnalysisMarkdown(analysis) : AnalysisText(analysis),
                .ok = analysis.ok};
}

Result<Report> DoBench(const Options& options, Progress& progress) {
  if (options.analyze) return DoAnalyze(options, progress);
  if (!options.results.empty()) return CompareFiles(options);
  std::optional<std::vector<BenchTime>> peer;  // read first: a bad file should not cost a bench
  if (!options.compare.empty()) {
    LIJIT_ASSIGN(peer, ReadTimes(options.compare));
  }
  LIJIT_ASSIGN(const BenchRequest request, Complete(options, progress));
  LIJIT_ASSIGN(const BenchReport bench, Bench(request));
  Report report{.json = BenchJson(bench), .text = BenchText(bench), .ok = bench.ok};
  if (!peer) return report;
  const BenchComparison comparison = CompareTimes(TimesOf(bench), *peer);
  report.json["comparison"] = ComparisonJson(comparison);
  report.text += "\n" + ComparisonText(comparison);
  return report;
}

}  // namespace

Action AddBench(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  AddJobOptions(app, *options);
  AddShapeOptions(app, *options);
  AddCompareOptions(app, *options);
  AddAnalyzeOptions(app, *options);
  app.footer(
      "Every number is verified before anything is timed. Exit code 1: a row is wrong or failed.\n"
      "Examples:\n"
      "  lijit bench --shapes deepgemm --json\n"
      "  lijit bench --batch 8,64 --context 4096,32768 --format mxfp4 --compare peer.json\n"
      "  lijit bench --device emulated --verify-only --heads 8 --context 300 --rotate 1\n"
      "  lijit bench --analyze --target sm_86 --op paged,ragged");
  return [options](Progress& progress) { return DoBench(*options, progress); };
}

}  // namespace lijit::tools
