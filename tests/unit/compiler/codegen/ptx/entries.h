// SPDX-License-Identifier: Apache-2.0
// Lowered kernels that the tests of this folder print.
#pragma once

#include <string>
#include <string_view>

#include "compiler/lower/lower.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::codegen {

inline target::Target TargetNamed(std::string_view name) {
  return target::ParseTarget(name).value();
}

inline ir::Module LoweredKernel(std::string_view kernel, std::string_view format,
                                std::string_view target) {
  const Result<ir::Module> one = lower::ExtractKernel(ir::IndexerOf(format), kernel);
  EXPECT_TRUE(one.ok());
  return lower::Lower(*one, TargetNamed(target), "simt").value();
}

inline std::string EntryText(std::string_view body) {
  return "entry @entry : top_k threads 32 tile 1, 1 shared 1024 (%p: ptr, %q: ptr, %n: i64) {\n" +
         std::string(body) + "  yield\n}\n";
}

}  // namespace lijit::codegen
