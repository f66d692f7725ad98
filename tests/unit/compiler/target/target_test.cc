// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/target.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace lijit::target {
namespace {

TEST(TargetTest, NamesAndArchitecturesFollowFromEachOther) {
  std::set<std::string> names;
  for (const Target& row : AllTargets()) {
    const std::string suffix = row.variant == Variant::kBase     ? ""
                               : row.variant == Variant::kFamily ? "f"
                                                                 : "a";
    EXPECT_EQ(row.name, fmt::format("sm_{}{}", row.capability, suffix));
    EXPECT_EQ(row.ptx_architecture, fmt::format("compute_{}{}", row.capability, suffix));
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
    const Result<Target> parsed = ParseTarget(row.name);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, row);
  }
}

TEST(TargetTest, UnknownNamesAreRefusedWithTheKnownOnes) {
  for (const char* name : {"", "sm_90f", "sm_86a", "sm_101a", "compute_90", "SM_90", "90"}) {
    const Result<Target> target = ParseTarget(name);
    ASSERT_FALSE(target.ok()) << name;
    EXPECT_EQ(target.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(target.error().message.find(fmt::format("'{}'", name)), std::string::npos);
    EXPECT_NE(target.error().message.find("sm_80, sm_86"), std::string::npos);
  }
}

TEST(TargetTest, KnownTargetsThatAreNotSupportedAreRefusedWithTheReason) {
  EXPECT_FALSE(RefusedTargets().empty());
  for (const RefusedTarget& refused : RefusedTargets()) {
    const Result<Target> target = ParseTarget(refused.name);
    ASSERT_FALSE(target.ok()) << refused.name;
    EXPECT_EQ(target.error().code, ErrorCode::kRefused);
    EXPECT_NE(target.error().message.find(refused.reason), std::string::npos);
  }
}

TEST(TargetTest, DefaultTargetOfEveryCapability) {
  const std::map<int, std::string> expected = {
      {80, "sm_80"},    {86, "sm_86"},    {87, "sm_87"},    {88, "sm_88"},
      {89, "sm_89"},    {90, "sm_90a"},   {100, "sm_100f"}, {103, "sm_103f"},
      {110, "sm_110f"}, {120, "sm_120f"}, {121, "sm_121f"},
  };
  for (int capability = -10; capability < 200; ++capability) {
    const Result<Target> target = TargetForCapability(capability / 10, capability % 10);
    const auto row = expected.find(capability);
    ASSERT_EQ(target.ok(), row != expected.end()) << capability;
    if (target.ok()) {
      EXPECT_EQ(target->name, row->second);
    } else {
      EXPECT_EQ(target.error().code, ErrorCode::kRefused);
    }
  }
}

TEST(TargetTest, UnknownCapabilitiesNameTheNearestTarget) {
  const auto message = [](int major, int minor) {
    return TargetForCapability(major, minor).error().message;
  };
  EXPECT_EQ(message(7, 5),
            "no target is known for compute capability 7.5: the oldest that is supported is 8.0");
  EXPECT_NE(message(10, 7).find("10.7: the nearest target whose PTX it can run is sm_103f"),
            std::string::npos);
  EXPECT_NE(message(13, 0).find("13.0: the nearest target whose PTX it can run is sm_121;"),
            std::string::npos);
  EXPECT_NE(message(2147483647, 9).find("2147483647.9"), std::string::npos);
  EXPECT_NE(message(8, 60).find("8.60"), std::string::npos);
}

// Which compute capabilities run the PTX of a target, by hand.
TEST(TargetTest, PtxRunsOn) {
  const std::map<std::string, std::set<int>> expected = {
      {"sm_80", {80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121}},
      {"sm_86", {86, 87, 88, 89, 90, 100, 103, 110, 120, 121}},
      {"sm_89", {89, 90, 100, 103, 110, 120, 121}},
      {"sm_90", {90, 100, 103, 110, 120, 121}},
      {"sm_90a", {90}},
      {"sm_100", {100, 103, 110, 120, 121}},
      {"sm_100f", {100, 103}},
      {"sm_100a", {100}},
      {"sm_103f", {103}},
      {"sm_110f", {110}},
      {"sm_120f", {120, 121}},
      {"sm_120a", {120}},
      {"sm_121", {121}},
      {"sm_121a", {121}},
  };
  for (const auto& [name, capabilities] : expected) {
    for (int capability : {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121}) {
      EXPECT_EQ(PtxRunsOn(ParseTarget(name).value(), capability), capabilities.contains(capability))
          << name << " on " << capability;
    }
  }
}

TEST(TargetTest, SharedMemoryLimits) {
  const std::map<int, std::uint32_t> kib = {{80, 163},  {86, 99},  {87, 163},  {88, 99},
                                            {89, 99},   {90, 227}, {100, 227}, {103, 227},
                                            {110, 227}, {120, 99}, {121, 99}};
  for (const Target& row : AllTargets()) {
    EXPECT_EQ(row.max_shared_bytes_per_block, kib.at(row.capability) * 1024) << row.name;
  }
}

}  // namespace
}  // namespace lijit::target
