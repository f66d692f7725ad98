// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/cli_fixture.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace lijit::cli {

void CliTest::SetUp() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lijit-cli-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  environment_["LIJIT_CACHE_DIR"] = LIJIT_TEST_CACHE_DIR;
}

void CliTest::TearDown() { std::filesystem::remove_all(folder_); }

std::string CliTest::Path(std::string_view name) const { return folder_ + "/" + std::string(name); }

std::string CliTest::Write(std::string_view name, std::string_view bytes) const {
  std::ofstream(Path(name), std::ios::binary) << bytes;
  return Path(name);
}

std::string CliTest::Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Answer CliTest::Lijit(const Arguments& arguments) const {
  return RunProgram({LIJIT_PROGRAM, arguments, environment_, input_, ""}, folder_);
}

json CliTest::LijitJson(Arguments arguments, int code) const {
  arguments.emplace_back("--json");
  const Answer answer = Lijit(arguments);
  EXPECT_EQ(answer.code, code) << testing::PrintToString(arguments) << "\n" << answer.err;
  json object = json::parse(answer.out, nullptr, false);
  EXPECT_TRUE(object.is_object()) << testing::PrintToString(arguments) << "\n" << answer.out;
  return object.is_object() ? object : json::object();
}

void CliTest::UseOwnCache() { environment_["LIJIT_CACHE_DIR"] = Path("cache"); }

void CompilingCliTest::SetUp() {
  CliTest::SetUp();
  const json doctor = json::parse(Lijit({"doctor", "--json"}).out, nullptr, false);
  ASSERT_TRUE(doctor.is_object());
  const std::string problem = doctor["nvrtc"]["problem"];
  if (!problem.empty()) GTEST_SKIP() << problem;
}

Arguments SmallRun(const Arguments& more) {
  Arguments arguments = {"run", "--device",  "emulated", "--target", "sm_86", "--heads",
                         "8",   "--context", "64",       "--top-k",  "8"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string SourcePath(std::string_view path) {
  return std::string(LIJIT_SOURCE_DIR) + "/" + std::string(path);
}

}  // namespace lijit::cli
