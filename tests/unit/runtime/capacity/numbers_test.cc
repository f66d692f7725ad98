// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/capacity/checked.h"
#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

TEST(Numbers, SizesAreExact) {
  struct {
    std::string_view text;
    std::int64_t bytes;
  } constexpr kCases[] = {{"0", 0},
                          {"4096", 4096},
                          {"24GiB", 24 * kGiB},
                          {"1.5GB", 1'500'000'000},
                          {"7.71GiB", 8'278'549'463},
                          {"80GB", 80'000'000'000},
                          {"0.5KiB", 512},
                          {"1B", 1},
                          {"2TiB", std::int64_t{2} << 40}};
  for (const auto& each : kCases) {
    const Result<std::int64_t> bytes = ParseBytes(each.text);
    ASSERT_TRUE(bytes.ok()) << each.text << ": " << bytes.error().message;
    EXPECT_EQ(*bytes, each.bytes) << each.text;
  }
}

TEST(Numbers, NonsenseIsRefusedByName) {
  for (const char* text : {"", "GiB", "-1GiB", "1 GiB", "1gib", "1e9", "1.GiB", ".5GiB", "1.2.3GiB",
                           "0x10", "9999999999999999999", "1,000"}) {
    const Result<std::int64_t> bytes = ParseBytes(text);
    ASSERT_FALSE(bytes.ok()) << text;
    EXPECT_EQ(bytes.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(bytes.error().message.find(std::string("'") + text + "'"), std::string::npos);
  }
  const Result<std::int64_t> huge = ParseBytes("9000000000TiB");
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.error().message.find("exceeds 2^63 - 1"), std::string::npos);
}

TEST(Numbers, Fractions) {
  EXPECT_EQ(*ParseFraction("0.92"), 920'000);
  EXPECT_EQ(*ParseFraction("1"), 1'000'000);
  EXPECT_EQ(*ParseFraction("1.0"), 1'000'000);
  EXPECT_EQ(*ParseFraction("0.000001"), 1);
  for (const char* text : {"", "1.01", "2", "-0.5", "90%", "0.1234567", "0.9x"}) {
    EXPECT_FALSE(ParseFraction(text).ok()) << text;
  }
}

TEST(Numbers, Grouped) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1'000), "1,000");
  EXPECT_EQ(Grouped(-1'234'567), "-1,234,567");
  EXPECT_EQ(Grouped(-123), "-123");
  EXPECT_EQ(Grouped(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Numbers, OverflowIsRemembered) {
  const Checked big = INT64_MAX;
  EXPECT_FALSE((big + 1).Get("sum").ok());
  EXPECT_FALSE((Checked(INT64_MIN) - 1).Get("difference").ok());
  EXPECT_FALSE((big * 2).Get("product").ok());
  EXPECT_FALSE((big * 2 - big).Get("what overflowed once").ok());
  EXPECT_EQ(*(big - 1).Get("x"), INT64_MAX - 1);
  EXPECT_NE((big + 1).Get("the sum").error().message.find("the sum exceeds"), std::string::npos);
}

TEST(Numbers, MultiplyDivideGoesThrough128Bits) {
  EXPECT_EQ(*MultiplyDivide(INT64_MAX, INT64_MAX, INT64_MAX, "x"), INT64_MAX);
  EXPECT_EQ(*MultiplyDivide(7, 3, 2, "x"), 10);
  EXPECT_FALSE(MultiplyDivide(INT64_MAX, 2, 1, "x").ok());
}

TEST(Numbers, CeilDivideDoesNotOverflow) {
  EXPECT_EQ(CeilDivide(0, 7), 0);
  EXPECT_EQ(CeilDivide(8, 7), 2);
  EXPECT_EQ(CeilDivide(INT64_MAX, 2), INT64_MAX / 2 + 1);
}

}  // namespace
}  // namespace lijit::capacity
