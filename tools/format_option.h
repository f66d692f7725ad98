// SPDX-License-Identifier: Apache-2.0
// --format NAME|FILE.lir [--format-name NAME], as several commands have it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "lijit/indexer.h"
#include "lijit/result.h"

namespace lijit::tools {

struct FormatOption {
  std::string format = "fp8_e4m3";
  std::string name;
};

void AddFormatOption(CLI::App& app, FormatOption& option);

// Sets `config`'s format and, for a file, its module. Without --format-name the file's only format
// is meant. kInvalidArgument lists the formats if there are several or none.
Status ApplyFormat(const FormatOption& option, IndexerConfig& config);

// Whether an argument names a file of .lir text.
inline bool IsLirFile(std::string_view argument) {
  return argument == "-" || argument.ends_with(".lir");
}

}  // namespace lijit::tools
