// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "tools/dump_command.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Describes a cubin or fatbin: target, what runs it, kernels and their resources, damage.\n"
      "Exit codes: 0 done, 1 the file has problems, 2 usage or another kind of file, 4 no "
      "nvdisasm.");
  lijit::tools::DumpOptions options;
  app.add_option("FILE", options.path, "a cubin or fatbin")->required();
  app.add_flag("--json", options.json, "print one JSON object");
  app.add_flag("--sass", options.sass, "disassemble, too, if nvdisasm is found");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return lijit::tools::RunDump(options);
}
