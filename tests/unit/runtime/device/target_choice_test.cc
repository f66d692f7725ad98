// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/target_choice.h"

#include <gtest/gtest.h>

namespace lijit::runtime {
namespace {

struct Row {
  int capability;
  const char* wanted;
  const char* target;
  ImageKind image_kind;
};

TEST(TargetChoiceTest, OwnTargetsAreCubinsAndOlderOnesPtx) {
  for (const Row& row : {
           Row{90, "", "sm_90a", ImageKind::kCubin},
           Row{90, "native", "sm_90a", ImageKind::kCubin},
           Row{90, "sm_90a", "sm_90a", ImageKind::kCubin},
           Row{90, "sm_90", "sm_90", ImageKind::kCubin},
           Row{90, "sm_86", "sm_86", ImageKind::kPtx},
           Row{90, "sm_80", "sm_80", ImageKind::kPtx},
           Row{86, "", "sm_86", ImageKind::kCubin},
           Row{100, "native", "sm_100f", ImageKind::kCubin},
           Row{100, "sm_100a", "sm_100a", ImageKind::kCubin},
           Row{103, "sm_100f", "sm_100f", ImageKind::kPtx},
           Row{121, "sm_120f", "sm_120f", ImageKind::kPtx},
           Row{107, "sm_103f", "sm_103f", ImageKind::kPtx},
       }) {
    const auto choice = ChooseTarget(row.capability, row.wanted);
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    EXPECT_EQ(choice->target.name, row.target) << row.capability << " " << row.wanted;
    EXPECT_EQ(choice->image_kind, row.image_kind) << row.capability << " " << row.wanted;
  }
}

TEST(TargetChoiceTest, WhatTheDeviceCannotRunIsRefusedWithWhatItCan) {
  const auto newer = ChooseTarget(90, "sm_120f");
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().code, ErrorCode::kRefused);
  EXPECT_EQ(newer.error().message,
            "a device of compute capability 9.0 cannot run code for sm_120f; it can run sm_80, "
            "sm_86, sm_87, sm_88, sm_89, sm_90, sm_90a; the emulated device runs any target");
  EXPECT_FALSE(ChooseTarget(103, "sm_100a").ok());
  EXPECT_FALSE(ChooseTarget(100, "sm_90a").ok());
  EXPECT_EQ(ChooseTarget(90, "sm_999").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ChooseTarget(75, "").error().code, ErrorCode::kRefused);
  EXPECT_EQ(ChooseTarget(107, "native").error().code, ErrorCode::kRefused);
}

}  // namespace
}  // namespace lijit::runtime
