// SPDX-License-Identifier: Apache-2.0
// Every shipped kernel in every format for every target: sound after each pass, and the same after
// printing and parsing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/lower/lower.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::lower {
namespace {

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const ir::Format& format : ir::AllFormats().formats) names.push_back(format.name);
  return names;
}

// The kernels of both shipped modules; the small dimensions keep the test short.
std::vector<ir::Module> KernelsOf(const std::string& format) {
  std::vector<ir::Module> kernels;
  for (const char* file : {"indexer.lir", "rotated.lir"}) {
    const ir::Module all = ir::ModuleOf(ir::AllFormatsText() + std::string(ir::ShippedText(file)),
                                        {{"format", "@" + format}, {"heads", "16"}});
    for (const ir::Kernel& kernel : all.kernels) {
      kernels.push_back(ExtractKernel(all, kernel.name).value());
    }
  }
  return kernels;
}

void ExpectSound(const ir::Module& module, std::string_view where) {
  const auto problems = ir::Verify(module);
  ASSERT_TRUE(problems.empty()) << where << ": " << problems[0].message;
  const std::string text = ir::Print(module);
  const auto parsed = ir::ParseAndVerify(text, "lowered.lir");
  ASSERT_TRUE(parsed.ok()) << where << ": " << parsed.error().message;
  ASSERT_EQ(ir::Print(*parsed), text) << where;
}

class Soundness : public testing::TestWithParam<std::string> {};

TEST_P(Soundness, HoldsAfterEveryPass) {
  const std::vector<ir::Module> kernels = KernelsOf(GetParam());
  EXPECT_EQ(kernels.size(), 8u);
  for (const ir::Module& kernel : kernels) {
    // Targets that give the same text again are parsed once.
    std::set<std::string> seen;
    for (const target::Target& target : target::AllTargets()) {
      ir::Module module = kernel;
      for (const Pass& pass : AllPasses()) {
        const std::string where =
            fmt::format("@{} on {} after {}", kernel.kernels[0].name, target.name, pass.name);
        const Status status = pass.run(module, target);
        ASSERT_TRUE(status.ok()) << where << ": " << status.error().message;
        if (seen.insert(ir::Print(module)).second) ExpectSound(module, where);
        if (HasFatalFailure()) return;
      }
      EXPECT_TRUE(module.kernels[0].is_entry);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Soundness, testing::ValuesIn(FormatNames()),
                         [](const testing::TestParamInfo<std::string>& param) {
                           return param.param;
                         });

}  // namespace
}  // namespace lijit::lower
