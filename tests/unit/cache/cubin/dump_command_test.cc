// SPDX-License-Identifier: Apache-2.0
// The JSON that others rely on, and the exit codes.
#include "tools/dump_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/cache/cubin/synthetic_cubin.h"
#include "tests/unit/cache/cubin/test_files.h"
#include "tools/disassemble.h"
#include "tools/dump_json.h"

namespace lijit::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string DataFile(const std::string& name) {
  return std::string(LIJIT_SOURCE_DIR) + "/tests/data/cubin/" + name;
}

// A folder that is removed with its files.
class DumpCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "lijit-dump-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, std::span<const std::byte> bytes) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  // Exit code and stdout of a run.
  std::pair<int, std::string> Run(const DumpOptions& options) {
    testing::internal::CaptureStdout();
    const int code = RunDump(options);
    return {code, testing::internal::GetCapturedStdout()};
  }

  std::filesystem::path folder_;
};

TEST_F(DumpCommandTest, JsonOfACubin) {
  const auto [code, text] = Run({.paths = {DataFile("v8_sm_90a.cubin")}, .json = true});
  EXPECT_EQ(code, 0);
  const json object = json::parse(text);
  EXPECT_EQ(object["kind"], "cubin");
  EXPECT_EQ(object["generation"], "v8");
  EXPECT_EQ(object["target"], "sm_90a");
  EXPECT_EQ(object["accelerated"], true);
  EXPECT_EQ(object["runs_on"], json({90}));
  EXPECT_EQ(object["toolkit"], "13.0");
  EXPECT_EQ(object["problems"], json::array());
  ASSERT_EQ(object["kernels"].size(), 3u);
  const json& kernel = object["kernels"][2];
  EXPECT_EQ(kernel["name"], "tiny_scale");
  EXPECT_EQ(kernel["registers"], 10);
  EXPECT_EQ(kernel["shared_bytes"], 512);
  EXPECT_EQ(kernel["local_bytes"], 0);
  EXPECT_EQ(kernel["constant_bytes"], 549);
  EXPECT_EQ(kernel["param_bytes"], 21);
  EXPECT_EQ(kernel["max_threads"], 128);
  EXPECT_EQ(kernel["barriers"], 1);
  EXPECT_EQ(kernel["spills"], 0);
  EXPECT_EQ(object["kernels"][0]["spills"], 20);
}

TEST_F(DumpCommandTest, WhatIsNotRecordedIsNull) {
  const auto [code, text] = Run({.paths = {DataFile("v7_sm_86.cubin")}, .json = true});
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(json::parse(text)["kernels"][0]["spills"].is_null());
}

TEST_F(DumpCommandTest, JsonOfAFatbin) {
  const auto [code, text] = Run({.paths = {DataFile("mini_none.fatbin")}, .json = true});
  EXPECT_EQ(code, 0);
  const json object = json::parse(text);
  EXPECT_EQ(object["kind"], "fatbin");
  EXPECT_TRUE(object["target"].is_null());
  EXPECT_EQ(object["runs_on"], json({86, 89, 90}));
  ASSERT_EQ(object["kernels"].size(), 2u);
  EXPECT_EQ(object["kernels"][1]["target"], "sm_90a");
  EXPECT_EQ(object["members"][0]["dump"]["target"], "sm_86");
  EXPECT_THAT(object["members"][2]["ptx"].get<std::string>(), HasSubstr(".target sm_86"));
}

TEST_F(DumpCommandTest, DamageIsExitCodeOne) {
  auto bytes = cubin::TestBytes("v8_sm_86.cubin");
  bytes.resize(bytes.size() / 2);
  const auto [code, text] = Run({.paths = {Write("half", bytes)}, .json = true});
  EXPECT_EQ(code, 1);
  EXPECT_FALSE(json::parse(text)["problems"].empty());
  EXPECT_EQ(Run({.paths = {Write("stub", std::span(bytes).first(20))}}).first, 1);
}

TEST_F(DumpCommandTest, NamesThatAreNoTextStillMakeJson) {
  const auto bytes = cubin::Build({.kernel = "\xff\xfe"});
  const auto [code, text] = Run({.paths = {Write("names", bytes)}, .json = true});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(json::parse(text)["kernels"].size(), 1u);
}

TEST_F(DumpCommandTest, OtherFilesAreExitCodeTwo) {
  EXPECT_EQ(Run({.paths = {(folder_ / "absent").string()}}).first, 2);
  EXPECT_EQ(Run({.paths = {folder_.string()}}).first, 2);
  EXPECT_EQ(Run({.paths = {Write("empty", {})}}).first, 2);
  EXPECT_EQ(Run({.paths = {DataFile("tiny.cu")}}).first, 2);
}

// A stand-in for nvdisasm, found through CUDA_HOME.
class FakeNvdisasm {
 public:
  FakeNvdisasm(const std::filesystem::path& home, const std::string& script)
      : path_(std::getenv("PATH")) {
    std::filesystem::create_directory(home / "bin");
    const auto program = home / "bin" / "nvdisasm";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    setenv("CUDA_HOME", home.c_str(), 1);
    setenv("PATH", "", 1);
  }
  ~FakeNvdisasm() {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("CUDA_HOME");
  }

 private:
  std::string path_;
};

TEST_F(DumpCommandTest, SassComesFromNvdisasm) {
  const FakeNvdisasm fake(folder_, "read -r line < \"$2\" 2>/dev/null; echo \"SASS $1\"");
  const auto [code, text] =
      Run({.paths = {DataFile("v8_sm_86.cubin")}, .json = true, .sass = true});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(json::parse(text)["sass"], "SASS -c\n");
  const auto [fatbin_code, fatbin] = Run({.paths = {DataFile("mini_none.fatbin")}, .sass = true});
  EXPECT_EQ(fatbin_code, 0);
  EXPECT_THAT(fatbin, HasSubstr("SASS -c\nSASS -c\n"));
}

TEST_F(DumpCommandTest, NvdisasmThatRefuses) {
  const FakeNvdisasm fake(folder_, "echo no; exit 3");
  testing::internal::CaptureStderr();
  EXPECT_EQ(Run({.paths = {DataFile("v8_sm_86.cubin")}, .sass = true}).first, 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("refuses the cubin: no"));
}

TEST_F(DumpCommandTest, NvdisasmThatIsAbsent) {
  if (std::filesystem::exists("/usr/local/cuda/bin/nvdisasm")) GTEST_SKIP() << "it is installed";
  const std::string path = std::getenv("PATH");
  setenv("PATH", "", 1);
  testing::internal::CaptureStderr();
  const auto [code, text] = Run({.paths = {DataFile("v8_sm_86.cubin")}, .sass = true});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(code, 4);
  EXPECT_THAT(text, HasSubstr("sm_86"));  // what can be told is told
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("CUDA toolkit"));
}

}  // namespace
}  // namespace lijit::tools
