// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>

#include "cache/fields.h"

namespace lijit::cache {
namespace {

constexpr std::string_view kMagic = "LIJITKC\n";
constexpr std::size_t kVersionOffset = 8, kHeaderSizeOffset = 12, kFrameSizeOffset = 20,
                      kImageSizeOffset = 28, kPrefixSize = 36, kChecksumSize = 16;
constexpr int kCompressionLevel = 3;  // zstd's default: cubins shrink to a third at 200 MB/s
constexpr std::string_view kKindNames[] = {"cubin", "ptx"};  // by ImageKind

using Bytes = std::span<const std::byte>;

template <typename Integer>
void AppendInteger(std::string& text, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
}

template <typename Integer>
Integer ReadInteger(Bytes bytes, std::size_t offset) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value |= static_cast<Integer>(std::to_integer<Integer>(bytes[offset + i]) << (8 * i));
  }
  return value;
}

std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::array<unsigned char, kChecksumSize> Checksum(const void* data, std::size_t size) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
  std::array<unsigned char, kChecksumSize> checksum;
  static_assert(sizeof(canonical.digest) == kChecksumSize);
  std::memcpy(checksum.data(), canonical.digest, kChecksumSize);
  return checksum;
}

std::string EncodeHeader(const Entry& entry) {
  std::string header;
  AppendField(header, "key", entry.key);
  AppendField(header, "target", entry.target);
  AppendField(header, "kind", KindName(entry.kind));
  AppendField(header, "created", std::to_string(entry.created));
  AppendField(header, "resources", entry.resources);
  AppendField(header, "log", entry.log);
  for (const std::string& kernel : entry.kernels) AppendField(header, "kernel", kernel);
  for (const std::string& tool : entry.tools) AppendField(header, "tool", tool);
  return header;
}

// A damage: what to count, and the sentence.
struct Damage {
  Counter reason;
  std::string message;
};
using MaybeDamage = std::optional<Damage>;

// The sizes in the prefix, checked against the file's size.
struct Layout {
  std::size_t header_size = 0, frame_size = 0, image_size = 0;
};

MaybeDamage ReadLayout(Bytes bytes, Layout& layout) {
  const std::string_view text = AsText(bytes);
  if (text.substr(0, kMagic.size()) != kMagic.substr(0, text.size())) {
    return Damage{Counter::kBadMagic, "it does not start as a lijit cache entry does"};
  }
  if (bytes.size() < kPrefixSize + kChecksumSize) {
    return Damage{Counter::kShort, fmt::format("it has only {} bytes", bytes.size())};
  }
  const auto version = ReadInteger<std::uint32_t>(bytes, kVersionOffset);
  if (version != kGrammarVersion) {
    return Damage{Counter::kBadVersion, fmt::format("it has version {} of the grammar, not {}",
                                                    version, kGrammarVersion)};
  }
  const auto header = ReadInteger<std::uint64_t>(bytes, kHeaderSizeOffset);
  const auto frame = ReadInteger<std::uint64_t>(bytes, kFrameSizeOffset);
  const auto image = ReadInteger<std::uint64_t>(bytes, kImageSizeOffset);
  const std::uint64_t room = bytes.size() - kPrefixSize - kChecksumSize;
  if (header > room || frame > room - header) {
    return Damage{Counter::kShort, fmt::format("it has {} bytes and states a header of {} and a "
                                               "payload of {}",
                                               bytes.size(), header, frame)};
  }
  if (header + frame != room) {
    return Damage{Counter::kTrailing,
                  fmt::format("{} bytes follow its end", room - header - frame)};
  }
  if (image > kMaxImageSize) {
    return Damage{Counter::kTooLarge, fmt::format("it states an image of {} bytes; at most {} are "
                                                  "accepted",
                                                  image, kMaxImageSize)};
  }
  layout = {header, frame, image};
  return std::nullopt;
}

MaybeDamage CheckChecksum(Bytes bytes) {
  const std::size_t end = bytes.size() - kChecksumSize;
  const auto expected = Checksum(bytes.data(), end);
  if (std::memcmp(expected.data(), bytes.data() + end, kChecksumSize) == 0) return std::nullopt;
  return Damage{Counter::kBadChecksum, "its checksum does not fit its bytes"};
}

bool ParseKind(std::string_view text, ImageKind& kind) {
  for (std::size_t i = 0; i < std::size(kKindNames); ++i) {
    if (text != kKindNames[i]) continue;
    kind = static_cast<ImageKind>(i);
    return true;
  }
  return false;
}

bool ParseTime(std::string_view text, std::int64_t& time) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), time);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

