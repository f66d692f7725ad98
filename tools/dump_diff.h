// SPDX-License-Identifier: Apache-2.0
// What differs between two files that `lijit dump` describes.
#pragma once

#include <string>

#include "lijit/cubin.h"
#include "tools/report.h"

namespace lijit::tools {

struct DumpSide {
  std::string path;
  nlohmann::ordered_json json;  // of its report
  const cubin::Dump* dump = nullptr;
  std::string sass;  // or ""
};

// Every value of the dumps that differs, by its path ("kernels/logits_paged/registers"), and the
// first bytes in which sections' contents do; `ok` if nothing does.
Report ReportDumpDiff(const DumpSide& a, const DumpSide& b);

}  // namespace lijit::tools
