// SPDX-License-Identifier: Apache-2.0
// A text file of the source tree, embedded at build time (cmake/LijitEmbed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace lijit {

struct EmbeddedFile {
  std::string_view name;  // base name
  std::string_view text;
};

}  // namespace lijit
