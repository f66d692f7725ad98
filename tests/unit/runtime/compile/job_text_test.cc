// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "runtime/compile/compile_job.h"

namespace lijit::runtime {
namespace {

CompileJob SomeJob() {
  return {.language = "ptx",
          .text = "line 1\nkernel:3:x\n",
          .kernel = "k",
          .target = "sm_86",
          .image = "cubin",
          .ptx_version = "9.0",
          .assembler = "nvjitlink"};
}

TEST(JobText, ReadsBack) {
  EXPECT_EQ(ParseJob(JobText(SomeJob())).value(), SomeJob());
  EXPECT_EQ(ParseJob(JobText({})).value(), CompileJob{});
}

TEST(JobText, EveryTruncationAndEveryOtherFieldIsDamage) {
  const std::string text = JobText(SomeJob());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(ParseJob(text.substr(0, size)).error().code, ErrorCode::kDamaged) << size;
  }
  EXPECT_FALSE(ParseJob(text + "more:1:x\n").ok());
}

TEST(ResultText, CompilationsReadBack) {
  Compilation compilation;
  compilation.kind = ImageKind::kPtx;
  compilation.image = ToBytes(std::string_view("\0\n bytes", 8));
  compilation.kernels = {"first", "second"};
  compilation.log = "a log";
  const auto back = ParseResult(ResultText(compilation));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->kind, compilation.kind);
  EXPECT_EQ(back->image, compilation.image);
  EXPECT_EQ(back->kernels, compilation.kernels);
  EXPECT_EQ(back->log, compilation.log);
  EXPECT_TRUE(back->resources.empty());
}

TEST(ResultText, ResourcesComeFromTheLog) {
  Compilation compilation;
  compilation.kernels = {"k"};
  compilation.log =
      "ptxas info    : Compiling entry function 'k' for 'sm_86'\n"
      "ptxas info    : Function properties for k\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 1 barriers, 128 bytes smem\n";
  const auto back = ParseResult(ResultText(compilation));
  ASSERT_TRUE(back.ok()) << back.error().message;
  ASSERT_EQ(back->resources.size(), 1u);
  EXPECT_EQ(back->resources[0].registers, 8u);
}

TEST(ResultText, ErrorsReadBack) {
  for (const Error& error :
       {InvalidArgument("a"), Refused("b"), Unavailable("c"), Damaged("d"), Failed("two\nlines")}) {
    const auto back = ParseResult(ResultText(error));
    ASSERT_FALSE(back.ok());
    EXPECT_EQ(back.error().code, error.code);
    EXPECT_EQ(back.error().message, error.message);
  }
}

TEST(ResultText, OtherTextsAreDamage) {
  for (const char* text :
       {"", "x", "error:3:odd\nmessage:1:x\n", "error:6:failed\n", "kind:5:cubin\n",
        "kind:3:elf\nimage:0:\nlog:0:\n", "kind:3:ptx\nimage:0:\nlog:0:\nother:0:\n"}) {
    EXPECT_EQ(ParseResult(text).error().code, ErrorCode::kDamaged) << text;
  }
}

TEST(RunJob, RefusesWhatItDoesNotKnow) {
  CompileJob job = SomeJob();
  job.language = "fortran";
  EXPECT_EQ(RunJob(job).error().code, ErrorCode::kInvalidArgument);
  job = SomeJob();
  job.image = "elf";
  EXPECT_EQ(RunJob(job).error().code, ErrorCode::kInvalidArgument);
  job = SomeJob();
  job.assembler = "";
  EXPECT_EQ(RunJob(job).error().code, ErrorCode::kInvalidArgument);
  job = SomeJob();
  job.target = "sm_1";
  EXPECT_FALSE(RunJob(job).ok());
}

}  // namespace
}  // namespace lijit::runtime
