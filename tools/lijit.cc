// SPDX-License-Identifier: Apache-2.0
// The program `lijit`: finds the command and prints what it came to.
#include <CLI/CLI.hpp>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/exit_codes.h"
#include "tools/progress.h"
#include "tools/report.h"

namespace {

using namespace lijit::tools;  // NOLINT: this file is the program

struct Command {
  const char* name;
  const char* help;
  Action (*add)(CLI::App&);
};

constexpr Command kCommands[] = {
    {"run", "quantize, write the cache, score, select; check all of it against the reference",
     AddRun},
    {"opt", "parse, verify and lower .lir text, and print it", AddOpt},
    {"emit", "print the code generated for a kernel: CUDA C++, PTX or a cubin", AddEmit},
    {"warm", "compile everything that serving a model would, without a GPU", AddWarm},
    {"cache", "look after the kernel cache: ls, show, explain, verify, stats, gc, export, import",
     AddCache},
    {"dump", "describe or compare cubins, fatbins, cache entries, bundles", AddDump},
    {"targets", "the support table: what runs where, by what evidence, what is refused and why",
     AddTargets},
    {"plan", "tokens and bytes of a cache before an engine starts, and why it said otherwise",
     AddPlan},
    {"doctor", "driver, devices, compilers, cache folder, and what would be used", AddDoctor},
    {"bench", "times of the score kernels on a GPU, verified first, beside a peer's", AddBench},
};

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 it ran and the answer is no, or it failed; 2 options or input are "
    "wrong;\n"
    "3 refused by the support table; 4 the environment lacks something, which the message names.\n"
    "Environment: LIJIT_CACHE_DIR, LIJIT_CACHE_READONLY_DIRS, LIJIT_CACHE_MAX_SIZE, "
    "LIJIT_BACKEND,\n"
    "LIJIT_NVRTC, LIJIT_NVJITLINK, LIJIT_LOG.\n"
    "Each command has an example: lijit run --help";

// Before the options are parsed, too.
bool WantsJson(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) return true;
  }
  return false;
}

// Why the words before the first option name no command; "" if they do. (The parser would only say
// that one is required.)
std::string UnknownCommand(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const CLI::App* found = nullptr;
    std::string known;
    for (const CLI::App* const subcommand : at->get_subcommands({})) {
      if (subcommand->get_name() == argv[i]) found = subcommand;
      known += (known.empty() ? "" : ", ") + subcommand->get_name();
    }
    if (known.empty()) return "";
    if (found == nullptr) {
      return at->get_name() + " has no command '" + argv[i] + "'; it has " + known;
    }
    at = found;
  }
  return "";
}

// To the command and to its subcommands, wherever it is written.
void AddJsonFlag(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "print one JSON object on stdout");
  for (CLI::App* const subcommand : app.get_subcommands({})) AddJsonFlag(*subcommand, json);
}

int Main(int argc, char** argv) {
  CLI::App app(
      "lijit generates, compiles, caches and runs the kernels of sparse-attention indexers.",
      "lijit");
  app.get_formatter()->column_width(36);
  app.require_subcommand(1);
  app.set_version_flag("--version", "lijit " LIJIT_VERSION);
  app.footer(kFooter);
  bool json = WantsJson(argc, argv);
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : kCommands) {
    CLI::App* const subcommand = app.add_subcommand(command.name, command.help);
    actions.emplace_back(subcommand, command.add(*subcommand));
    AddJsonFlag(*subcommand, json);
  }
  if (const std::string unknown = UnknownCommand(app, argc, argv); !unknown.empty()) {
    return Print("lijit", lijit::InvalidArgument(unknown), json);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return Print("lijit", lijit::InvalidArgument(error.what() + std::string("; see --help")), json);
  }
  for (const auto& [subcommand, action] : actions) {
    if (!subcommand->parsed()) continue;
    lijit::Result<Report> report = [&] {
      Progress progress("lijit " + subcommand->get_name());
      return action(progress);
    }();
    return Print("lijit", report, json);
  }
  return kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {
    return Print("lijit", lijit::Failed(error.what()), WantsJson(argc, argv));
  }
}
