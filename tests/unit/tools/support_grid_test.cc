// SPDX-License-Identifier: Apache-2.0
#include "tools/support_grid.h"

#include <gtest/gtest.h>

namespace lijit::tools {
namespace {

// One target with two ways, one with a gap, one refused.
std::vector<SupportRow> Table() {
  return {{"sm_90a", "fp8", "logits.paged", "simt", "cuda", "emulated", ""},
          {"sm_90a", "fp8", "top_k", "simt", "cuda", "hardware", ""},
          {"sm_90a", "fp8", "logits.paged", "wgmma", "cuda", "hardware", ""},
          {"sm_100f", "fp8", "logits.paged", "simt", "cuda", "emulated", ""},
          {"sm_100f", "fp8", "top_k", "simt", "cuda", "emulated", ""},
          {"sm_100f", "mxfp4", "logits.paged", "simt", "cuda", "emulated", ""},
          {"sm_100f", "mxfp4", "top_k", "simt", "cuda", "emulated", ""},
          {"sm_100f", "mxfp4", "logits.paged", "simt", "ptx", "emulated", ""},
          {"sm_100f", "mxfp4", "top_k", "simt", "ptx", "emulated", ""},
          {"sm_100f", "mxfp4", "top_k", "umma", "cuda", "", "not written; use simt"},
          {"sm_75", "*", "*", "*", "*", "", "too old; use sm_80"}};
}

TEST(SupportGridTest, Text) {
  EXPECT_EQ(SupportText(MakeSupportGrid(Table())),
            "target   schedule  backend  fp8                              mxfp4\n"
            "sm_90a   simt      cuda     emulated 1, hardware 1 of 2 ops  -\n"
            "sm_90a   wgmma     cuda     hardware 1 of 2 ops              -\n"
            "sm_100f  simt      cuda     emulated                         emulated\n"
            "sm_100f  simt      ptx      -                                emulated\n"
            "\n"
            "refused  what                   why, and what would work\n"
            "sm_100f  mxfp4 top_k umma cuda  not written; use simt\n"
            "sm_75    everything             too old; use sm_80\n");
}

TEST(SupportGridTest, MarkdownHasARowATarget) {
  EXPECT_EQ(SupportMarkdown(MakeSupportGrid(Table())),
            "| target | `fp8` | `mxfp4` |\n"
            "| --- | --- | --- |\n"
            "| `sm_90a` | `simt`, cuda: emulated 1, hardware 1 of 2 ops<br>`wgmma`, cuda: "
            "hardware 1 of 2 ops | no |\n"
            "| `sm_100f` | `simt`, cuda: emulated | `simt`, cuda and ptx: emulated |\n"
            "\n"
            "- `sm_100f`, mxfp4 top_k umma cuda: refused; not written; use simt\n"
            "- `sm_75`, everything: refused; too old; use sm_80\n");
}

TEST(SupportGridTest, MarkdownSaysEqualThingsOnce) {
  std::vector<SupportRow> table;
  for (const char* target : {"sm_80", "sm_86", "sm_90a"}) {
    for (const char* format : {"fp8", "mxfp4", "bf16"}) {
      const bool other = std::string(target) == "sm_90a" && std::string(format) == "mxfp4";
      table.push_back(
          {target, format, "top_k", "simt", "cuda", other ? "hardware" : "emulated", ""});
    }
  }
  EXPECT_EQ(SupportMarkdown(MakeSupportGrid(table)),
            "| target | `fp8`, `bf16` | `mxfp4` |\n"
            "| --- | --- | --- |\n"
            "| `sm_80`, `sm_86` | `simt`, cuda: emulated | `simt`, cuda: emulated |\n"
            "| `sm_90a` | `simt`, cuda: emulated | `simt`, cuda: hardware |\n");
}

TEST(SupportGridTest, NoTable) {
  EXPECT_EQ(SupportText(MakeSupportGrid({})), "target  schedule  backend\n");
}

}  // namespace
}  // namespace lijit::tools
