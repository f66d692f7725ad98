// SPDX-License-Identifier: Apache-2.0
#include "cache/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace lijit::cache {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kEndSize = 2 * kBlock;  // an archive ends with two blocks of zeros
constexpr std::size_t kNameSize = 100;        // with a zero at its end
constexpr std::size_t kSizeOffset = 124, kSizeDigits = 11, kSumOffset = 148;
constexpr std::uint64_t kMaxSize = (std::uint64_t{1} << (3 * kSizeDigits)) - 1;

using Header = std::array<char, kBlock>;

void Put(Header& header, std::size_t offset, std::string_view text) {
  std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(offset));
}

// POSIX 1003.1, pax, "ustar Interchange Format". The checksum is of the header with spaces in place
// of the checksum.
Header HeaderOf(std::string_view name, std::uint64_t size) {
  LIJIT_CHECK(!name.empty() && name.size() < kNameSize && size <= kMaxSize);
  Header header{};
  Put(header, 0, name);
  Put(header, 100, "0000644");
  Put(header, 108, "0000000");
  Put(header, 116, "0000000");
  Put(header, kSizeOffset, fmt::format("{:0{}o}", size, kSizeDigits));
  Put(header, 136, "00000000000");
  Put(header, kSumOffset, "        ");
  Put(header, 156, "0");
  Put(header, 257, "ustar");
  Put(header, 263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  Put(header, kSumOffset, fmt::format("{:06o}", sum));
  header[kSumOffset + 6] = '\0';
  return header;
}

std::size_t Padding(std::size_t size) { return (kBlock - size % kBlock) % kBlock; }

void Append(std::vector<std::byte>& archive, std::span<const std::byte> bytes) {
  archive.insert(archive.end(), bytes.begin(), bytes.end());
}

bool IsZero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// The header's name and size if it is one that HeaderOf makes.
bool ReadHeader(std::span<const std::byte> block, std::string_view& name, std::uint64_t& size) {
  const std::string_view text(reinterpret_cast<const char*>(block.data()), kBlock);
  name = text.substr(0, std::min(text.find('\0'), kNameSize));
  if (name.empty() || name.size() >= kNameSize) return false;
  size = 0;
  for (const char c : text.substr(kSizeOffset, kSizeDigits)) {
    if (c < '0' || c > '7') return false;
    size = size * 8 + static_cast<std::uint64_t>(c - '0');
  }
  const Header expected = HeaderOf(name, size);
  return std::memcmp(expected.data(), block.data(), kBlock) == 0;
}

}  // namespace

std::vector<std::byte> WriteTar(std::span<const TarMember> members) {
  std::size_t size = kEndSize;
  for (const TarMember& member : members) {
    size += kBlock + member.bytes.size() + Padding(member.bytes.size());
  }
  std::vector<std::byte> archive;
  archive.reserve(size);
  for (const TarMember& member : members) {
    const Header header = HeaderOf(member.name, member.bytes.size());
    Append(archive, std::as_bytes(std::span(header)));
    Append(archive, member.bytes);
    archive.resize(archive.size() + Padding(member.bytes.size()));
  }
  archive.resize(size);
  return archive;
}

TarContents ReadTar(std::span<const std::byte> bytes) {
  TarContents contents;
  std::size_t at = 0;
  const auto problem = [&](std::string_view what) {
    contents.problem = fmt::format("at offset {}: {}", at, what);
    return contents;
  };
  while (bytes.size() - at > kEndSize) {
    TarMember member;
    std::uint64_t size = 0;
    if (!ReadHeader(bytes.subspan(at, kBlock), member.name, size)) {
      return problem("no header of a file as lijit writes it");
    }
    const std::size_t room = bytes.size() - at - kBlock;
    if (size > room || Padding(size) > room - size) {
      return problem(fmt::format("{} has {} bytes and {} are left", member.name, size, room));
    }
    member.bytes = bytes.subspan(at + kBlock, size);
    if (!IsZero(bytes.subspan(at + kBlock + size, Padding(size)))) {
      return problem(fmt::format("{} is followed by something", member.name));
    }
    contents.members.push_back(member);
    at += kBlock + size + Padding(size);
  }
  if (bytes.size() - at != kEndSize || !IsZero(bytes.subspan(at))) {
    return problem("not the two blocks of zeros that end an archive");
  }
  return contents;
}

}  // namespace lijit::cache
