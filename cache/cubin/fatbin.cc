// SPDX-License-Identifier: Apache-2.0
// A fatbin: a 16-byte container header {u32 magic, u16 version, u16 header bytes, u64 bytes of
// entries}, then entries, each a header of at least 64 bytes and a payload padded to 8 bytes. The
// layout and flags were read off what fatbinary 13.0 writes for each of its options.
#include <fmt/format.h>

#include <algorithm>

#include "cache/cubin/bytes.h"
#include "lijit/cubin.h"

namespace lijit::cubin {
namespace {

constexpr std::uint32_t kMagic = 0xba55ed50;

struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t entries_bytes;
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;     // with padding
  std::uint32_t compressed_bytes;  // 0 if not compressed
  std::uint32_t options_offset;
  std::uint16_t minor;  // of the PTX version, or 1 for a cubin
  std::uint16_t major;
  std::uint32_t sm;
  std::uint32_t identifier_offset;
  std::uint32_t identifier_bytes;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t uncompressed_bytes;  // 0 if not compressed
};
static_assert(sizeof(EntryHeader) == 64);

constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::uint64_t kFlagAccelerated = 0x100000;
constexpr std::uint64_t kFlagFamily = 0x200000;

struct KindName {
  std::uint16_t kind;
  std::string_view name;
};
constexpr KindName kKinds[] = {{1, "ptx"}, {2, "cubin"}, {8, "nvvm"}};

std::string NameOfKind(std::uint16_t kind) {
  const auto* const row = std::find_if(std::begin(kKinds), std::end(kKinds),
                                       [&](const KindName& name) { return name.kind == kind; });
  return row == std::end(kKinds) ? fmt::format("0x{:x}", kind) : std::string(row->name);
}

std::string NameOfCompression(const EntryHeader& header) {
  if ((header.flags & kFlagZstd) != 0) return "zstd";
  if ((header.flags & kFlagLz4) != 0) return "lz4";
  return header.compressed_bytes == 0 ? "none" : "unknown";
}

FatbinEntry Describe(const EntryHeader& header, Bytes whole, std::uint64_t payload_offset) {
  FatbinEntry entry;
  entry.kind = NameOfKind(header.kind);
  entry.target = fmt::format("{}_{}{}", entry.kind == "cubin" ? "sm" : "compute", header.sm,
                             (header.flags & kFlagAccelerated) != 0 ? "a"
                             : (header.flags & kFlagFamily) != 0    ? "f"
                                                                    : "");
  entry.compression = NameOfCompression(header);
  entry.offset = payload_offset;
  const bool compressed = entry.compression != "none";
  entry.stored_bytes = compressed ? header.compressed_bytes : header.payload_bytes;
  entry.bytes = compressed ? header.uncompressed_bytes : header.payload_bytes;
  if (header.identifier_offset != 0) {
    if (const auto name = SliceAt(whole, header.identifier_offset, header.identifier_bytes))
      entry.identifier = std::string(AsText(*name));
  }
  return entry;
}

// Reads the entries of one container, whose bytes after the header are `entries` and begin at
// `base` of the file.
void ReadEntries(Bytes entries, std::uint64_t base, Fatbin& fatbin, Problems& problems) {
  for (std::uint64_t at = 0; at < entries.size();) {
    const auto header = LoadAt<EntryHeader>(entries, at);
    const auto whole = header && header->header_bytes >= sizeof(EntryHeader)
                           ? SliceAt(entries, at, header->header_bytes)
                           : std::nullopt;
    const auto payload =
        whole ? SliceAt(entries, at + whole->size(), header->payload_bytes) : std::nullopt;
    if (!payload || header->compressed_bytes > header->payload_bytes) {
      problems.Add(fmt::format("entry {}, at offset {}: it is longer than its container",
                               fatbin.entries.size(), base + at));
      return;
    }
    fatbin.entries.push_back(Describe(*header, *whole, base + at + whole->size()));
    at += whole->size() + payload->size();
  }
}

}  // namespace

Result<Fatbin> ReadFatbin(std::span<const std::byte> bytes) {
  Problems problems;
  Fatbin fatbin;
  if (LoadAt<std::uint32_t>(bytes, 0) != kMagic)
    return InvalidArgument("not a fatbin: the file does not begin with its magic, 0xba55ed50");
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto header = LoadAt<ContainerHeader>(bytes, at);
    if (!header || header->magic != kMagic || header->header_bytes < sizeof(ContainerHeader)) {
      problems.Add(
          fmt::format("the {} bytes from offset {} on are no fatbin", bytes.size() - at, at));
      break;
    }
    const auto entries = SliceAt(bytes, at + header->header_bytes, header->entries_bytes);
    if (!entries) {
      problems.Add(
          fmt::format("the container at offset {} has {} bytes of entries, the file only "
                      "{} bytes",
                      at, header->entries_bytes, bytes.size()));
      ReadEntries(bytes.subspan(std::min<std::uint64_t>(bytes.size(), at + header->header_bytes)),
                  at + header->header_bytes, fatbin, problems);
      break;
    }
    ReadEntries(*entries, at + header->header_bytes, fatbin, problems);
    at += header->header_bytes + header->entries_bytes;
  }
  fatbin.problems = std::move(problems).Take();
  return fatbin;
}

}  // namespace lijit::cubin
