// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/cache/cubin/test_files.h"

namespace lijit::cubin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Dump DumpOf(std::span<const std::byte> bytes) {
  Result<Dump> dump = DumpBytes(bytes);
  EXPECT_TRUE(dump.ok());
  return dump.ok() ? std::move(dump).value() : Dump{};
}

TEST(FatbinTest, UncompressedMembersAreRead) {
  const Dump dump = DumpOf(TestBytes("mini_none.fatbin"));
  EXPECT_EQ(dump.kind, "fatbin");
  EXPECT_THAT(dump.problems, IsEmpty());
  EXPECT_THAT(dump.runs_on, ElementsAre(86, 89, 90));
  ASSERT_EQ(dump.members.size(), 3u);
  const char* const targets[] = {"sm_86", "sm_90a"};
  for (std::size_t i = 0; i < 2; ++i) {
    const Member& member = dump.members[i];
    EXPECT_EQ(member.entry.kind, "cubin");
    EXPECT_EQ(member.entry.target, targets[i]);
    EXPECT_EQ(member.entry.compression, "none");
    EXPECT_EQ(member.entry.identifier, "mini.cu");
    ASSERT_EQ(member.dump.size(), 1u);
    EXPECT_EQ(member.dump[0].image->target, targets[i]);
    EXPECT_NE(FindKernel(*member.dump[0].image, "mini"), nullptr);
    EXPECT_EQ(member.dump[0].code.size(), member.entry.bytes);
  }
  EXPECT_EQ(dump.members[2].entry.kind, "ptx");
  EXPECT_EQ(dump.members[2].entry.target, "compute_86");
  EXPECT_THAT(dump.members[2].ptx, HasSubstr(".target sm_86"));
  EXPECT_EQ(dump.members[2].ptx.find('\0'), std::string::npos);
}

TEST(FatbinTest, CompressedMembersAreListed) {
  const Fatbin plain = *ReadFatbin(TestBytes("mini_none.fatbin"));
  for (const char* compression : {"zstd", "lz4"}) {
    SCOPED_TRACE(compression);
    const Dump dump = DumpOf(TestBytes("mini_" + std::string(compression) + ".fatbin"));
    EXPECT_THAT(dump.problems, IsEmpty());
    EXPECT_THAT(dump.runs_on, ElementsAre(86, 89, 90));
    ASSERT_EQ(dump.members.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      const Member& member = dump.members[i];
      EXPECT_EQ(member.entry.compression, compression);
      EXPECT_EQ(member.entry.target, plain.entries[i].target);
      // PTX is stored with padding when it is not compressed.
      EXPECT_LE(plain.entries[i].bytes - member.entry.bytes, 8u);
      EXPECT_LT(member.entry.stored_bytes, member.entry.bytes);
      EXPECT_TRUE(member.dump.empty());
      EXPECT_TRUE(member.ptx.empty());
    }
  }
}

TEST(FatbinTest, SeveralContainersAreOneList) {
  auto bytes = TestBytes("mini_none.fatbin");
  const auto second = TestBytes("mini_zstd.fatbin");
  bytes.insert(bytes.end(), second.begin(), second.end());
  const Result<Fatbin> fatbin = ReadFatbin(bytes);
  ASSERT_TRUE(fatbin.ok());
  EXPECT_THAT(fatbin->problems, IsEmpty());
  EXPECT_EQ(fatbin->entries.size(), 6u);
}

TEST(FatbinTest, EveryTruncationIsFound) {
  const auto whole = TestBytes("mini_none.fatbin");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(length));
    const Result<Dump> dump = DumpBytes(cut);
    EXPECT_EQ(dump.ok(), length >= 4) << length;
    if (dump.ok()) {
      EXPECT_FALSE(dump->problems.empty()) << length;
    }
  }
}

TEST(FatbinTest, ABitFlippedInEveryByte) {
  for (const char* name : {"mini_none.fatbin", "mini_zstd.fatbin", "mini_lz4.fatbin"}) {
    const auto whole = TestBytes(name);
    auto bytes = whole;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] ^= std::byte{1} << (i % 8);
      if (const Result<Dump> dump = DumpBytes(bytes); dump.ok()) {
        EXPECT_FALSE(Render(*dump).empty());
      }
      bytes[i] = whole[i];
    }
  }
}

TEST(FatbinTest, TheListAndTheImageMustAgree) {
  auto bytes = TestBytes("mini_none.fatbin");
  ASSERT_EQ(bytes[16 + 28], std::byte{86});
  bytes[16 + 28] = std::byte{89};
  EXPECT_THAT(DumpOf(bytes).problems,
              ElementsAre("entry 0 (sm_89): the fatbin lists it as sm_89, but it is for sm_86"));
}

// Unlike a cubin, a fatbin's list tells "f" from plain.
TEST(FatbinTest, SuffixOfTheTarget) {
  auto bytes = TestBytes("mini_zstd.fatbin");
  bytes[16 + 40 + 2] = std::byte{0x20};
  EXPECT_EQ(ReadFatbin(bytes)->entries.at(0).target, "sm_86f");
  bytes[16 + 40 + 2] = std::byte{0x10};
  EXPECT_EQ(ReadFatbin(bytes)->entries.at(0).target, "sm_86a");
  bytes[16 + 40 + 2] = std::byte{0};
  EXPECT_EQ(ReadFatbin(bytes)->entries.at(0).target, "sm_86");
}

TEST(FatbinTest, OtherKindsAndHugeSizes) {
  auto bytes = TestBytes("mini_none.fatbin");
  bytes[16] = std::byte{0x40};
  EXPECT_EQ(DumpOf(bytes).members.at(0).entry.kind, "0x40");
  bytes = TestBytes("mini_none.fatbin");
  const std::uint64_t huge = ~std::uint64_t{0};
  std::memcpy(bytes.data() + 16 + 8, &huge, sizeof(huge));
  EXPECT_FALSE(DumpOf(bytes).problems.empty());
  std::memcpy(bytes.data() + 8, &huge, sizeof(huge));
  EXPECT_FALSE(DumpOf(bytes).problems.empty());
}

}  // namespace
}  // namespace lijit::cubin
