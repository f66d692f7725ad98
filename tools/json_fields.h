// SPDX-License-Identifier: Apache-2.0
// Reads the members of a JSON object that a user wrote: each once, each of its type, none unknown.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::tools {

// kInvalidArgument if the text is no JSON object; `name` is of the file, for messages.
Result<nlohmann::json> ParseJsonObject(std::string_view text, const std::string& name);

class JsonFields {
 public:
  // `where` is the start of messages: "model.json: cache 2".
  JsonFields(const nlohmann::json& object, std::string where);

  // Reads the member into `value`, which stays as it is if there is none. The first error is kept.
  void Read(const char* key, std::int64_t& value);
  void Read(const char* key, int& value);
  void Read(const char* key, std::optional<std::int64_t>& value);
  void Read(const char* key, bool& value);
  void Read(const char* key, std::string& value);
  // The member, or null if there is none.
  const nlohmann::json* Find(const char* key);
  void Fail(const std::string& message);

  // The first error so far: for objects that may have other members.
  Status status() const { return status_; }
  // The first error, or which member is unknown.
  Status Finish() const;

 private:
  const nlohmann::json& object_;
  std::string where_;
  std::vector<std::string> known_;
  Status status_;
};

}  // namespace lijit::tools
