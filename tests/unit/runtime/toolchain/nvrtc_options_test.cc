// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/nvrtc_options.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/unit/runtime/toolchain/toolchain_fixture.h"

namespace lijit::runtime {
namespace {

const std::vector<std::string> kGood = {
    "--use_fast_math",
    "-use_fast_math",
    "--fmad=false",
    "-ftz=true",
    "--maxrregcount=64",
    "-lineinfo",
    "--device-debug",
    "-G",
    "--restrict",
    "-DNAME",
    "-DNAME=1",
    "--define-macro=NAME=1",
    "-UNAME",
    "--ptxas-options=-O1",
    "--ptxas-options=--warn-on-spills",
    "--diag-suppress=1",
    "-w",
    "--extra-device-vectorization",
};

TEST(NvrtcOptionsTest, HarmlessOptionsPass) {
  for (const std::string& option : kGood) {
    const Status status = CheckNvrtcOptions(std::vector{option});
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
}

TEST(NvrtcOptionsTest, NvrtcKnowsThem) {
  LIJIT_NEED(InstalledNvrtc());
  for (const std::string& option : kGood) {
    const auto compiled = (*InstalledNvrtc())
                              ->Compile({.source = "extern \"C\" __global__ void k() {}",
                                         .name = "k.cu",
                                         .architecture = "sm_90a",
                                         .options = {option},
                                         .kernels = {"k"}});
    ASSERT_TRUE(compiled.ok()) << option << ": " << compiled.error().message;
    EXPECT_EQ(compiled->resources.size(), 1u) << option;
  }
}

TEST(NvrtcOptionsTest, OthersAreRefusedWithTheReason) {
  const std::map<std::string, std::string> bad = {
      {"-I/usr/include", "reads files"},
      {"--include-path=/usr/include", "reads files"},
      {"--pre-include=a.h", "reads files"},
      {"-include=a.h", "reads files"},
      {"--pch", "writes files"},
      {"--create-pch=a.pch", "writes a file"},
      {"--use-pch=a.pch", "reads a file"},
      {"--time=out.csv", "writes a file"},
      {"--fdevice-time-trace=t", "writes a file"},
      {"--modify-stack-limit=true", "stack limit"},
      {"-arch=sm_86", "follows from the target"},
      {"--gpu-architecture=sm_86", "follows from the target"},
      {"--std=c++20", "C++17"},
      {"-rdc=true", "linker"},
      {"-dlto", "no machine code"},
      {"--no-such-option", "not known to be harmless"},
      {"a.cu", "not known to be harmless"},
      {"", "not known to be harmless"},
      {"--use_fast_math=true", "takes no value"},
      {"--fmad", "takes =true or =false"},
      {"--fmad=1", "takes =true or =false"},
      {"--maxrregcount=-1", "takes =NUMBER"},
      {"--maxrregcount=9999999", "takes =NUMBER"},
      {"-D", "takes a value"},
      {"-DA=\n#include <x>", "takes a value"},
      {"--ptxas-options=-o,out.cubin", "an option of ptxas that is allowed"},
      {"--ptxas-options=--output-file=x", "an option of ptxas that is allowed"},
  };
  for (const auto& [option, reason] : bad) {
    const Status status = CheckNvrtcOptions(std::vector<std::string>{"-w", option});
    ASSERT_FALSE(status.ok()) << option;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(Contains(status.error().message, "'" + option + "'")) << status.error().message;
    EXPECT_TRUE(Contains(status.error().message, reason)) << status.error().message;
  }
}

}  // namespace
}  // namespace lijit::runtime
