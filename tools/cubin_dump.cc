// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "tools/dump_command.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Describes a cubin, a fatbin, an entry of lijit's cache or a bundle of them: target, what\n"
      "runs it, kernels and their resources, damage.\n"
      "Exit codes: 0 done, 1 the file has problems or the files differ, 2 usage or another kind "
      "of\n"
      "file, 4 no nvdisasm.");
  lijit::tools::DumpOptions options;
  lijit::tools::AddDumpOptions(app, options);
  app.add_flag("--json", options.json, "print one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return lijit::tools::RunDump(options);
}
