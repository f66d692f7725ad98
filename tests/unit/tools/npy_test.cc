// SPDX-License-Identifier: Apache-2.0
// Files that NumPy made (tests/data/npy/make.py), and files that are written and read back.
#include "tools/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tools/files.h"

namespace lijit::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string File(const std::string& name) {
  Result<std::string> bytes =
      ReadFile(std::string(LIJIT_SOURCE_DIR) + "/tests/data/npy/" + name + ".npy");
  EXPECT_TRUE(bytes.ok()) << name;
  return bytes.ok() ? *std::move(bytes) : "";
}

HostArray Read(const std::string& name) {
  Result<HostArray> array = ParseNpy(File(name), name);
  EXPECT_TRUE(array.ok()) << array.error().message;
  return array.ok() ? *std::move(array) : HostArray{};
}

TEST(NpyTest, FloatsOfEverySizeAndVersion) {
  for (const char* name : {"f2", "f4", "f8", "version2", "version3"}) {
    const HostArray array = Read(name);
    EXPECT_THAT(array.shape, ElementsAre(2, 3)) << name;
    EXPECT_THAT(array.data, ElementsAre(-1.0f, -0.5f, 0.0f, 0.5f, 1.0f, 1.5f)) << name;
  }
}

TEST(NpyTest, Integers) {
  for (const char* name : {"i4", "i8"}) {
    EXPECT_THAT(Read(name).data, ElementsAre(-2, -1, 0, 1, 2, 3)) << name;
  }
}

TEST(NpyTest, OtherRanks) {
  EXPECT_THAT(Read("vector").shape, ElementsAre(2));
  EXPECT_THAT(Read("scalar").shape, IsEmpty());
  EXPECT_THAT(Read("scalar").data, ElementsAre(0.5f));
  EXPECT_THAT(Read("empty").shape, ElementsAre(0, 3));
  EXPECT_THAT(Read("empty").data, IsEmpty());
}

TEST(NpyTest, HalvesThatAreSubnormalExtremeOrNoNumber) {
  const std::vector<float> data = Read("special_f2").data;
  ASSERT_EQ(data.size(), 7u);
  EXPECT_EQ(data[0], 0x1p-24f);
  EXPECT_EQ(data[1], 0x1.ff8p-15f);
  EXPECT_EQ(data[2], 65504.0f);
  EXPECT_TRUE(data[3] == 0.0f && std::signbit(data[3]));
  EXPECT_EQ(data[4], std::numeric_limits<float>::infinity());
  EXPECT_EQ(data[5], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(data[6]));
}

TEST(NpyTest, WhatIsNotReadSaysWhatWouldBe) {
  const std::pair<const char*, const char*> cases[] = {
      {"fortran", "np.ascontiguousarray"},
      {"big_endian", "its dtype is '>f4'; accepted are little-endian float16, float32"},
      {"bytes", "its dtype is '|u1'"},
      {"records", "it holds records"},
      {"large_f8", "value 1e+300 (of index 1, flat) is too large for float32"},
  };
  for (const auto& [name, message] : cases) {
    const Result<HostArray> array = ParseNpy(File(name), "F.npy");
    ASSERT_FALSE(array.ok()) << name;
    EXPECT_EQ(array.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(array.error().message, HasSubstr(message));
    EXPECT_TRUE(array.error().message.starts_with("F.npy: "));
  }
}

// Byte for byte what NumPy writes.
TEST(NpyTest, WritesAsNumpyDoes) {
  const std::int64_t shape[] = {2, 3};
  const float halves[] = {-1.0f, -0.5f, 0.0f, 0.5f, 1.0f, 1.5f};
  EXPECT_EQ(FormatNpy(shape, std::span<const float>(halves)), File("f4"));
  const std::int32_t integers[] = {-2, -1, 0, 1, 2, 3};
  EXPECT_EQ(FormatNpy(shape, std::span<const std::int32_t>(integers)), File("i4"));
  const std::int64_t two[] = {2};
  const float vector[] = {0.5f, -0.5f};
  EXPECT_EQ(FormatNpy(two, std::span<const float>(vector)), File("vector"));
}

TEST(NpyTest, ReadsBackEveryHeaderLength) {
  // The header's padding depends on the digits of the shape.
  for (std::int64_t rank = 0; rank <= 40; ++rank) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), 1);
    const float value[] = {3.25f};
    const std::string bytes = FormatNpy(shape, std::span<const float>(value));
    EXPECT_EQ((bytes.size() - sizeof(float)) % 64, 0u);
    const Result<HostArray> array = ParseNpy(bytes, "x");
    ASSERT_TRUE(array.ok()) << array.error().message;
    EXPECT_EQ(array->shape, shape);
    EXPECT_THAT(array->data, ElementsAre(3.25f));
  }
}

}  // namespace
}  // namespace lijit::tools
