// SPDX-License-Identifier: Apache-2.0
// `lijit dump` and `cubin-dump`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/report.h"

namespace lijit::tools {

struct DumpOptions {
  std::vector<std::string> paths;
  bool json = false;
  bool sass = false;  // disassemble, too
  bool diff = false;  // say what differs between two files
};

// FILE, --sass and --diff.
void AddDumpOptions(CLI::App& app, DumpOptions& options);

// Describes a cubin, a fatbin, a cache entry or a bundle, damaged ones with their problems; or what
// differs between two. kInvalidArgument: no such file, or one of another kind.
Result<Report> Dump(const DumpOptions& options);

// Prints Dump's report. Returns the exit code: 0 done, 1 the file has problems, the files differ or
// nvdisasm refuses one, 2 no such file or one of another kind, 4 no nvdisasm.
int RunDump(const DumpOptions& options);

}  // namespace lijit::tools
