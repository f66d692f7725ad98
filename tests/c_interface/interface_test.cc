// SPDX-License-Identifier: Apache-2.0
// What the C interface promises besides its ops: versions, messages, lifetimes and symbols.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "lijit/lijit.h"
#include "runtime/c_interface/status.h"

namespace lijit::c_interface {
namespace {

TEST(CInterface, KnowsItsVersion) {
  EXPECT_STREQ(lijit_version_string(), LIJIT_VERSION);
  EXPECT_EQ(std::to_string(lijit_version_major()) + "." + std::to_string(lijit_version_minor()) +
                "." + std::to_string(lijit_version_patch()),
            LIJIT_VERSION);
}

TEST(CInterface, LetsNoExceptionOut) {
  EXPECT_EQ(Call([]() -> Status { throw std::runtime_error("thrown"); }), LIJIT_FAILED);
  EXPECT_STREQ(lijit_last_error(), "thrown");
  EXPECT_EQ(Call([]() -> Status { throw 1; }), LIJIT_FAILED);
  EXPECT_STREQ(lijit_last_error(), "an exception of unknown type");
}

TEST(CInterface, HasACodeForEachKindOfError) {
  EXPECT_EQ(Call([] { return Status(); }), LIJIT_OK);
  EXPECT_EQ(Call([]() -> Status { return InvalidArgument("a"); }), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(Call([]() -> Status { return Refused("a"); }), LIJIT_REFUSED);
  EXPECT_EQ(Call([]() -> Status { return Unavailable("a"); }), LIJIT_UNAVAILABLE);
  EXPECT_EQ(Call([]() -> Status { return Damaged("a"); }), LIJIT_DAMAGED);
  EXPECT_EQ(Call([]() -> Status { return Failed("a"); }), LIJIT_FAILED);
}

TEST(CInterface, KeepsAMessageForItsThreadUntilTheNextFailure) {
  ASSERT_EQ(Call([]() -> Status { return Failed("here"); }), LIJIT_FAILED);
  const char* const message = lijit_last_error();
  std::thread([] {
    EXPECT_STREQ(lijit_last_error(), "");
    EXPECT_EQ(Call([]() -> Status { return Failed("there"); }), LIJIT_FAILED);
    EXPECT_STREQ(lijit_last_error(), "there");
  }).join();
  EXPECT_EQ(lijit_check_support("sm_86", "mxfp4", "top_k", "simt", "cuda"), LIJIT_OK);
  EXPECT_STREQ(message, "here");
  EXPECT_EQ(lijit_last_error(), message);
}

TEST(CInterface, KnowsWhatIsSupported) {
  EXPECT_EQ(lijit_check_support("sm_75", "mxfp4", "top_k", "simt", "cuda"), LIJIT_REFUSED);
  EXPECT_NE(std::string(lijit_last_error()).find("sm_75"), std::string::npos);
  EXPECT_EQ(lijit_check_support("sm_86", "mxfp5", "logits.paged", "simt", "cuda"), LIJIT_REFUSED);
  EXPECT_EQ(lijit_check_support("sm_86", nullptr, "top_k", "simt", "cuda"), LIJIT_INVALID_ARGUMENT);
  EXPECT_STREQ(lijit_last_error(), "format is null; it has to be given");
}

TEST(CInterface, IndexersOutliveTheirRuntime) {
  const lijit_runtime_options options = {"emulated", "sm_86"};
  lijit_runtime* runtime = nullptr;
  ASSERT_EQ(lijit_runtime_create(&options, &runtime), LIJIT_OK) << lijit_last_error();
  EXPECT_STREQ(lijit_runtime_target(runtime), "sm_86");
  EXPECT_EQ(lijit_runtime_device(runtime).device_type, LIJIT_DEVICE_CPU);
  lijit_indexer* indexer = nullptr;
  const lijit_status created = lijit_indexer_create(runtime, nullptr, &indexer);
  lijit_runtime_destroy(runtime);
  if (created == LIJIT_UNAVAILABLE) GTEST_SKIP() << lijit_last_error();
  ASSERT_EQ(created, LIJIT_OK) << lijit_last_error();
  std::int64_t bytes = 0;
  EXPECT_EQ(lijit_indexer_page_bytes(indexer, &bytes), LIJIT_OK);
  EXPECT_EQ(bytes, 64 * 132);
  EXPECT_STRNE(lijit_indexer_schedule(indexer), "");
  EXPECT_STRNE(lijit_indexer_backend(indexer), "");
  lijit_indexer_destroy(indexer);
}

std::string OutputOf(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer;
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    text.append(buffer.data(), n);
  }
  return pclose(pipe) == 0 ? text : "";
}

std::set<std::string> Matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> matches;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    matches.insert((*it)[1]);
  }
  return matches;
}

// The C symbols of the library are the functions of its header: none is missing, and none but these
// can collide with a program's own.
TEST(CInterface, SymbolsAreTheHeadersFunctions) {
  std::ostringstream header;
  header << std::ifstream(LIJIT_SOURCE_DIR "/include/lijit/lijit.h").rdbuf();
  const auto declared =
      Matches(header.str(), std::regex(R"(LIJIT_API [a-z_ *]*[ *](lijit_[a-z_]+)\()"));
  ASSERT_GT(declared.size(), 20u);
  const std::string library = LIJIT_LIBRARY;
  const bool is_shared = library.find(".so") != std::string::npos;
  const std::string symbols =
      OutputOf("nm " + std::string(is_shared ? "-D " : "") + "-g --defined-only '" + library + "'");
  // C++'s names begin with _Z, the sanitizers' with __; the compiler's references to types of
  // exceptions have dots.
  const auto defined = Matches(symbols, std::regex(R"(\n[0-9a-f]+ [A-Z] ([a-zA-Z][^.\n]*)(?=\n))"));
  EXPECT_EQ(defined, declared);
}

}  // namespace
}  // namespace lijit::c_interface
