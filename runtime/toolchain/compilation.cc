// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/compilation.h"

namespace lijit::runtime {

std::string WordAfter(std::string_view text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + marker.size());
  constexpr std::string_view kEnds("\0 ,\n", 4);
  return std::string(text.substr(0, text.find_first_of(kEnds)));
}

}  // namespace lijit::runtime
