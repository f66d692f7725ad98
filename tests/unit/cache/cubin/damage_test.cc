// SPDX-License-Identifier: Apache-2.0
// Damaged files are described and refused; under the sanitizers these tests also show that nothing
// is read outside the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cache/cubin/synthetic_cubin.h"
#include "tests/unit/cache/cubin/test_files.h"

namespace lijit::cubin {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::vector<std::string> kKernels = {"tiny_scale", "tiny_local", "tiny_spill"};

// Exactly these bytes on the heap, so that the sanitizer sees the first one read too many.
std::vector<std::byte> Exactly(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

TEST(DamageTest, EveryTruncationIsRefused) {
  for (const char* name : {"v8_sm_86", "v7_sm_90a"}) {
    const auto whole = TestBytes(std::string(name) + ".cubin");
    const std::string target = std::string(name).substr(3);
    ASSERT_TRUE(Verify(whole, target, kKernels).ok());
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto cut = Exactly(std::span(whole).first(length));
      EXPECT_FALSE(Verify(cut, target, kKernels).ok()) << name << " cut to " << length;
      const Result<Dump> dump = DumpBytes(cut);
      EXPECT_EQ(dump.ok(), length >= 4) << length;
      if (dump.ok()) {
        EXPECT_FALSE(dump->problems.empty()) << length;
      }
    }
  }
}

TEST(DamageTest, TruncatedObjectsAreFound) {
  const auto whole = TestBytes("object_sm_86.cubin");
  for (std::size_t length = 64; length < whole.size(); ++length) {
    const Result<Image> image = ReadCubin(Exactly(std::span(whole).first(length)));
    ASSERT_TRUE(image.ok());
    EXPECT_FALSE(image->problems.empty()) << length;
  }
}

TEST(DamageTest, TrailingBytesAreRefused) {
  auto longer = TestBytes("v8_sm_86.cubin");
  longer.push_back(std::byte{0});
  EXPECT_FALSE(Verify(longer, "sm_86", kKernels).ok());
}

// Not every flip can be seen (code bytes have no checksum), but none may crash a reader, and what
// is accepted must still have the target and the kernels.
TEST(DamageTest, ABitFlippedInEveryByte) {
  for (const char* name : {"v7_sm_86", "v8_sm_90a", "v8_sm_120a", "object_sm_86"}) {
    const auto whole = TestBytes(std::string(name) + ".cubin");
    auto bytes = whole;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] ^= std::byte{1} << (i % 8);
      const Result<Dump> dump = DumpBytes(bytes);
      if (dump.ok()) {
        EXPECT_FALSE(Render(*dump).empty());
      }
      bytes[i] = whole[i];
    }
  }
}

TEST(DamageTest, EveryBitOfTheSmallestCubin) {
  const auto whole = Build({});
  auto bytes = whole;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    if (const Result<Dump> dump = DumpBytes(bytes); dump.ok()) {
      EXPECT_EQ(dump->kind, "cubin");
    }
    bytes[bit / 8] = whole[bit / 8];
  }
}

// The header decides where everything else is: a changed byte there must not pass unseen, except
// in fields that nothing depends on.
TEST(DamageTest, HeaderFieldsThatMatter) {
  const auto whole = TestBytes("v8_sm_86.cubin");
  struct Field {
    const char* name;
    std::size_t offset;
  };
  const Field fields[] = {
      {"magic", 1},    {"class", 4},       {"data", 5},         {"OSABI", 7},  {"type", 16},
      {"machine", 18}, {"phoff", 32},      {"phoff, high", 39}, {"shoff", 40}, {"shoff, high", 47},
      {"SM", 0x31},    {"SM, high", 0x32}, {"phentsize", 54},   {"phnum", 56}, {"shentsize", 58},
      {"shnum", 60},   {"shstrndx", 62}};
  for (const Field& field : fields) {
    for (int bit = 0; bit < 8; ++bit) {
      auto bytes = whole;
      bytes[field.offset] ^= std::byte{1} << bit;
      EXPECT_FALSE(Verify(bytes, "sm_86", kKernels).ok()) << field.name << ", bit " << bit;
    }
  }
}

// A toolkit of tomorrow must not be locked out: what its headers say is checked, not its number.
TEST(DamageTest, ANewerGenerationIsReadAsTheLastKnown) {
  auto bytes = TestBytes("v8_sm_86.cubin");
  bytes[8] = std::byte{9};
  EXPECT_TRUE(Verify(bytes, "sm_86", kKernels).ok());
  const Result<Dump> dump = DumpBytes(bytes);
  ASSERT_TRUE(dump.ok());
  EXPECT_EQ(dump->image->generation, "v9");
  EXPECT_THAT(dump->notes, Contains(HasSubstr("generation v9 is not known here")));
  bytes[8] = std::byte{6};
  EXPECT_FALSE(Verify(bytes, "sm_86", kKernels).ok());
}

TEST(DamageTest, ForeignFiles) {
  const auto message = [](std::string_view text) {
    const auto bytes = Exactly(std::as_bytes(std::span(text)));
    const Result<Dump> dump = DumpBytes(bytes);
    if (dump.ok()) return std::string("read");
    EXPECT_EQ(dump.error().code, ErrorCode::kInvalidArgument);
    return dump.error().message;
  };
  EXPECT_THAT(message(""), HasSubstr("the file is empty"));
  EXPECT_THAT(message("PK"), HasSubstr("begins with 50 4b"));
  EXPECT_THAT(message("//\n.version 9.0\n"), HasSubstr("begins with 2f 2f 0a 2e 76 65 72 73"));
  std::string elf = TestText("v8_sm_86.cubin");
  elf[18] = 62;  // x86-64
  EXPECT_THAT(message(elf), HasSubstr("for machine 62"));
}

TEST(DamageTest, ProblemsAreBounded) {
  auto bytes = TestBytes("v8_sm_86.cubin");
  for (std::size_t i = 64; i < bytes.size(); ++i) bytes[i] = std::byte{0xff};
  const Result<Image> image = ReadCubin(bytes);
  ASSERT_TRUE(image.ok());
  EXPECT_FALSE(image->problems.empty());
  EXPECT_LE(image->problems.size(), 51u);
}

}  // namespace
}  // namespace lijit::cubin
