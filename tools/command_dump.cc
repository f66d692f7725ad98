// SPDX-License-Identifier: Apache-2.0
// `lijit dump`: describe a cubin, a fatbin or a cache entry.
#include <memory>

#include "tools/commands.h"
#include "tools/dump_command.h"

namespace lijit::tools {

Action AddDump(CLI::App& app) {
  const auto options = std::make_shared<DumpOptions>();
  app.add_option("FILE", options->path, "a cubin, a fatbin or an entry of the kernel cache")
      ->required();
  app.add_flag("--sass", options->sass, "disassemble, too, if nvdisasm is found");
  app.footer(
      "Exit code 1: the file is damaged; what could be read of it is printed all the same.\n"
      "Example:\n"
      "  lijit dump logits.cubin --json");
  return [options](Progress&) { return Dump(*options); };
}

}  // namespace lijit::tools
