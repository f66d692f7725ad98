// SPDX-License-Identifier: Apache-2.0
// Bytes that claim to be a cache entry, as found (nearly always refused for their checksum) and
// with magic, version, sizes and checksum put right, so that header and payload are reached, too.
// What decodes must come back the same after being encoded; what does not must have a reason.
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "cache/entry.h"
#include "cache/key.h"

namespace {

using lijit::cache::Counter;

void Check(std::span<const std::byte> bytes) {
  Counter reason = Counter::kAbsent;
  const auto entry = lijit::cache::DecodeEntry(bytes, &reason);
  LIJIT_CHECK(entry.ok() == !lijit::cache::IsDamage(reason));
  if (!entry.ok()) {
    LIJIT_CHECK(!entry.error().message.empty());
    return;
  }
  (void)lijit::cache::Key::Parse(entry->key);
  const auto encoded = lijit::cache::EncodeEntry(*entry);
  LIJIT_CHECK(encoded.ok());
  const auto again = lijit::cache::DecodeEntry(*encoded);
  LIJIT_CHECK(again.ok() && *again == *entry);
}

void AppendInteger(std::string& text, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

// input := header_size:u16 image_size:u16 header frame
std::string Sealed(const std::uint8_t* data, std::size_t size) {
  const std::uint64_t body = size - 4;
  const std::uint64_t header = (data[0] | data[1] << 8) % (body + 1);
  std::string text = "LIJITKC\n";
  AppendInteger(text, lijit::cache::kGrammarVersion, 4);
  AppendInteger(text, header, 8);
  AppendInteger(text, body - header, 8);
  AppendInteger(text, data[2] | data[3] << 8, 8);
  text.append(reinterpret_cast<const char*>(data) + 4, body);
  XXH128_canonical_t checksum;
  XXH128_canonicalFromHash(&checksum, XXH3_128bits(text.data(), text.size()));
  return text.append(reinterpret_cast<const char*>(checksum.digest), sizeof(checksum.digest));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Check(std::as_bytes(std::span(data, size)));
  if (size < 4) return 0;
  const std::string sealed = Sealed(data, size);
  Check(std::as_bytes(std::span(sealed)));
  return 0;
}
