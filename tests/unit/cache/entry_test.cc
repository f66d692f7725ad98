// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.h"

#include <xxhash.h>
#include <zstd.h>

#include <cstring>
#include <map>

#include "tests/unit/cache/scratch.h"

namespace lijit::cache {
namespace {

constexpr std::size_t kChecksumSize = 16, kPrefixSize = 36;
using Bytes = std::vector<std::byte>;

Entry SmallEntry() { return EntryOf(KeyOf("kernel @score")); }

Bytes Encoded(const Entry& entry) {
  Result<Bytes> bytes = EncodeEntry(entry);
  LIJIT_CHECK(bytes.ok());
  return std::move(bytes).value();
}

// The reason why these bytes are no entry; nothing if they are one.
std::optional<Counter> ReasonOf(std::span<const std::byte> bytes) {
  Counter reason = Counter::kAbsent;
  const Result<Entry> entry = DecodeEntry(bytes, &reason);
  if (entry.ok()) return std::nullopt;
  EXPECT_EQ(entry.error().code, ErrorCode::kDamaged);
  EXPECT_FALSE(entry.error().message.empty());
  return reason;
}

// Gives changed bytes a fitting checksum, as another writer would have.
Bytes Sealed(Bytes bytes) {
  const std::size_t end = bytes.size() - kChecksumSize;
  XXH128_canonical_t checksum;
  XXH128_canonicalFromHash(&checksum, XXH3_128bits(bytes.data(), end));
  std::memcpy(bytes.data() + end, checksum.digest, kChecksumSize);
  return bytes;
}

// An entry with any header and frame, the checksum fitting.
Bytes Assembled(std::string_view header, std::string_view frame, std::uint64_t image_size) {
  std::string text = "LIJITKC\n";
  const auto append = [&](std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  };
  append(kGrammarVersion, 4);
  append(header.size(), 8);
  append(frame.size(), 8);
  append(image_size, 8);
  text.append(header).append(frame).append(kChecksumSize, '\0');
  return Sealed(ToBytes(text));
}

std::string Frame(std::string_view image) {
  std::string frame(ZSTD_compressBound(image.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), image.data(), image.size(), 3));
  return frame;
}

constexpr std::string_view kHeader =
    "key:0:\ntarget:5:sm_86\nkind:3:ptx\ncreated:1:7\nresources:0:\nlog:0:\n";

TEST(Entry, ComesBackAsItWas) {
  Entry entry = SmallEntry();
  EXPECT_EQ(*DecodeEntry(Encoded(entry)), entry);
  entry = Entry();
  entry.kind = ImageKind::kPtx;
  entry.created = -1;
  EXPECT_EQ(*DecodeEntry(Encoded(entry)), entry);
  entry.image.resize(3'000'000, std::byte{7});
  entry.key = std::string("any \0 byte\n:3:", 14);
  entry.kernels.assign(100, "k");
  EXPECT_EQ(*DecodeEntry(Encoded(entry)), entry);
}

// Files of this version in users' folders must stay readable; a change of the grammar needs a new
// version and a new file here, and this one becomes an example of kBadVersion.
TEST(Entry, TheStoredExampleOfThisGrammarIsReadAndItsHeaderIsWrittenTheSame) {
  const std::string golden = ReadText(LIJIT_SOURCE_DIR "/tests/unit/cache/goldens/grammar_1.entry");
  const Bytes golden_bytes = ToBytes(golden);
  const Result<Entry> entry = DecodeEntry(golden_bytes);
  ASSERT_TRUE(entry.ok()) << entry.error().message;
  EXPECT_EQ(*entry, SmallEntry());
  const std::size_t header_end = golden.find("tool:8:test 1.0\n") + 16;
  const Bytes now = Encoded(SmallEntry());
  ASSERT_GT(now.size(), header_end);
  EXPECT_TRUE(std::equal(now.begin() + kPrefixSize,
                         now.begin() + static_cast<std::ptrdiff_t>(header_end),
                         golden_bytes.begin() + kPrefixSize));
}

TEST(Entry, EveryTruncationIsFound) {
  const Bytes bytes = Encoded(SmallEntry());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(ReasonOf(std::span(bytes).first(size)), Counter::kShort) << size;
  }
}

TEST(Entry, EveryFlippedBitIsFound) {
  Bytes bytes = Encoded(SmallEntry());
  std::map<Counter, int> reasons;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << bit % 8)};
    bytes[bit / 8] ^= mask;
    const std::optional<Counter> reason = ReasonOf(bytes);
    ASSERT_TRUE(reason.has_value()) << "bit " << bit;
    ++reasons[*reason];
    bytes[bit / 8] ^= mask;
  }
  EXPECT_EQ(reasons[Counter::kBadMagic], 8 * 8);
  EXPECT_EQ(reasons[Counter::kBadVersion], 4 * 8);
  EXPECT_GT(reasons[Counter::kBadChecksum], 100 * 8);
  EXPECT_FALSE(ReasonOf(bytes).has_value());
}

