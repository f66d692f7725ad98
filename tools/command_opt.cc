// SPDX-License-Identifier: Apache-2.0
// `lijit opt`: .lir text in, .lir text out.
#include <fmt/format.h>

#include <memory>

#include "lijit/compiler.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/parameter_option.h"

namespace lijit::tools {
namespace {

struct Options {
  std::string file;
  OptimizeRequest request;
  std::vector<std::string> parameters;
};

Result<Report> DoOpt(const Options& options) {
  OptimizeRequest request = options.request;
  LIJIT_ASSIGN(request.text, ReadFile(options.file));
  request.name = options.file == "-" ? "stdin" : options.file;
  LIJIT_ASSIGN(request.parameters, ParseParameters(options.parameters));
  LIJIT_ASSIGN(const std::string text, Optimize(request));
  return Report{.json = {{"ok", true}, {"target", request.target}, {"text", text}}, .text = text};
}

std::string PassList() {
  std::string text = "Passes, in the order of --all-passes:\n";
  for (const PassInfo& pass : Passes()) text += fmt::format("  {:<22} {}\n", pass.name, pass.doc);
  return text;
}

}  // namespace

Action AddOpt(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file, ".lir text, or - for stdin")->required();
  app.add_option("--target", options->request.target, "what passes lower for")
      ->capture_default_str();
  CLI::Option* const pass =
      app.add_option("--pass", options->request.passes, "run this pass (again: then that one)")
          ->take_all()
          ->allow_extra_args(false);
  app.add_flag("--all-passes", options->request.all_passes, "run all passes in their order")
      ->excludes(pass);
  AddParameterOption(app, options->parameters);
  app.footer(PassList() +
             "Without passes the text is parsed, verified and printed.\n"
             "Example:\n"
             "  lijit opt tests/formats/nvfp4.lir --target sm_90a --all-passes");
  return [options](Progress&) { return DoOpt(*options); };
}

}  // namespace lijit::tools
