// SPDX-License-Identifier: Apache-2.0
// Cubins of the backend ptx for every target: they assemble, verify, and have resources; the
// assembler of any CUDA that LLVM writes for takes them.
#include <gtest/gtest.h>

#include "compiler/ir/printer.h"
#include "compiler/target/target.h"
#include "runtime/compile/compilers.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/compile/kernel_request.h"

namespace lijit::runtime {
namespace {

KernelRequest Request(ir::KernelKind kind, const std::string& format, std::string_view target) {
  IndexerConfig config;
  config.format = format;
  config.heads = 8;
  config.head_dim = 64;
  KernelRequest request;
  request.module = ir::Print(KernelModules::Create(config)->Extract(kind).value());
  request.target_name = target;
  request.schedule = "simt";
  request.backend = "ptx";
  request.image = "cubin";
  request.compiler = CompilerVersion("ptx", ImageKind::kCubin).value();
  return request;
}

class PtxCubins : public testing::Test {
 protected:
  void SetUp() override {
    const auto choice = ChooseBackend("ptx", ImageKind::kCubin);
    if (!choice.ok()) GTEST_SKIP() << choice.error().message;
  }
};

TEST_F(PtxCubins, EveryKernelForEveryTarget) {
  for (const target::Target& target : target::AllTargets()) {
    for (const ir::KernelKindRow& row : ir::AllKernelKinds()) {
      const KernelRequest request = Request(row.kind, "mxfp4", target.name);
      const Result<cache::Entry> entry = CompileKernel(request);
      ASSERT_TRUE(entry.ok()) << entry.error().message;
      EXPECT_EQ(entry->kind, ImageKind::kCubin);
      EXPECT_EQ(entry->target, target.name);
      ASSERT_EQ(entry->kernels.size(), 1u);
      EXPECT_TRUE(ValidateEntry(*entry).ok()) << ValidateEntry(*entry).error().message;
      EXPECT_NE(entry->resources.find(entry->kernels[0] + ": "), std::string::npos);
      EXPECT_NE(entry->resources.find(" registers"), std::string::npos);
    }
  }
}

// What makes an entry is in its key: other compilers, another entry.
TEST_F(PtxCubins, CompilersAreInTheKey) {
  KernelRequest request = Request(ir::KernelKind::kTopK, "mxfp4", "sm_86");
  EXPECT_NE(request.compiler.find("nvjitlink"), std::string::npos);
  const std::string key = request.key().Hex();
  KernelRequest other = request;
  other.backend = "cuda";
  EXPECT_NE(other.key().Hex(), key);
  other = request;
  other.compiler += "x";
  EXPECT_NE(other.key().Hex(), key);
}

// An older assembler gets the PTX that it reads; this one reads all of them.
TEST_F(PtxCubins, OlderVersionsOfPtx) {
  for (const char* version : {"8.5", "8.8", "9.0"}) {
    KernelRequest request = Request(ir::KernelKind::kWriteCache, "fp8_e4m3", "sm_90a");
    request.compiler = std::string("llvm 22.1.8, ptx ") + version;
    request.image = "ptx";
    const Result<cache::Entry> entry = CompileKernel(request);
    ASSERT_TRUE(entry.ok()) << entry.error().message;
    EXPECT_NE(ToText(entry->image).find(std::string(".version ") + version),
              std::string_view::npos);
  }
}

}  // namespace
}  // namespace lijit::runtime
