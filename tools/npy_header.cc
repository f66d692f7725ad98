// SPDX-License-Identifier: Apache-2.0
#include "tools/npy_header.h"

#include <fmt/format.h>

#include <charconv>

namespace lijit::tools {
namespace {

// As many as NumPy 2 allows.
constexpr std::size_t kMaxRank = 64;

class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<NpyHeader> Parse() {
    LIJIT_TRY(Expect("{"));
    while (!Accept("}")) {
      LIJIT_TRY(ParseItem());
      if (Accept(",")) continue;
      LIJIT_TRY(Expect("}"));
      break;
    }
    SkipSpaces();
    if (position_ != text_.size()) return Expected("the end of the header");
    if (!has_descr_ || !has_order_ || !has_shape_) {
      return InvalidArgument("its header lacks one of 'descr', 'fortran_order' and 'shape'");
    }
    return header_;
  }

 private:
  Error Expected(std::string_view what) const {
    return InvalidArgument(
        fmt::format("its header is damaged: expected {} at byte {}", what, position_));
  }

  void SkipSpaces() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) {
      ++position_;
    }
  }

  bool Accept(std::string_view token) {
    SkipSpaces();
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }

  Status Expect(std::string_view token) {
    if (Accept(token)) return {};
    return Expected(fmt::format("'{}'", token));
  }

  Result<std::string> ParseString() {
    const std::string_view quote = Accept("'") ? "'" : "\"";
    if (quote == "\"" && !Accept("\"")) return Expected("a string");
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) return Expected("the end of a string");
    std::string value(text_.substr(position_, end - position_));
    position_ = end + 1;
    return value;
  }

  // Python 2 wrote long numbers as 3L.
  Status ParseDimension() {
    SkipSpaces();
    const char* const begin = text_.data() + position_;
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (problem != std::errc() || number < 0) return Expected("a dimension");
    position_ += static_cast<std::size_t>(end - begin);
    Accept("L");
    header_.shape.push_back(number);
    if (header_.shape.size() > kMaxRank) return Expected("at most 64 dimensions");
    return {};
  }

  Status ParseShape() {
    LIJIT_TRY(Expect("("));
    header_.shape.clear();
    while (!Accept(")")) {
      LIJIT_TRY(ParseDimension());
      if (Accept(",")) continue;
      return Expect(")");
    }
    return {};
  }

  Status ParseItem() {
    LIJIT_ASSIGN(const std::string key, ParseString());
    LIJIT_TRY(Expect(":"));
    if (key == "descr") {
      if (Accept("[")) return InvalidArgument("it holds records, not numbers");
      LIJIT_ASSIGN(header_.descr, ParseString());
      has_descr_ = true;
    } else if (key == "fortran_order") {
      header_.fortran_order = Accept("True");
      if (!header_.fortran_order && !Accept("False")) return Expected("True or False");
      has_order_ = true;
    } else if (key == "shape") {
      LIJIT_TRY(ParseShape());
      has_shape_ = true;
    } else {
      return InvalidArgument(fmt::format("its header has an unknown key '{}'", key));
    }
    return {};
  }

  std::string_view text_;
  std::size_t position_ = 0;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

Result<NpyHeader> ParseNpyHeader(std::string_view text) { return HeaderParser(text).Parse(); }

std::string FormatNpyHeader(const NpyHeader& header) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", header.descr,
                     header.fortran_order ? "True" : "False", fmt::join(header.shape, ", "),
                     header.shape.size() == 1 ? "," : "");
}

}  // namespace lijit::tools
