// SPDX-License-Identifier: Apache-2.0
#include "compiler/support/text_writer.h"

namespace lijit {

void TextWriter::Line(std::string_view text) {
  if (!text.empty()) {
    text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    text_.append(text);
  }
  text_.push_back('\n');
}

}  // namespace lijit
