// SPDX-License-Identifier: Apache-2.0
#include "cache/cubin/attributes.h"

#include <fmt/format.h>

#include <algorithm>

namespace lijit::cubin {
namespace {

struct CodeName {
  std::uint8_t code;
  std::string_view name;
};

constexpr CodeName kInfoNames[] = {
#define LIJIT_CUBIN_ATTRIBUTE(code, name) {code, #name},
#include "cache/cubin/attributes.def"
#undef LIJIT_CUBIN_ATTRIBUTE
};

constexpr CodeName kCompatNames[] = {
    {0x02, "ISA_CLASS"},
    {0x03, "INST_TENSORMAP_V1"},
    {0x07, "MERCURY_ISA_MAJOR_MINOR_VERSION"},
    {0x09, "CUDA_ACCELERATOR_TARGET"},
    {0x0b, "CAN_FASTPATH_FINALIZE"},
};

std::string NameOf(std::uint8_t code, std::span<const CodeName> names) {
  const auto* const row = std::find_if(names.data(), names.data() + names.size(),
                                       [&](const CodeName& name) { return name.code == code; });
  if (row != names.data() + names.size()) return std::string(row->name);
  return fmt::format("0x{:02x}", code);
}

std::string PayloadText(const Record& record) {
  constexpr std::size_t kShown = 8;
  const std::size_t words = record.payload.size() / 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(words, kShown); ++i)
    text += fmt::format("{}0x{:x}", i == 0 ? "" : " ", record.Word(i));
  if (words > kShown) text += fmt::format(" ... ({} words)", words);
  for (std::size_t i = 4 * words; i < record.payload.size() && words <= kShown; ++i)
    text += fmt::format("{}0x{:02x}", text.empty() ? "" : " ",
                        std::to_integer<unsigned>(record.payload[i]));
  return text;
}

Attribute Describe(const Record& record, std::span<const CodeName> names) {
  switch (record.format) {
    case RecordFormat::kNone:
      return {NameOf(record.code, names), ""};
    case RecordFormat::kByte:
    case RecordFormat::kHalf:
      return {NameOf(record.code, names), fmt::format("0x{:x}", record.value)};
    case RecordFormat::kSized:
      return {NameOf(record.code, names), PayloadText(record)};
  }
  LIJIT_CHECK(false);  // ReadRecords lets no other format pass
}

}  // namespace

std::vector<Record> ReadRecords(Bytes section, std::string_view name, Problems& problems) {
  std::vector<Record> records;
  std::uint64_t at = 0;
  while (at < section.size()) {
    const auto head = LoadAt<std::uint32_t>(section, at);
    const std::uint32_t format = head.value_or(0) & 0xff;
    if (!head || format < 1 || format > 4) {
      problems.Add(fmt::format("{}: no record can be read at offset {}", name, at));
      break;
    }
    Record record{static_cast<RecordFormat>(format),
                  static_cast<std::uint8_t>(*head >> 8),
                  static_cast<std::uint16_t>(*head >> 16),
                  {}};
    if (record.format == RecordFormat::kByte) record.value &= 0xff;
    at += 4;
    if (record.format == RecordFormat::kSized) {
      const auto payload = SliceAt(section, at, record.value);
      if (!payload) {
        problems.Add(
            fmt::format("{}: the record at offset {} is longer than the section", name, at - 4));
        break;
      }
      record.payload = *payload;
      at += (record.value + 3u) & ~3u;
    }
    records.push_back(record);
  }
  return records;
}

Attribute DescribeInfo(const Record& record) { return Describe(record, kInfoNames); }
Attribute DescribeCompat(const Record& record) { return Describe(record, kCompatNames); }

}  // namespace lijit::cubin
