// SPDX-License-Identifier: Apache-2.0
// Outputs as a kernel could leave them, right and wrong.
#include "runtime/bench/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>

#include "runtime/device/emulated_device.h"

namespace lijit::runtime {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kKeys = 4;
constexpr std::int64_t kWidth = 6;

// Two sets of three rows; row r sees 4 + r % 2 columns. The keys of a set begin at its number.
class VerifyTest : public testing::Test {
 protected:
  VerifyTest() {
    reference_.queries = 2;
    reference_.keys = kKeys;
    for (int i = 0; i < 2 * kKeys; ++i) reference_.logits.push_back(1.5f + static_cast<float>(i));
    score_.rows = 3;
    score_.width = kWidth;
    score_.sets = 2;
    score_.visible = {4, 5, 4};
    score_.key_run = kKeys;
    score_.key = [](int set, std::int64_t, std::int64_t column) { return (set + column) % kKeys; };
    score_.set_stride = 256;
    score_.out = Buffer::Create(*device_, score_.out_bytes(), "out", kUnwritten).value();
    for (int set = 0; set < 2; ++set) {
      for (std::int64_t row = 0; row < 3; ++row) {
        for (std::int64_t n = 0; n < score_.visible[static_cast<std::size_t>(row)]; ++n) {
          Write(set, row, n, Expected(set, row, n));
        }
      }
    }
  }

  float Expected(int set, std::int64_t row, std::int64_t column) const {
    return reference_.logits[static_cast<std::size_t>(row % 2 * kKeys + (set + column) % kKeys)];
  }
  void Write(int set, std::int64_t row, std::int64_t column, float value) {
    const auto offset = static_cast<DeviceAddress>(set * 256 + (row * kWidth + column) * 4);
    ASSERT_TRUE(device_->CopyToDevice(score_.out.address() + offset, &value, 4).ok());
  }
  Verification Verify(Tail tail = Tail::kKeep) const {
    return VerifyOutputs(*device_, score_, reference_, tail).value();
  }

  std::shared_ptr<Device> device_ = MakeEmulatedDevice("sm_86");
  BenchReference reference_;
  ScoreCase score_;
};

TEST_F(VerifyTest, AllRight) {
  const Verification found = Verify();
  EXPECT_TRUE(found.complete);
  EXPECT_TRUE(found.bitwise_equal);
  EXPECT_EQ(found.calc_diff, 0);
  EXPECT_EQ(found.compared, 2 * 13);
  EXPECT_EQ(found.first_problem, "");
}

TEST_F(VerifyTest, OneBitOfOneNumber) {
  Write(1, 2, 3, std::nextafter(Expected(1, 2, 3), 100.0f));
  const Verification found = Verify();
  EXPECT_TRUE(found.complete);
  EXPECT_FALSE(found.bitwise_equal);
  EXPECT_LT(found.calc_diff, 1e-12);
  EXPECT_NE(found.first_problem.find("set 1, row 2, column 3 is "), std::string::npos);
}

TEST_F(VerifyTest, AnotherNumberIsFar) {
  Write(0, 0, 0, 3.0f);
  EXPECT_GT(Verify().calc_diff, 1e-3);
}

TEST_F(VerifyTest, AColumnThatIsNotWritten) {
  Write(0, 1, 4, __builtin_bit_cast(float, 0xffffffffu));
  const Verification found = Verify();
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.first_problem, "set 0, row 1, column 4 is not written");
}

TEST_F(VerifyTest, InfinityWhereThereIsANumber) {
  Write(0, 1, 1, -kInfinity);
  const Verification found = Verify();
  EXPECT_FALSE(found.complete);
  EXPECT_FALSE(found.bitwise_equal);
}

TEST_F(VerifyTest, NanEqualsNanButNotWhatIsUnwritten) {
  reference_.logits[0] = __builtin_bit_cast(float, 0x7fffffffu);
  Write(0, 0, 0, __builtin_bit_cast(float, 0x7fc00001u));
  Write(0, 2, 0, reference_.logits[0]);
  for (int row : {0, 2}) Write(1, row, 3, reference_.logits[0]);
  EXPECT_TRUE(Verify().bitwise_equal);
  Write(0, 0, 0, __builtin_bit_cast(float, 0xffffffffu));
  EXPECT_FALSE(Verify().complete);
}

TEST_F(VerifyTest, WhatLiesBeyondTheKeys) {
  EXPECT_EQ(Verify(Tail::kMinusInfinity).first_problem,
            "set 0, row 0, column 4 is -nan, which lies beyond the row's keys and should be -inf");
  for (int set = 0; set < 2; ++set) {
    for (int row = 0; row < 3; ++row) {
      for (std::int64_t n = row % 2 == 0 ? 4 : 5; n < kWidth; ++n) Write(set, row, n, -kInfinity);
    }
  }
  EXPECT_TRUE(Verify(Tail::kMinusInfinity).complete);
  const Verification kept = Verify(Tail::kKeep);
  EXPECT_FALSE(kept.complete);
  EXPECT_NE(kept.first_problem.find("should be untouched"), std::string::npos);
}

}  // namespace
}  // namespace lijit::runtime
