// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/shared_library.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/runtime/toolchain/toolchain_fixture.h"

namespace lijit::runtime {
namespace {

const std::vector<std::string> kNames = {"libm.so.6"};

Result<OpenedLibrary> Open(const std::vector<LibraryPlace>& places,
                           const std::vector<LibrarySymbol>& symbols) {
  return OpenLibrary({.what = "The library",
                      .names = kNames,
                      .places = places,
                      .symbols = symbols,
                      .advice = "Install it."});
}

TEST(SharedLibraryTest, LoadsFromTheLoadersPath) {
  const auto library =
      Open({{"the loader's path", "", ""}}, {{"cos"}, {"no_such_function", false}});
  ASSERT_TRUE(library.ok()) << library.error().message;
  EXPECT_TRUE(library->path.ends_with("libm.so.6")) << library->path;
  EXPECT_TRUE(library->path.starts_with("/")) << library->path;
  ASSERT_EQ(library->symbols.size(), 2u);
  EXPECT_NE(library->symbols[0], nullptr);
  EXPECT_EQ(library->symbols[1], nullptr);
}

TEST(SharedLibraryTest, EveryPlaceIsNamedWithItsReason) {
  const auto library = Open({{"first", "", "/nowhere/a.so"},
                             {"second", "", __FILE__},
                             {"third", "", LIJIT_WRONG_LIBRARY},
                             {"fourth", "/usr/include", ""}},
                            {{"nvrtcVersion"}, {"nvrtcCompileProgram"}, {"nvrtcGetPTX"}});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, ErrorCode::kUnavailable);
  const std::string& message = library.error().message;
  EXPECT_TRUE(Contains(message, "The library cannot be loaded; tried\n")) << message;
  EXPECT_TRUE(Contains(message, "/nowhere/a.so (first): ")) << message;
  EXPECT_TRUE(Contains(message, "No such file")) << message;
  EXPECT_TRUE(Contains(message, "shared_library_test.cc (second): ")) << message;
  EXPECT_TRUE(Contains(message, "(third): lacks nvrtcCompileProgram, nvrtcGetPTX\n")) << message;
  EXPECT_TRUE(Contains(message, "/usr/include (fourth): holds none of its names\n")) << message;
  EXPECT_TRUE(message.ends_with("Install it.")) << message;
}

TEST(SharedLibraryTest, GoesOnToTheNextPlace) {
  const auto library =
      Open({{"first", "", LIJIT_WRONG_LIBRARY}, {"the loader's path", "", ""}}, {{"cos"}});
  ASSERT_TRUE(library.ok()) << library.error().message;
  EXPECT_TRUE(library->path.ends_with("libm.so.6"));
}

TEST(SharedLibraryTest, ANamedFileIsNotLookedForElsewhere) {
  EXPECT_FALSE(Open({{"caller", "", "libm.so.6"}}, {{"cos"}}).ok());
}

TEST(SharedLibraryTest, NvrtcNamedByTheEnvironmentHasNoFallback) {
  Environment environment;
  environment.nvrtc = LIJIT_WRONG_LIBRARY;
  const auto nvrtc = Nvrtc::Open({}, environment);
  ASSERT_FALSE(nvrtc.ok());
  EXPECT_TRUE(Contains(nvrtc.error().message, "(LIJIT_NVRTC): lacks ")) << nvrtc.error().message;
  EXPECT_FALSE(Contains(nvrtc.error().message, "the loader's path")) << nvrtc.error().message;
  environment.nvjitlink = "/nowhere/libnvJitLink.so.13";
  const auto linker = NvJitLink::Open({}, environment);
  ASSERT_FALSE(linker.ok());
  EXPECT_TRUE(Contains(linker.error().message, "(LIJIT_NVJITLINK): ")) << linker.error().message;
}

}  // namespace
}  // namespace lijit::runtime
