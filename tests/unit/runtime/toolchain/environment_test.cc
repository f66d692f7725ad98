// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/environment.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace lijit::runtime {
namespace {

// A file that is there wherever the test runs.
constexpr const char* kFile = "/proc/self/exe";

Result<Environment> Read(const std::map<std::string, std::string>& variables) {
  return ReadEnvironment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(EnvironmentTest, NothingSet) {
  const Result<Environment> environment = Read({});
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->nvrtc, "");
  EXPECT_EQ(environment->backend, "");
  EXPECT_EQ(environment->compile, CompileMode::kHere);
  EXPECT_EQ(environment->worker_limit, std::chrono::seconds(120));
  EXPECT_EQ(environment->log, LogLevel::kOff);
}

TEST(EnvironmentTest, GoodValues) {
  const Result<Environment> environment = Read({{"LIJIT_NVRTC", kFile},
                                                {"LIJIT_NVJITLINK", kFile},
                                                {"LIJIT_BACKEND", "ptx"},
                                                {"LIJIT_COMPILE", "worker"},
                                                {"LIJIT_WORKER", kFile},
                                                {"LIJIT_WORKER_SECONDS", "7"},
                                                {"LIJIT_LOG", "debug"},
                                                {"CUDA_HOME", "/opt/cuda"}});
  ASSERT_TRUE(environment.ok()) << environment.error().message;
  EXPECT_EQ(environment->nvrtc, kFile);
  EXPECT_EQ(environment->nvjitlink, kFile);
  EXPECT_EQ(environment->backend, "ptx");
  EXPECT_EQ(environment->compile, CompileMode::kWorker);
  EXPECT_EQ(environment->worker, kFile);
  EXPECT_EQ(environment->worker_limit, std::chrono::seconds(7));
  EXPECT_EQ(environment->log, LogLevel::kDebug);
  EXPECT_EQ(environment->cuda_home, "/opt/cuda");
}

TEST(EnvironmentTest, BadValuesAreErrorsThatNameVariableValueAndWhatIsAccepted) {
  const std::map<std::string, std::pair<std::string, std::string>> bad = {
      {"LIJIT_NVRTC", {"/nowhere/libnvrtc.so.13", "path of the file"}},
      {"LIJIT_NVJITLINK", {"/usr", "path of the file"}},
      {"LIJIT_BACKEND", {"CUDA", "accepted are cuda, ptx"}},
      {"LIJIT_COMPILE", {"1", "accepted are here, worker"}},
      {"LIJIT_WORKER", {"/nowhere/lijit-worker", "path of the file"}},
      {"LIJIT_WORKER_SECONDS", {"0", "1 to 86400"}},
      {"LIJIT_LOG", {"2", "accepted are off, error, info, debug"}},
  };
  for (const auto& [name, value_and_advice] : bad) {
    const Result<Environment> environment = Read({{name, value_and_advice.first}});
    ASSERT_FALSE(environment.ok()) << name;
    EXPECT_EQ(environment.error().code, ErrorCode::kInvalidArgument);
    for (const std::string& part : {name, value_and_advice.first, value_and_advice.second}) {
      EXPECT_NE(environment.error().message.find(part), std::string::npos)
          << environment.error().message;
    }
  }
}

}  // namespace
}  // namespace lijit::runtime
