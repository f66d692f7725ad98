// SPDX-License-Identifier: Apache-2.0
// Archives of POSIX.1-1988 "ustar" in one canonical form: regular files, mode 0644, owner and time
// 0. A reader accepts nothing else, so that there is exactly one archive of given files, and every
// changed bit of what is no file's contents is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::cache {

struct TarMember {
  std::string_view name;
  std::span<const std::byte> bytes;
};

// Names have 1 to 99 characters (checked), contents less than 8 GiB (checked).
std::vector<std::byte> WriteTar(std::span<const TarMember> members);

struct TarContents {
  std::vector<TarMember> members;  // views into what was read
  std::string problem;             // where it ends to be such an archive, or ""
};
TarContents ReadTar(std::span<const std::byte> bytes);

}  // namespace lijit::cache
