// SPDX-License-Identifier: Apache-2.0
#include "cache/key.h"

#include <gtest/gtest.h>

#include "cache/fields.h"
#include "lijit/cache.h"

namespace lijit::cache {
namespace {

TEST(Sha256, AgreesWithThePublishedExamples) {  // FIPS 180-4, examples of NIST
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Key, TextIsReadableAndTheDigestIsItsSha256) {
  const Key key = Key().Add("target", "sm_90a").Add("option", "-O3\n");
  EXPECT_EQ(key.text(), "target:6:sm_90a\noption:4:-O3\n\n");
  EXPECT_EQ(key.Hex(), Sha256Hex(key.text()));
}

TEST(Key, WhereAFieldEndsMatters) {
  EXPECT_NE(Key().Add("a", "ab").Add("b", "c").Hex(), Key().Add("a", "a").Add("b", "bc").Hex());
  EXPECT_NE(Key().Add("option", "-a").Add("option", "-b").text(),
            Key().Add("option", "-a\noption:2:-b").text());
}

TEST(Key, OrderLabelsAndEmptyFieldsMatter) {
  EXPECT_NE(Key().Add("a", "1").Add("b", "2").Hex(), Key().Add("b", "2").Add("a", "1").Hex());
  EXPECT_NE(Key().Add("a", "1").Hex(), Key().Add("b", "1").Hex());
  EXPECT_NE(Key().Add("a", "1").Hex(), Key().Add("a", "1").Add("b", "").Hex());
}

TEST(Key, KeepsADigestOfWhatIsTooLong) {
  const Key key = Key().AddDigest("template", std::string(1 << 20, 'x'));
  EXPECT_LT(key.text().size(), 100u);
  EXPECT_NE(key.Hex(), Key().AddDigest("template", std::string(1 << 20, 'y')).Hex());
}

TEST(Key, ParsesWhatItPrints) {
  const Key key = Key().Add("any", std::string("\0\n:9:\xff", 6)).Add("empty", "");
  const Result<Key> parsed = Key::Parse(key.text());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->text(), key.text());
  EXPECT_EQ(parsed->Find("any"), std::string_view("\0\n:9:\xff", 6));
  EXPECT_EQ(parsed->Find("absent"), "");
}

TEST(Key, RefusesWhatIsNoText) {
  for (const char* text :
       {"a", "a:", "a:1", "a:1:", "a:1:x", "a:2:x\n", "a:0:x\n", ":0:\n", "A:0:\n", "a:01:x\n",
        "a:-1:x\n", "a:+1:x\n", "a: 1:x\n", "a:18446744073709551615:x\n",
        "a:18446744073709551616:x\n", "a:1:x\nb", "\n"}) {
    EXPECT_FALSE(Key::Parse(text).ok()) << text;
  }
}

TEST(KeyDeathTest, ALabelThatIsNoneIsAMistakeOfTheProgram) {
  EXPECT_DEATH(Key().Add("a:b", ""), "IsLabel");
  EXPECT_DEATH(Key().Add("", ""), "IsLabel");
}

std::vector<KeyDifference> Differences(const Key& a, const Key& b) {
  return Explain(a.text(), b.text()).value();
}

TEST(Explain, EqualKeysDoNotDiffer) {
  EXPECT_TRUE(Differences(Key().Add("a", "1"), Key().Add("a", "1")).empty());
}

TEST(Explain, NamesChangedMissingAndAddedFields) {
  const auto differences =
      Differences(Key().Add("target", "sm_90a").Add("same", "x").Add("old", "1"),
                  Key().Add("target", "sm_86").Add("same", "x").Add("new", "2"));
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0].label, "target");
  EXPECT_EQ(differences[0].a, "sm_90a");
  EXPECT_EQ(differences[0].b, "sm_86");
  EXPECT_EQ(differences[1].label, "old");
  EXPECT_FALSE(differences[1].in_b);
  EXPECT_EQ(differences[2].label, "new");
  EXPECT_FALSE(differences[2].in_a);
}

TEST(Explain, CountsFieldsOfOneLabel) {
  const auto differences = Differences(Key().Add("option", "-a").Add("option", "-b"),
                                       Key().Add("option", "-a").Add("option", "-c"));
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].label, "option[1]");
}

TEST(Explain, SeesAnotherOrder) {
  const auto differences =
      Differences(Key().Add("a", "1").Add("b", "2"), Key().Add("b", "2").Add("a", "1"));
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].label, "(order)");
  EXPECT_EQ(differences[0].a, "a b");
  EXPECT_EQ(differences[0].b, "b a");
}

TEST(Explain, RefusesWhatIsNoKey) {
  EXPECT_EQ(Explain("a:1:x\n", "a:1").error().code, ErrorCode::kDamaged);
  EXPECT_EQ(Explain("a", "a:1:x\n").error().code, ErrorCode::kDamaged);
}

}  // namespace
}  // namespace lijit::cache
