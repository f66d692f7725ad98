// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lijit/cubin.h"

namespace lijit::cubin {
namespace {

using ::testing::HasSubstr;

Image ImageFor(std::uint32_t sm, char suffix = 0, std::optional<std::uint32_t> isa_class = {}) {
  Image image;
  image.sm = sm;
  image.accelerated = suffix == 'a';
  image.family = suffix == 'f';
  image.target = "sm_" + std::to_string(sm) + (suffix == 0 ? "" : std::string(1, suffix));
  image.has_compat = isa_class.has_value();
  image.isa_class = isa_class;
  return image;
}

// The matrix that nvlink 13.0 was measured to accept, with sm_90 and "a" images held to their
// capability.
TEST(CompatibilityTest, RunsOn) {
  struct Row {
    std::uint32_t sm;
    char suffix;
    std::vector<int> runs_on;
  };
  const Row rows[] = {
      {75, 0, {}},          {80, 0, {80, 86, 89}},  {86, 0, {86, 89}}, {87, 0, {87}},
      {88, 0, {88}},        {89, 0, {89}},          {90, 0, {90}},     {90, 'a', {90}},
      {100, 0, {100, 103}}, {100, 'f', {100, 103}}, {100, 'a', {100}}, {103, 0, {103}},
      {103, 'a', {103}},    {103, 'f', {103}},      {110, 0, {110}},   {110, 'f', {110}},
      {120, 0, {120, 121}}, {120, 'f', {120, 121}}, {120, 'a', {120}}, {121, 'a', {121}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(RunsOn(ImageFor(row.sm, row.suffix)), row.runs_on) << row.sm << row.suffix;
}

TEST(CompatibilityTest, InstructionClassForbidsTheStep) {
  EXPECT_TRUE(CanRun(ImageFor(100, 0, 1), 103).ok());
  EXPECT_TRUE(CanRun(ImageFor(100, 0, 2), 103).ok());
  for (const std::uint32_t isa_class : {0u, 3u, 4u, 5u}) {
    EXPECT_FALSE(CanRun(ImageFor(100, 0, isa_class), 103).ok()) << isa_class;
    EXPECT_TRUE(CanRun(ImageFor(100, 0, isa_class), 100).ok()) << isa_class;
  }
}

TEST(CompatibilityTest, ReasonsInWords) {
  const auto reason = [](const Image& image, int capability) {
    const Status status = CanRun(image, capability);
    return status.ok() ? "it runs" : status.error().message;
  };
  EXPECT_EQ(reason(ImageFor(100, 'a'), 103),
            "the image is for sm_100a, which runs only on compute capability 10.0; the device is "
            "10.3");
  EXPECT_EQ(reason(ImageFor(86), 90),
            "the image is for sm_86, which needs compute capability 8.6, or higher with the same "
            "major number; the device is 9.0");
  EXPECT_EQ(reason(ImageFor(86), 80),
            "the image is for sm_86, which needs compute capability 8.6, or higher with the same "
            "major number; the device is 8.0");
  EXPECT_THAT(reason(ImageFor(80), 87), HasSubstr("integrated"));
  EXPECT_THAT(reason(ImageFor(100, 0, 4), 103), HasSubstr("ISA_CLASS 4"));
  Image object = ImageFor(86);
  object.executable = false;
  EXPECT_THAT(reason(object, 86), HasSubstr("must be linked first"));
  EXPECT_EQ(CanRun(object, 86).error().code, ErrorCode::kRefused);
}

TEST(CompatibilityTest, CapabilitiesNoDeviceHas) {
  EXPECT_FALSE(CanRun(ImageFor(86), 0).ok());
  EXPECT_FALSE(CanRun(ImageFor(86), -1).ok());
  EXPECT_TRUE(CanRun(ImageFor(342), 342).ok());
}

}  // namespace
}  // namespace lijit::cubin
