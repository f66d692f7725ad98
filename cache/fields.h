// SPDX-License-Identifier: Apache-2.0
// Labelled, length-prefixed fields: the text form of keys and of entries' headers.
//
//   fields := field*
//   field  := label ":" length ":" bytes "\n"
//   label  := one or more of a-z 0-9 _ . -
//   length := the number of bytes in decimal, without leading zeros
//
// Every list of fields has exactly one text and every text at most one list, so texts can stand for
// lists: ("ab", "c") never looks like ("a", "bc"). People can read it, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::cache {

struct Field {
  std::string_view label;
  std::string_view bytes;
};

bool IsLabel(std::string_view text);

// Appends a field. The label must be one (checked).
void AppendField(std::string& text, std::string_view label, std::string_view bytes);

// The fields, as views into `text`. kDamaged gives the offset of what is not a field.
Result<std::vector<Field>> ParseFields(std::string_view text);

}  // namespace lijit::cache
