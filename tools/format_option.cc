// SPDX-License-Identifier: Apache-2.0
#include "tools/format_option.h"

#include <fmt/format.h>

#include "lijit/compiler.h"
#include "tools/files.h"
#include "tools/text_table.h"

namespace lijit::tools {

void AddFormatOption(CLI::App& app, FormatOption& option) {
  app.add_option("--format", option.format,
                 "a shipped format (fp8_e4m3, mxfp4), or FILE.lir that declares one")
      ->capture_default_str();
  app.add_option("--format-name", option.name, "which of FILE.lir's formats, if it has several");
}

Status ApplyFormat(const FormatOption& option, IndexerConfig& config) {
  if (!IsLirFile(option.format)) {
    if (!option.name.empty()) {
      return InvalidArgument("--format-name chooses among the formats of --format FILE.lir");
    }
    config.format = option.format;
    return {};
  }
  LIJIT_ASSIGN(config.module, ReadFile(option.format));
  config.module_name = option.format;
  config.format = option.name;
  if (!option.name.empty()) return {};
  LIJIT_ASSIGN(const auto formats, DeclaredFormats(config.module, config.module_name));
  if (formats.size() != 1) {
    return InvalidArgument(fmt::format("{} declares {} formats{}{}; choose one by --format-name",
                                       option.format, formats.size(), formats.empty() ? "" : ": ",
                                       Join(formats)));
  }
  config.format = formats[0];
  return {};
}

}  // namespace lijit::tools
