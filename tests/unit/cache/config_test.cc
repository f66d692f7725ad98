// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "tests/unit/cache/scratch.h"

namespace lijit::cache {
namespace {

Result<CacheConfig> ConfigFrom(std::map<std::string, std::string> variables) {
  return ConfigFromEnvironment([variables = std::move(variables)](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

TEST(Config, TheFolderIsTheFirstThatTheEnvironmentNames) {
  EXPECT_EQ(ConfigFrom({{"HOME", "/h"}})->dir, "/h/.cache/lijit");
  EXPECT_EQ(ConfigFrom({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}})->dir, "/x/lijit");
  EXPECT_EQ(ConfigFrom({{"XDG_CACHE_HOME", "/x"}, {"LIJIT_CACHE_DIR", "/l"}})->dir, "/l");
}

TEST(Config, RelativeFoldersAreRelativeToTheProcessExceptTheOnesOfXdg) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(ConfigFrom({{"LIJIT_CACHE_DIR", "a/../b"}})->dir, here + "/b");
  EXPECT_EQ(ConfigFrom({{"XDG_CACHE_HOME", "x"}, {"HOME", "/h"}})->dir, "/h/.cache/lijit");
}

TEST(Config, WithoutAnyFolderThereIsNoDiskCacheAndANoteSaysWhy) {
  const auto config = ConfigFrom({});
  EXPECT_EQ(config->dir, "");
  EXPECT_NE(config->note.find("HOME"), std::string::npos);
  Store store(*config);
  const auto outcome = Get(store, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->event.notes, std::vector<std::string>{config->note});
}

TEST(Config, AnEmptyFolderMeansMemoryOnly) {
  const auto config = ConfigFrom({{"HOME", "/h"}, {"LIJIT_CACHE_DIR", ""}});
  EXPECT_EQ(config->dir, "");
  EXPECT_NE(config->note.find("LIJIT_CACHE_DIR"), std::string::npos);
}

TEST(Config, ReadonlyFoldersAreSeparatedByColons) {
  const auto config = ConfigFrom({{"LIJIT_CACHE_READONLY_DIRS", ":/a::/b/:"}});
  EXPECT_EQ(config->readonly_dirs, (std::vector<std::string>{"/a", "/b/"}));
}

TEST(Config, SizesHaveBinaryUnits) {
  EXPECT_EQ(*ParseSize("0"), 0u);
  EXPECT_EQ(*ParseSize("512"), 512u);
  EXPECT_EQ(*ParseSize("7B"), 7u);
  EXPECT_EQ(*ParseSize("64KiB"), 64u << 10);
  EXPECT_EQ(*ParseSize("3MiB"), 3u << 20);
  EXPECT_EQ(*ParseSize("2GiB"), std::uint64_t{2} << 30);
  EXPECT_EQ(*ParseSize("1TiB"), std::uint64_t{1} << 40);
  EXPECT_EQ(*ParseSize("18446744073709551615"), ~std::uint64_t{0});
}

TEST(Config, ABadSizeNamesVariableValueAndWhatIsAccepted) {
  for (const char* bad : {"", "x", "-1", "1.5GiB", "2GB", "2 GiB", "GiB", "2GiBs", "16777216TiB",
                          "18446744073709551616", "0x10"}) {
    const auto config = ConfigFrom({{"LIJIT_CACHE_MAX_SIZE", bad}});
    ASSERT_FALSE(config.ok()) << bad;
    EXPECT_EQ(config.error().code, ErrorCode::kInvalidArgument);
    for (const std::string& part :
         {std::string("LIJIT_CACHE_MAX_SIZE"), "'" + std::string(bad) + "'", std::string("GiB")}) {
      EXPECT_NE(config.error().message.find(part), std::string::npos) << config.error().message;
    }
  }
  EXPECT_EQ(ConfigFrom({{"LIJIT_CACHE_MAX_SIZE", "1MiB"}})->max_size, 1u << 20);
}

}  // namespace
}  // namespace lijit::cache
