// SPDX-License-Identifier: Apache-2.0
// `lijit emit`: what a kernel is compiled from, or to.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "lijit/compiler.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/format_option.h"
#include "tools/parameter_option.h"

namespace lijit::tools {
namespace {

struct Options {
  std::string subject;  // KERNEL or FILE.lir
  EmitRequest request;
  FormatOption format;
  std::vector<std::string> parameters;
  std::string output_file;
};

Result<EmitRequest> Complete(const Options& options) {
  EmitRequest request = options.request;
  if (IsLirFile(options.subject)) {
    LIJIT_ASSIGN(request.text, ReadFile(options.subject));
    request.name = options.subject == "-" ? "stdin" : options.subject;
  } else if (request.kernel.empty()) {
    request.kernel = options.subject;
  } else {
    return InvalidArgument("--kernel chooses among the kernels of FILE.lir");
  }
  LIJIT_TRY(ApplyFormat(options.format, request.config));
  LIJIT_ASSIGN(request.parameters, ParseParameters(options.parameters));
  const bool binary = request.output == "cubin";
  if (binary && options.output_file.empty() && isatty(STDOUT_FILENO) == 1) {
    return InvalidArgument("a cubin is no text for a terminal; name a file with -o");
  }
  return request;
}

Result<Report> DoEmit(const Options& options) {
  LIJIT_ASSIGN(const EmitRequest request, Complete(options));
  LIJIT_ASSIGN(std::string code, Emit(request));
  Report report;
  report.json = {{"ok", true},
                 {"kernel", request.kernel},
                 {"target", request.target},
                 {"backend", request.backend},
                 {"output", request.output},
                 {"bytes", code.size()},
                 {"file", nullptr},
                 {"text", nullptr}};
  if (!options.output_file.empty()) {
    LIJIT_TRY(WriteFile(options.output_file, code));
    report.json["file"] = options.output_file;
    return report;
  }
  if (request.output != "cubin") report.json["text"] = code;
  report.text = std::move(code);
  return report;
}

}  // namespace

Action AddEmit(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  EmitRequest& request = options->request;
  const auto add = [&app](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->capture_default_str();
  };
  app.add_option("KERNEL", options->subject,
                 "a shipped kernel, for example logits_paged; or FILE.lir")
      ->required();
  app.add_option("--kernel", request.kernel, "which of FILE.lir's kernels, if it has several");
  add("--target", request.target, "what to generate for");
  add("--backend", request.backend, "auto, cuda or ptx");
  add("--output", request.output,
      "cuda (C++) and llvm (LLVM IR), the backends' sources; ptx, cubin")
      ->check(CLI::IsMember({"cuda", "llvm", "ptx", "cubin"}));
  AddFormatOption(app, options->format);
  add("--heads", request.config.heads, "heads of a query");
  add("--head-dim", request.config.head_dim, "numbers in a row");
  add("--page", request.config.page, "tokens a page");
  add("--schedule", request.config.schedule, "auto, or a name that targets lists");
  AddParameterOption(app, options->parameters);
  app.add_option("-o", options->output_file, "write to this file instead of stdout");
  app.footer(
      "Example:\n"
      "  lijit emit logits_paged --format mxfp4 --target sm_90a --output ptx -o logits.ptx");
  return [options](Progress&) { return DoEmit(*options); };
}

}  // namespace lijit::tools
