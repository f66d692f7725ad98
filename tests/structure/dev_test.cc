// SPDX-License-Identifier: Apache-2.0
// ./dev is the first thing that a newcomer types: it explains itself and refuses what it cannot do.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

struct Outcome {
  int exit_code = -1;
  std::string output;  // both streams
};

Outcome RunDev(const std::string& arguments) {
  const std::string command = std::string(LIJIT_SOURCE_DIR "/dev ") + arguments + " 2>&1";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(Dev, HelpNamesEveryVerb) {
  const Outcome help = RunDev("help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* verb : {"setup", "build", "test", "demo", "torture", "format", "nightly"}) {
    EXPECT_NE(help.output.find(std::string("\n  ") + verb), std::string::npos) << verb;
  }
}

TEST(Dev, UnknownWordsAreUsageErrors) {
  for (const char* arguments :
       {"tests", "build no_such_preset", "format --chekc", "torture long"}) {
    const Outcome outcome = RunDev(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_NE(outcome.output.find("usage: ./dev"), std::string::npos) << outcome.output;
  }
}

TEST(Dev, ALibraryThatDoesNotExistIsNamed) {
  ASSERT_EQ(setenv("LIJIT_NVRTC", "/no/such/libnvrtc.so", 1), 0);
  const Outcome outcome = RunDev("setup");
  ASSERT_EQ(unsetenv("LIJIT_NVRTC"), 0);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("LIJIT_NVRTC names /no/such/libnvrtc.so"), std::string::npos)
      << outcome.output;
}

}  // namespace
