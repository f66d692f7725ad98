// SPDX-License-Identifier: Apache-2.0
// The records of .nv.info and .nv.compat: u8 format, u8 code, u16 value, then for the last format
// `value` bytes of payload. Records are 4-aligned.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cubin/bytes.h"
#include "lijit/cubin.h"

namespace lijit::cubin {

enum class RecordFormat : std::uint8_t { kNone = 1, kByte = 2, kHalf = 3, kSized = 4 };

enum class InfoCode : std::uint8_t {
#define LIJIT_CUBIN_ATTRIBUTE(code, name) name = code,
#include "cache/cubin/attributes.def"
#undef LIJIT_CUBIN_ATTRIBUTE
};

// Codes of .nv.compat; the names are those in NVIDIA's tools.
enum class CompatCode : std::uint8_t {
  kIsaClass = 0x02,
  kTensorMap = 0x03,
  kAcceleratorTarget = 0x09,
};

struct Record {
  RecordFormat format;
  std::uint8_t code;
  std::uint16_t value;  // of kByte and kHalf
  Bytes payload;        // of kSized

  // Word `index` of the payload, 0 if there is none.
  std::uint32_t Word(std::size_t index) const {
    return LoadAt<std::uint32_t>(payload, 4 * index).value_or(0);
  }
};

// All records up to the first that cannot be read, which is a problem of `section`.
std::vector<Record> ReadRecords(Bytes section, std::string_view name, Problems& problems);

// Readable names and values, for people.
Attribute DescribeInfo(const Record& record);
Attribute DescribeCompat(const Record& record);

}  // namespace lijit::cubin
