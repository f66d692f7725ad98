// SPDX-License-Identifier: Apache-2.0
// `lijit dump` and `cubin-dump`.
#pragma once

#include <string>

#include "tools/report.h"

namespace lijit::tools {

struct DumpOptions {
  std::string path;
  bool json = false;
  bool sass = false;  // disassemble, too
};

// Describes a cubin, a fatbin or a cache entry, damaged ones with their problems. kInvalidArgument:
// no such file, or one of another kind.
Result<Report> Dump(const DumpOptions& options);

// Prints Dump's report. Returns the exit code: 0 done, 1 the file has problems or nvdisasm refuses
// it, 2 no such file or one of another kind, 4 no nvdisasm.
int RunDump(const DumpOptions& options);

}  // namespace lijit::tools
