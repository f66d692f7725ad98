// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "cache/fields.h"
#include "lijit/cache.h"

namespace lijit::cache {
namespace {

TEST(Counters, EveryRowHasItsOwnNameAndAMeaning) {
  std::set<std::string_view> names;
  for (const CounterInfo& info : kCounterInfos) {
    EXPECT_TRUE(IsLabel(info.name)) << info.name;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.meaning.empty()) << info.name;
  }
}

TEST(Counters, ClassesComeFromTheTable) {
  EXPECT_TRUE(IsHit(Counter::kHitMemory));
  EXPECT_FALSE(IsHit(Counter::kAbsent));
  EXPECT_TRUE(IsDamage(Counter::kImageRefused));
  EXPECT_FALSE(IsDamage(Counter::kUnreadable));
  EXPECT_EQ(Info(Counter::kSwept).name, "swept");  // the last row: enumerators and rows are in step
}

}  // namespace
}  // namespace lijit::cache
