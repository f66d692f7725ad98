// SPDX-License-Identifier: Apache-2.0
// Indented text, line by line. Printers use nothing else, so that none does string surgery.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace lijit {

class TextWriter {
 public:
  // Writes one line at the current indentation; an empty line carries no spaces.
  void Line(std::string_view text = {});

  template <typename... Args>
  void Format(fmt::format_string<Args...> format, Args&&... args) {
    Line(fmt::format(format, std::forward<Args>(args)...));
  }

  void Indent() { ++depth_; }
  void Outdent() { --depth_; }

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  int depth_ = 0;
};

// Indents while it lives.
class ScopedIndent {
 public:
  explicit ScopedIndent(TextWriter& writer) : writer_(writer) { writer_.Indent(); }
  ~ScopedIndent() { writer_.Outdent(); }
  ScopedIndent(const ScopedIndent&) = delete;
  ScopedIndent& operator=(const ScopedIndent&) = delete;

 private:
  TextWriter& writer_;
};

}  // namespace lijit
