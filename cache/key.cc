// SPDX-License-Identifier: Apache-2.0
#include "cache/key.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <map>

#include "cache/fields.h"

namespace lijit::cache {
namespace {

struct NamedField {
  std::string name;  // the label, with its number from the second of that label on
  std::string_view bytes;
};

std::vector<NamedField> NamedFields(const Key& key) {
  const Result<std::vector<Field>> fields = ParseFields(key.text());
  LIJIT_CHECK(fields.ok());
  std::map<std::string_view, int> seen;
  std::vector<NamedField> named;
  for (const Field& field : *fields) {
    const int index = seen[field.label]++;
    named.push_back(
        {index == 0 ? std::string(field.label) : fmt::format("{}[{}]", field.label, index),
         field.bytes});
  }
  return named;
}

const NamedField* FindNamed(const std::vector<NamedField>& fields, std::string_view name) {
  const auto it = std::find_if(fields.begin(), fields.end(),
                               [&](const NamedField& field) { return field.name == name; });
  return it == fields.end() ? nullptr : &*it;
}

std::string Names(const std::vector<NamedField>& fields) {
  std::string names;
  for (const NamedField& field : fields) {
    names.append(names.empty() ? "" : " ").append(field.name);
  }
  return names;
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

std::vector<KeyDifference> Explain(const Key& a, const Key& b) {
  if (a.text() == b.text()) return {};
  const std::vector<NamedField> a_fields = NamedFields(a);
  const std::vector<NamedField> b_fields = NamedFields(b);
  std::vector<KeyDifference> differences;
  for (const NamedField& field : a_fields) {
    const NamedField* const other = FindNamed(b_fields, field.name);
    if (other != nullptr && other->bytes == field.bytes) continue;
    differences.push_back({field.name, true, other != nullptr, std::string(field.bytes),
                           std::string(other == nullptr ? "" : other->bytes)});
  }
  for (const NamedField& field : b_fields) {
    if (FindNamed(a_fields, field.name) != nullptr) continue;
    differences.push_back({field.name, false, true, "", std::string(field.bytes)});
  }
  if (differences.empty()) {
    differences.push_back({"(order)", true, true, Names(a_fields), Names(b_fields)});
  }
  return differences;
}

}  // namespace lijit::cache
