// SPDX-License-Identifier: Apache-2.0
// `lijit run`: the options of the main job.
#include <fmt/format.h>

#include <memory>

#include "lijit/compiler.h"
#include "lijit/run.h"
#include "tools/cache_options.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/format_option.h"
#include "tools/npy.h"
#include "tools/render_run.h"

namespace lijit::tools {
namespace {

struct Options {
  RunRequest request;
  FormatOption format;
  std::string input = "bf16", rotation = "none", cache_dir;
  std::string q, k, w;         // files to read
  std::string out, top_k_out;  // files to write
};

struct InputType {
  const char* name;
  DType dtype;
};
constexpr InputType kInputTypes[] = {
    {"bf16", DType::kBf16}, {"f16", DType::kF16}, {"f32", DType::kF32}};

struct RotationOf {
  const char* name;
  std::string_view model;
};
constexpr RotationOf kRotations[] = {
    {"v3.2", "deepseek-v3.2"}, {"glm-5", "glm-5"}, {"v4", "deepseek-v4"}};

void AddJobOptions(CLI::App& app, Options& options) {
  RunRequest& request = options.request;
  AddFormatOption(app, options.format);
  app.add_option("--op", request.op, "paged: decode; ragged: prefill")
      ->check(CLI::IsMember({"paged", "ragged"}))
      ->capture_default_str();
  app.add_option("--target", request.runtime.target,
                 "what kernels are compiled for: sm_86, sm_90a, ... or\nnative (default: the CUDA "
                 "device's own; emulated: sm_86)");
  app.add_option("--device", request.runtime.device,
                 "auto (CUDA if there is a device, else emulated), cuda,\ncuda:N or emulated")
      ->capture_default_str();
  app.add_option("--backend", request.indexer.backend, "auto, cuda or ptx")->capture_default_str();
  app.add_option("--schedule", request.indexer.schedule, "auto, or a name that targets lists")
      ->capture_default_str();
  app.add_option("--rotation", options.rotation,
                 "rotation of rows before they are quantized, by model")
      ->check(CLI::IsMember({"none", "v3.2", "glm-5", "v4"}))
      ->capture_default_str();
  app.add_option("--cache-dir", options.cache_dir, kCacheDirHelp);
}

void AddShapeOptions(CLI::App& app, Options& options) {
  RunRequest& request = options.request;
  const auto add = [&app](const char* name, auto& value, const char* help) {
    app.add_option(name, value, help)->capture_default_str();
  };
  add("--heads", request.indexer.heads, "heads of a query");
  add("--head-dim", request.indexer.head_dim, "numbers in a row");
  add("--batch", request.batch, "requests");
  add("--next-n", request.next_n, "query rows a request (paged)");
  add("--context", request.context, "keys a request");
  add("--queries", request.queries, "query rows (ragged); 0 is 4");
  add("--page", request.indexer.page, "tokens a page");
  add("--page-stride", request.page_stride, "bytes from a page to the next; 0 is a page's bytes");
  add("--top-k", request.top_k, "columns to select a row");
  add("--seed", request.seed, "of random rows and weights");
  app.add_option("--input", options.input, "type of query and key rows")
      ->check(CLI::IsMember({"bf16", "f16", "f32"}))
      ->capture_default_str();
}

void AddFileOptions(CLI::App& app, Options& options) {
  app.add_option("--q", options.q, "queries [T,H,D] from this .npy file, not random ones");
  app.add_option("--k", options.k, "keys [N,D], likewise");
  app.add_option("--w", options.w, "weights [T,H], likewise");
  app.add_option("--out", options.out, "write the logits, f32 [rows,width], to this .npy file");
  app.add_option("--topk-out", options.top_k_out,
                 "write the selected columns, int32 [rows,top-k], best\nfirst, then -1");
}

Status ReadArray(const std::string& path, HostArray& array) {
  if (path.empty()) return {};
  LIJIT_ASSIGN(const std::string bytes, ReadFile(path));
  LIJIT_ASSIGN(array, ParseNpy(bytes, path));
  if (array.data.empty()) return InvalidArgument(path + ": it holds no numbers");
  return {};
}

// The request that the options amount to; files are read.
Result<RunRequest> Complete(const Options& options) {
  RunRequest request = options.request;
  if (request.op == "ragged" && (request.batch != 1 || request.next_n != 1)) {
    return InvalidArgument("--batch and --next-n are for --op paged; --op ragged has --queries");
  }
  LIJIT_TRY(ApplyFormat(options.format, request.indexer));
  LIJIT_ASSIGN(request.runtime.cache, ConfigWithFolder(options.cache_dir));
  for (const InputType& type : kInputTypes) {
    if (options.input == type.name) request.indexer.input = type.dtype;
  }
  for (const RotationOf& rotation : kRotations) {
    if (options.rotation != rotation.name) continue;
    for (const ModelInfo& model : Models()) {
      if (model.name == rotation.model) request.indexer.rotation = model.rotation;
    }
  }
  LIJIT_TRY(ReadArray(options.q, request.q));
  LIJIT_TRY(ReadArray(options.k, request.k));
  LIJIT_TRY(ReadArray(options.w, request.w));
  return request;
}

template <typename T>
Status WriteArray(const std::string& path, const std::vector<T>& data, std::int64_t rows,
                  std::int64_t columns) {
  if (path.empty()) return {};
  if (static_cast<std::int64_t>(data.size()) != rows * columns) {
    return Failed(path + " is not written: the run ended before it had these numbers");
  }
  const std::int64_t shape[] = {rows, columns};
  return WriteFile(path, FormatNpy(shape, std::span(data)));
}

Status WriteArrays(const Options& options, const RunReport& report) {
  LIJIT_TRY(WriteArray(options.out, report.logits, report.rows, report.width));
  return WriteArray(options.top_k_out, BestFirst(report), report.rows, report.top_k);
}

Result<Report> DoRun(const Options& options) {
  LIJIT_ASSIGN(const RunRequest request, Complete(options));
  LIJIT_ASSIGN(const RunReport run, Run(request));
  Report report{.json = RunJson(run), .text = RunText(run), .ok = run.ok};
  report.status = WriteArrays(options, run);
  return report;
}

}  // namespace

Action AddRun(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  AddJobOptions(app, *options);
  AddShapeOptions(app, *options);
  AddFileOptions(app, *options);
  app.footer(
      "Exit code 1: it ran, and a check did not hold.\n"
      "Example, without a GPU:\n"
      "  lijit run --format mxfp4 --target sm_86 --context 128 --json");
  return [options](Progress&) { return DoRun(*options); };
}

}  // namespace lijit::tools
