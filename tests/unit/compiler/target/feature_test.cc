// SPDX-License-Identifier: Apache-2.0
// Every cell of (target, feature) against a table written by hand, not derived from features.def.
#include "compiler/target/feature.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lijit::target {
namespace {

struct Row {
  const char* target;
  const char* features;
};

constexpr const char* kEverywhere =
    "bf16_arithmetic max_nan redux_sync cp_async mma_s8 mma_f16 dp4a";

constexpr Row kTable[] = {
    {"sm_80", ""},
    {"sm_86", ""},
    {"sm_87", ""},
    {"sm_88", ""},
    {"sm_89", "e4m3_convert mma_e4m3"},
    {"sm_90", "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol"},
    {"sm_90a", "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol wgmma setmaxnreg"},
    {"sm_100", "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol"},
    {"sm_100f",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert tcgen05"},
    {"sm_100a",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert tcgen05"},
    {"sm_103", "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol"},
    {"sm_103f",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert tcgen05"},
    {"sm_103a",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert tcgen05"},
    {"sm_110", "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol"},
    {"sm_110f",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert tcgen05"},
    {"sm_110a",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert tcgen05"},
    {"sm_120", "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol"},
    {"sm_120f",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert mma_mxf4"},
    {"sm_120a",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert mma_mxf4"},
    {"sm_121", "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol"},
    {"sm_121f",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert mma_mxf4"},
    {"sm_121a",
     "e4m3_convert mma_e4m3 cp_async_bulk griddepcontrol setmaxnreg e2m1_convert "
     "ue8m0_convert mma_mxf4"},
};

std::set<std::string> Words(std::string text) {
  std::set<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

TEST(FeatureTest, EveryCellOfTheLattice) {
  ASSERT_EQ(std::size(kTable), AllTargets().size());
  for (const Row& row : kTable) {
    const Result<Target> target = ParseTarget(row.target);
    ASSERT_TRUE(target.ok()) << target.error().message;
    const std::set<std::string> expected = Words(std::string(kEverywhere) + " " + row.features);
    for (const std::string& name : expected) EXPECT_TRUE(FeatureByName(name)) << name;
    for (const FeatureInfo& info : AllFeatures()) {
      EXPECT_EQ(Has(*target, info.feature), expected.contains(std::string(info.name)))
          << row.target << " " << info.name;
    }
  }
}

TEST(FeatureTest, RowsAreCompleteAndFoundByName) {
  std::set<std::string_view> names;
  for (const FeatureInfo& info : AllFeatures()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(FeatureByName(info.name), info.feature);
    EXPECT_EQ(Info(info.feature).name, info.name);
    EXPECT_TRUE(info.sentence.ends_with('.')) << info.name;
    EXPECT_FALSE(info.citation.empty()) << info.name;
  }
  EXPECT_EQ(FeatureByName("warp_drive"), std::nullopt);
}

}  // namespace
}  // namespace lijit::target
