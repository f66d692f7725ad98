// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/exact_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>

#include "runtime/emulator/float_formats.h"

namespace lijit::emulator {
namespace {

TEST(ExactSumTest, CancelsAndRoundsToOdd) {
  ExactSum sum;
  for (const double value : {0x1p1000, 1.0, -0x1p1000, 0x1p-1074, -0x1p-1074}) sum.Add(value);
  EXPECT_EQ(sum.RoundToOdd(), 1.0);
  ExactSum sticky;
  for (const double value : {1.0, 0x1p-300}) sticky.Add(value);
  EXPECT_EQ(sticky.RoundToOdd(), 1 + 0x1p-52);
  ExactSum below;
  for (const double value : {-1.0, 0x1p-1074}) below.Add(value);
  EXPECT_EQ(below.RoundToOdd(), -(1 - 0x1p-53));
  ExactSum small;
  for (int i = 0; i < 3; ++i) small.Add(-0x1p-1074);
  EXPECT_EQ(small.RoundToOdd(), -0x3p-1074);
  ExactSum none;
  EXPECT_EQ(none.RoundToOdd(), 0.0);
}

// A sum of two is what AddToOdd gives.
TEST(ExactSumTest, AgreesWithAddToOdd) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const auto value = [&] {
      const std::uint64_t exponent = 1023 - 40 + random() % 80;
      return std::bit_cast<double>((random() & 0x800fffffffffffff) | exponent << 52);
    };
    const double a = value();
    const double b = value();
    ExactSum sum;
    sum.Add(a);
    sum.Add(b);
    ASSERT_EQ(sum.RoundToOdd(), AddToOdd(a, b)) << a << " " << b;
  }
}

}  // namespace
}  // namespace lijit::emulator
