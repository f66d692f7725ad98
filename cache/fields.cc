// SPDX-License-Identifier: Apache-2.0
#include "cache/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace lijit::cache {
namespace {

bool IsLabelCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

// Takes the next field off `rest`; false if `rest` does not start with one.
bool TakeField(std::string_view& rest, Field& field) {
  const std::size_t label_end = rest.find(':');
  if (label_end == std::string_view::npos || !IsLabel(rest.substr(0, label_end))) return false;
  const std::string_view after_label = rest.substr(label_end + 1);
  const std::size_t length_end = after_label.find(':');
  if (length_end == 0 || length_end == std::string_view::npos) return false;
  if (after_label[0] == '0' && length_end > 1) return false;
  std::uint64_t length = 0;
  const char* const digits_end = after_label.data() + length_end;
  const auto parsed = std::from_chars(after_label.data(), digits_end, length);
  if (parsed.ec != std::errc() || parsed.ptr != digits_end) return false;
  const std::string_view after_length = after_label.substr(length_end + 1);
  if (length >= after_length.size() || after_length[length] != '\n') return false;
  field = {rest.substr(0, label_end), after_length.substr(0, length)};
  rest = after_length.substr(length + 1);
  return true;
}

}  // namespace

bool IsLabel(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsLabelCharacter);
}

void AppendField(std::string& text, std::string_view label, std::string_view bytes) {
  LIJIT_CHECK(IsLabel(label));
  text.append(label).append(fmt::format(":{}:", bytes.size())).append(bytes).push_back('\n');
}

Result<std::vector<Field>> ParseFields(std::string_view text) {
  std::vector<Field> fields;
  std::string_view rest = text;
  while (!rest.empty()) {
    Field field;
    if (!TakeField(rest, field)) {
      return Damaged(fmt::format("no field `label:length:bytes` at byte {} of {}",
                                 text.size() - rest.size(), text.size()));
    }
    fields.push_back(field);
  }
  return fields;
}

}  // namespace lijit::cache
