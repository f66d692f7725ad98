// SPDX-License-Identifier: Apache-2.0
// A key names everything that an image depends on, field by field, in order. Its text is the key
// (grammar: cache/fields.h); its digest, SHA-256 of the text, only names the file, and a hit
// compares the texts. Fields hold what was asked and by what it was made; never a path, a time, a
// device's name or the environment, so that the same key is found on every machine.
#pragma once

#include <string>
#include <string_view>

#include "lijit/result.h"

namespace lijit::cache {

// 64 lower-case hex digits of the SHA-256 of `bytes`.
std::string Sha256Hex(std::string_view bytes);

class Key {
 public:
  // Adds a field. The same label may occur again (options, in order); see IsLabel for labels.
  Key& Add(std::string_view label, std::string_view bytes);
  // Adds the SHA-256 of `bytes` instead of `bytes`, for what is too long to read or to keep:
  // templates, generated sources.
  Key& AddDigest(std::string_view label, std::string_view bytes);

  // Reads a text back, for example an entry's. kDamaged if it is not one.
  static Result<Key> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  std::string Hex() const { return Sha256Hex(text_); }
  // The first field with this label, or "".
  std::string_view Find(std::string_view label) const;

 private:
  std::string text_;
};

}  // namespace lijit::cache
