// SPDX-License-Identifier: Apache-2.0
#include "tools/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tools/text_table.h"

namespace lijit::tools {

Result<nlohmann::json> ParseJsonObject(std::string_view text, const std::string& name) {
  nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (object.is_object()) return object;
  return InvalidArgument(name + " is no JSON object");
}

JsonFields::JsonFields(const nlohmann::json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) Fail("is no JSON object");
}

const nlohmann::json* JsonFields::Find(const char* key) {
  known_.push_back(key);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void JsonFields::Fail(const std::string& message) {
  if (status_.ok()) status_ = InvalidArgument(where_ + ": " + message);
}

void JsonFields::Read(const char* key, std::int64_t& value) {
  const nlohmann::json* const member = Find(key);
  if (member == nullptr) return;
  if (!member->is_number_integer() ||
      (member->is_number_unsigned() &&
       member->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())) {
    return Fail(fmt::format("'{}' is {}; accepted is a whole number below 2^63", key,
                            member->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
  }
  value = member->get<std::int64_t>();
}

void JsonFields::Read(const char* key, int& value) {
  std::int64_t wide = value;
  Read(key, wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    return Fail(fmt::format("'{}' is {}; accepted is a whole number below 2^31", key, wide));
  }
  value = static_cast<int>(wide);
}

void JsonFields::Read(const char* key, std::optional<std::int64_t>& value) {
  if (!object_.contains(key)) return known_.push_back(key);
  Read(key, value.emplace());
}

void JsonFields::Read(const char* key, bool& value) {
  const nlohmann::json* const member = Find(key);
  if (member == nullptr) return;
  if (!member->is_boolean()) return Fail(fmt::format("'{}' is neither true nor false", key));
  value = member->get<bool>();
}

void JsonFields::Read(const char* key, std::string& value) {
  const nlohmann::json* const member = Find(key);
  if (member == nullptr) return;
  if (!member->is_string()) return Fail(fmt::format("'{}' is no text", key));
  value = member->get<std::string>();
}

Status JsonFields::Finish() const {
  if (!status_.ok()) return status_;
  for (const auto& [key, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      return InvalidArgument(
          fmt::format("{}: '{}' is not known; known are {}", where_, key, Join(known_)));
    }
  }
  return {};
}

}  // namespace lijit::tools
