// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cache/cubin/synthetic_cubin.h"
#include "tests/unit/cache/cubin/test_files.h"

namespace lijit::cubin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string RenderBytes(std::span<const std::byte> bytes) {
  const Result<Dump> dump = DumpBytes(bytes);
  return dump.ok() ? Render(*dump) : dump.error().message;
}

TEST(RenderTest, TheTopOfACubin) {
  EXPECT_THAT(RenderBytes(TestBytes("v8_sm_90a.cubin")), StartsWith(
                                                             R"(cubin       v8, 13104 bytes
target      sm_90a
            e_flags 0x06005a04   sm_90
            .nv.compat           accelerated
            .note.nv.cuinfo      from compute_90
            .note.nv.tkinfo      sm_90a
runs on     9.0
toolkit     13.0
            ptxas: Cuda compilation tools, release 13.0, V13.0.88; -v  -arch sm_90a -m 64
problems    none

kernel     regs  shared  local  const params threads barriers spills    code
tiny_spill   40       0     40    536      8     512        1     20    2688
tiny_local   32       0    256    540     12    1024        0      0    3200
tiny_scale   10     512      0    549     21     128        1      0     640

parameters, in bytes
  tiny_spill: 8 at 0
)"));
}

TEST(RenderTest, ProblemsAndNotes) {
  auto bytes = TestBytes("v7_sm_86.cubin");
  bytes.pop_back();
  const std::string text = RenderBytes(bytes);
  EXPECT_THAT(text, HasSubstr("PROBLEM     the file has 11615 bytes"));
  EXPECT_THAT(text, HasSubstr("note        the compiler did not record spills"));
  EXPECT_THAT(RenderBytes(TestBytes("object_sm_86.cubin")),
              HasSubstr("runs on     no known device\n"));
}

TEST(RenderTest, AFatbin) {
  const std::string text = RenderBytes(TestBytes("mini_none.fatbin"));
  EXPECT_THAT(text, StartsWith("fatbin      7448 bytes\nruns on     8.6, 8.9, 9.0\n"));
  EXPECT_THAT(text, HasSubstr("entry 1: cubin for sm_90a, 3704 bytes at offset 3272, of mini.cu"));
  EXPECT_THAT(text, HasSubstr(".target sm_86"));
  EXPECT_THAT(RenderBytes(TestBytes("mini_zstd.fatbin")),
              HasSubstr("844 bytes at offset 88, compressed (zstd) from 3112 bytes: not read"));
}

TEST(RenderTest, NamesCannotSteerTheTerminal) {
  const std::string text = RenderBytes(Build({.kernel = "\x1b[31mred"}));
  EXPECT_THAT(text, HasSubstr("?[31mred"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace lijit::cubin