MaybeDamage ReadHeader(std::string_view header, Entry& entry) {
  const auto damage = [](std::string what) {
    return Damage{Counter::kBadHeader, "its header is wrong: " + std::move(what)};
  };
  const Result<std::vector<Field>> fields = ParseFields(header);
  if (!fields.ok()) return damage(fields.error().message);
  static constexpr std::string_view kSingles[] = {"key",     "target",    "kind",
                                                  "created", "resources", "log"};
  std::array<std::string_view, std::size(kSingles)> singles;
  std::size_t next = 0;
  for (; next < std::size(kSingles); ++next) {
    if (next >= fields->size() || (*fields)[next].label != kSingles[next]) {
      return damage(fmt::format("field {} is not `{}`", next, kSingles[next]));
    }
    singles[next] = (*fields)[next].bytes;
  }
  for (; next < fields->size() && (*fields)[next].label == "kernel"; ++next) {
    entry.kernels.emplace_back((*fields)[next].bytes);
  }
  for (; next < fields->size() && (*fields)[next].label == "tool"; ++next) {
    entry.tools.emplace_back((*fields)[next].bytes);
  }
  if (next != fields->size()) return damage(fmt::format("field {} is one too many", next));
  if (!ParseKind(singles[2], entry.kind)) return damage("`kind` is neither cubin nor ptx");
  if (!ParseTime(singles[3], entry.created)) return damage("`created` is not a time");
  entry.key = singles[0];
  entry.target = singles[1];
  entry.resources = singles[4];
  entry.log = singles[5];
  return std::nullopt;
}

MaybeDamage ReadImage(Bytes frame, std::size_t image_size, Entry& entry) {
  const auto damage = [](std::string what) {
    return Damage{Counter::kBadPayload, "its payload is wrong: " + std::move(what)};
  };
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != image_size ||
      ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
    return damage("it is not one zstd frame of the size stated");
  }
  entry.image.resize(image_size);
  const std::size_t size =
      ZSTD_decompress(entry.image.data(), image_size, frame.data(), frame.size());
  if (ZSTD_isError(size)) return damage(ZSTD_getErrorName(size));
  if (size != image_size) return damage("it is shorter than stated");
  return std::nullopt;
}

MaybeDamage Decode(Bytes bytes, Entry& entry) {
  if (bytes.size() > kMaxEntrySize) {
    return Damage{Counter::kTooLarge, fmt::format("it has {} bytes; at most {} are accepted",
                                                  bytes.size(), kMaxEntrySize)};
  }
  Layout layout;
  if (auto damage = ReadLayout(bytes, layout)) return damage;
  if (auto damage = CheckChecksum(bytes)) return damage;
  const Bytes header = bytes.subspan(kPrefixSize, layout.header_size);
  if (auto damage = ReadHeader(AsText(header), entry)) return damage;
  return ReadImage(bytes.subspan(kPrefixSize + layout.header_size, layout.frame_size),
                   layout.image_size, entry);
}

}  // namespace

std::string_view KindName(ImageKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

Result<std::vector<std::byte>> EncodeEntry(const Entry& entry) {
  if (entry.image.size() > kMaxImageSize) {
    return InvalidArgument(fmt::format("an image of {} bytes cannot be stored; at most {} can",
                                       entry.image.size(), kMaxImageSize));
  }
  std::string frame(ZSTD_compressBound(entry.image.size()), '\0');
  const std::size_t frame_size = ZSTD_compress(frame.data(), frame.size(), entry.image.data(),
                                               entry.image.size(), kCompressionLevel);
  LIJIT_CHECK(!ZSTD_isError(frame_size));
  frame.resize(frame_size);
  const std::string header = EncodeHeader(entry);
  std::string text(kMagic);
  AppendInteger<std::uint32_t>(text, kGrammarVersion);
  AppendInteger<std::uint64_t>(text, header.size());
  AppendInteger<std::uint64_t>(text, frame.size());
  AppendInteger<std::uint64_t>(text, entry.image.size());
  text.append(header).append(frame);
  const auto checksum = Checksum(text.data(), text.size());
  text.append(reinterpret_cast<const char*>(checksum.data()), checksum.size());
  if (text.size() > kMaxEntrySize) {
    return InvalidArgument(fmt::format("an entry of {} bytes cannot be stored; at most {} can",
                                       text.size(), kMaxEntrySize));
  }
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return std::vector<std::byte>(begin, begin + text.size());
}

Result<Entry> DecodeEntry(std::span<const std::byte> bytes, Counter* reason) {
  Entry entry;
  const MaybeDamage damage = Decode(bytes, entry);
  if (!damage) return entry;
  if (reason != nullptr) *reason = damage->reason;
  return Damaged("this is not a whole cache entry: " + damage->message);
}

}  // namespace lijit::cache
