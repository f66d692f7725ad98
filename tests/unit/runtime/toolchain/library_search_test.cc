// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/library_search.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/unit/runtime/toolchain/toolchain_fixture.h"

namespace lijit::runtime {
namespace {

constexpr const char* kWheels[] = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};
constexpr LibraryKind kKind = {"NVRTC", "libnvrtc", "LIJIT_NVRTC", kWheels, "Install it."};

class LibrarySearchTest : public testing::Test {
 protected:
  LibrarySearchTest() {
    root_ =
        std::filesystem::path(testing::TempDir()) / ("lijit_search_" + std::to_string(getpid()));
    std::filesystem::create_directories(root_);
  }
  ~LibrarySearchTest() override { std::filesystem::remove_all(root_); }

  std::string Folder(const std::string& name) {
    std::filesystem::create_directories(root_ / name);
    return (root_ / name).string();
  }
  std::vector<std::string> Folders(const SearchPaths& paths, const std::string& cuda_home = "") {
    std::vector<std::string> folders;
    for (const LibraryPlace& place :
         LibraryPlaces(kKind, paths, "", cuda_home, (root_ / "local").string())) {
      folders.push_back(place.folder);
    }
    return folders;
  }

  std::filesystem::path root_;
};

TEST_F(LibrarySearchTest, AFileExcludesAllElse) {
  const auto named = LibraryPlaces(
      kKind, {.file = "/a.so", .directories = {"/b"}, .python_prefixes = {}}, "/c.so", "/d");
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].file, "/a.so");
  const auto environment = LibraryPlaces(
      kKind, {.file = "", .directories = {"/b"}, .python_prefixes = {}}, "/c.so", "/d");
  ASSERT_EQ(environment.size(), 1u);
  EXPECT_EQ(environment[0].file, "/c.so");
  EXPECT_EQ(environment[0].origin, "LIJIT_NVRTC");
}

TEST_F(LibrarySearchTest, TheNewestToolkitComesFirst) {
  const std::string nine = Folder("local/cuda-12.9/lib64");
  const std::string ten = Folder("local/cuda-12.10/lib64");
  const std::string thirteen = Folder("local/cuda-13/targets/x86_64-linux/lib");
  Folder("local/cuda-nonsense/lib64");
  Folder("local/cudnn-13.0/lib64");
  EXPECT_EQ(Folders({}), (std::vector<std::string>{"", thirteen, ten, nine}));
  const std::string chosen = Folder("local/cuda/lib64");
  EXPECT_EQ(Folders({}), (std::vector<std::string>{"", chosen, thirteen, ten, nine}));
}

TEST_F(LibrarySearchTest, CallerThenToolkitThenWheelsThenLoader) {
  const std::string wheel = Folder("venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib");
  const std::string newer = Folder("venv/lib/python3.12/site-packages/nvidia/cu13/lib");
  Folder("venv/lib/python2.7/site-packages/nvidia/cu13/lib");
  const std::string home = Folder("home/lib");
  const SearchPaths paths{.file = "",
                          .directories = {"/mine"},
                          .python_prefixes = {(root_ / "venv").string(), "/no/such/prefix"}};
  EXPECT_EQ(Folders(paths, (root_ / "home").string()),
            (std::vector<std::string>{"/mine", home, newer, wheel, ""}));
}

TEST_F(LibrarySearchTest, NewestSonameFirst) {
  EXPECT_EQ(LibraryNames(kKind), (std::vector<std::string>{"libnvrtc.so.13", "libnvrtc.so.12"}));
}

TEST_F(LibrarySearchTest, AWheelsFolderIsFoundAndLoaded) {
  LIJIT_NEED(InstalledNvrtc());
  const std::filesystem::path real = std::filesystem::path((*InstalledNvrtc())->path());
  Folder("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc");
  std::filesystem::create_directory_symlink(
      real.parent_path(), root_ / "venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib");
  const auto nvrtc = Nvrtc::Open(
      {.file = "", .directories = {}, .python_prefixes = {(root_ / "venv").string()}}, {});
  ASSERT_TRUE(nvrtc.ok()) << nvrtc.error().message;
  EXPECT_TRUE((*nvrtc)->Version().ok());
}

}  // namespace
}  // namespace lijit::runtime