TEST(Entry, BytesAfterTheEndAreFound) {
  Bytes bytes = Encoded(SmallEntry());
  bytes.push_back(std::byte{0});
  EXPECT_EQ(ReasonOf(bytes), Counter::kTrailing);
  const Bytes once = Encoded(SmallEntry());
  bytes = once;
  bytes.insert(bytes.end(), once.begin(), once.end());
  EXPECT_EQ(ReasonOf(bytes), Counter::kTrailing);
}

TEST(Entry, OlderAndNewerGrammarsAreNotRead) {
  for (const unsigned version : {0u, kGrammarVersion + 1, 255u}) {
    Bytes bytes = Encoded(SmallEntry());
    bytes[8] = std::byte{static_cast<unsigned char>(version)};
    EXPECT_EQ(ReasonOf(Sealed(bytes)), Counter::kBadVersion) << version;
  }
}

TEST(Entry, ForeignFilesAreNotRead) {
  EXPECT_EQ(ReasonOf(ToBytes("")), Counter::kShort);
  EXPECT_EQ(ReasonOf(ToBytes("\x7f"
                             "ELF")),
            Counter::kBadMagic);
  EXPECT_EQ(ReasonOf(Bytes(4096, std::byte{0})), Counter::kBadMagic);
}

TEST(Entry, SizesThatOverflowAreFound) {
  for (const std::size_t offset : {12, 20}) {  // header_size, frame_size
    Bytes bytes = Encoded(SmallEntry());
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), 8, std::byte{0xff});
    EXPECT_EQ(ReasonOf(Sealed(bytes)), Counter::kShort) << offset;
  }
}

TEST(Entry, AHugeImageIsRefusedBeforeItIsMade) {
  EXPECT_EQ(ReasonOf(Assembled(kHeader, Frame("x"), kMaxImageSize + 1)), Counter::kTooLarge);
  EXPECT_EQ(ReasonOf(Assembled(kHeader, Frame("x"), ~std::uint64_t{0})), Counter::kTooLarge);
}

TEST(Entry, HeadersThatAreNotOfTheGrammarAreFound) {
  const std::string good(kHeader);
  ASSERT_FALSE(ReasonOf(Assembled(good, Frame("x"), 1)).has_value());
  const auto reason = [&](std::string header) {
    return ReasonOf(Assembled(std::move(header), Frame("x"), 1));
  };
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string header = good;
    return header.replace(header.find(from), from.size(), to);
  };
  EXPECT_EQ(reason(""), Counter::kBadHeader);
  EXPECT_EQ(reason("garbage"), Counter::kBadHeader);
  EXPECT_EQ(reason(replaced("log:0:\n", "")), Counter::kBadHeader);
  EXPECT_EQ(reason(replaced("kind:3:ptx", "kind:3:elf")), Counter::kBadHeader);
  EXPECT_EQ(reason(replaced("created:1:7", "created:1:x")), Counter::kBadHeader);
  EXPECT_EQ(reason(replaced("created:1:7", "created:0:")), Counter::kBadHeader);
  EXPECT_EQ(reason(good + "tool:1:a\nkernel:1:b\n"), Counter::kBadHeader);
  EXPECT_EQ(reason(good + "key:0:\n"), Counter::kBadHeader);
  EXPECT_FALSE(reason(good + "kernel:1:b\ntool:1:a\n").has_value());
}

TEST(Entry, PayloadsThatAreNotOneFrameOfTheirSizeAreFound) {
  const auto reason = [](std::string_view frame, std::uint64_t size) {
    return ReasonOf(Assembled(kHeader, frame, size));
  };
  EXPECT_EQ(reason("", 0), Counter::kBadPayload);
  EXPECT_EQ(reason("not zstd", 8), Counter::kBadPayload);
  EXPECT_EQ(reason(Frame("image"), 4), Counter::kBadPayload);
  EXPECT_EQ(reason(Frame("image"), 6), Counter::kBadPayload);
  EXPECT_EQ(reason(Frame("image") + Frame(""), 5), Counter::kBadPayload);
  EXPECT_EQ(reason(Frame("image").substr(0, 8), 5), Counter::kBadPayload);
}

TEST(Entry, TooLargeAnImageIsNotWritten) {
  Entry entry = SmallEntry();
  entry.image.resize(kMaxImageSize + 1);
  const auto bytes = EncodeEntry(entry);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace lijit::cache
