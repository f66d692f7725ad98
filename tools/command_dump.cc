// SPDX-License-Identifier: Apache-2.0
// `lijit dump`: describe a cubin, a fatbin, a cache entry or a bundle.
#include <memory>

#include "tools/commands.h"
#include "tools/dump_command.h"

namespace lijit::tools {

Action AddDump(CLI::App& app) {
  const auto options = std::make_shared<DumpOptions>();
  AddDumpOptions(app, *options);
  app.footer(
      "Exit code 1: the file is damaged, what could be read of it being printed all the same; or\n"
      "the files differ.\n"
      "Examples:\n"
      "  lijit dump logits.cubin --json\n"
      "  lijit dump --diff old.cubin new.cubin");
  return [options](Progress&) { return Dump(*options); };
}

}  // namespace lijit::tools
