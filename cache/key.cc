// SPDX-License-Identifier: Apache-2.0
#include "cache/key.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <map>

#include "cache/fields.h"
#include "lijit/cache.h"

namespace lijit::cache {
namespace {

const KeyField* FindNamed(const std::vector<KeyField>& fields, std::string_view name) {
  const auto it = std::find_if(fields.begin(), fields.end(),
                               [&](const KeyField& field) { return field.label == name; });
  return it == fields.end() ? nullptr : &*it;
}

std::string Labels(const std::vector<KeyField>& fields) {
  std::string labels;
  for (const KeyField& field : fields) {
    labels.append(labels.empty() ? "" : " ").append(field.label);
  }
  return labels;
}

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  LIJIT_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr));
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

Key& Key::Add(std::string_view label, std::string_view bytes) {
  AppendField(text_, label, bytes);
  return *this;
}

Key& Key::AddDigest(std::string_view label, std::string_view bytes) {
  return Add(label, "sha256 " + Sha256Hex(bytes));
}

Result<Key> Key::Parse(std::string_view text) {
  LIJIT_TRY(ParseFields(text));
  Key key;
  key.text_ = text;
  return key;
}

std::string_view Key::Find(std::string_view label) const {
  const Result<std::vector<Field>> fields = ParseFields(text_);
  LIJIT_CHECK(fields.ok());
  for (const Field& field : *fields) {
    if (field.label == label) return field.bytes;
  }
  return {};
}

std::string KeyDigest(std::string_view text) { return Sha256Hex(text); }

Result<std::vector<KeyField>> ParseKey(std::string_view text) {
  LIJIT_ASSIGN(const std::vector<Field> fields, ParseFields(text));
  std::map<std::string_view, int> seen;
  std::vector<KeyField> named;
  for (const Field& field : fields) {
    const int index = seen[field.label]++;
    named.push_back(
        {index == 0 ? std::string(field.label) : fmt::format("{}[{}]", field.label, index),
         std::string(field.bytes)});
  }
  return named;
}

Result<std::vector<KeyDifference>> Explain(std::string_view a, std::string_view b) {
  LIJIT_ASSIGN(const std::vector<KeyField> a_fields, ParseKey(a));
  LIJIT_ASSIGN(const std::vector<KeyField> b_fields, ParseKey(b));
  std::vector<KeyDifference> differences;
  for (const KeyField& field : a_fields) {
    const KeyField* const other = FindNamed(b_fields, field.label);
    if (other != nullptr && other->bytes == field.bytes) continue;
    differences.push_back(
        {field.label, true, other != nullptr, field.bytes, other == nullptr ? "" : other->bytes});
  }
  for (const KeyField& field : b_fields) {
    if (FindNamed(a_fields, field.label) != nullptr) continue;
    differences.push_back({field.label, false, true, "", field.bytes});
  }
  if (differences.empty() && a != b) {
    differences.push_back({"(order)", true, true, Labels(a_fields), Labels(b_fields)});
  }
  return differences;
}

}  // namespace lijit::cache
