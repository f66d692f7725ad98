// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/ptx_version.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace lijit::runtime {
namespace {

struct ReleaseRow {
  int major;
  int minor;
  int ptx_version;
};

// PTX ISA 9.0, "Release notes": the first release that reads a version, newest first.
constexpr ReleaseRow kReleases[] = {
    {13, 0, 90}, {12, 9, 88}, {12, 8, 87}, {12, 7, 86}, {12, 5, 85},
    {12, 4, 84}, {12, 3, 83}, {12, 2, 82}, {12, 1, 81}, {12, 0, 80},
};

struct Release {
  int major = 0;
  int minor = 0;
  std::string_view rest;
};

// Two numbers and a dot at the start of the text.
std::optional<Release> TakeRelease(std::string_view text) {
  Release release;
  const char* const end = text.data() + text.size();
  const auto [dot, bad_major] = std::from_chars(text.data(), end, release.major);
  if (bad_major != std::errc() || dot == end || *dot != '.') return std::nullopt;
  const auto [rest, bad_minor] = std::from_chars(dot + 1, end, release.minor);
  if (bad_minor != std::errc()) return std::nullopt;
  release.rest = {rest, static_cast<std::size_t>(end - rest)};
  return release;
}

}  // namespace

Result<int> PtxVersionFor(std::string_view cuda_release) {
  const std::optional<Release> release = TakeRelease(cuda_release);
  for (const ReleaseRow& row : kReleases) {
    if (release && std::pair(release->major, release->minor) >= std::pair(row.major, row.minor)) {
      return row.ptx_version;
    }
  }
  return Unavailable(fmt::format(
      "CUDA '{}' does not read the PTX of backend ptx, which needs CUDA 12.0", cuda_release));
}

std::string PtxVersionText(int version) { return fmt::format("{}.{}", version / 10, version % 10); }

Result<int> ParsePtxVersion(std::string_view text) {
  const std::optional<Release> release = TakeRelease(text);
  const bool is_version = release && release->rest.empty() && release->major >= 1 &&
                          release->major <= 99 && release->minor >= 0 && release->minor <= 9;
  if (!is_version) return Damaged(fmt::format("'{}' is no version of PTX", text));
  return 10 * release->major + release->minor;
}

}  // namespace lijit::runtime
