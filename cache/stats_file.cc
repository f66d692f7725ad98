// SPDX-License-Identifier: Apache-2.0
#include "cache/stats_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "cache/file_io.h"
#include "cache/file_lock.h"

namespace lijit::cache {
namespace {

constexpr std::uint64_t kMaxStatsSize = 1 << 16;
constexpr std::chrono::milliseconds kLockTimeout{200};

std::string StatsPath(const Folder& folder) { return folder.path + "/stats"; }

void ReadLine(std::string_view line, Counts& counts) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  std::uint64_t value = 0;
  std::from_chars(line.data() + space + 1, line.data() + line.size(), value);
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    if (line.substr(0, space) == kCounterInfos[i].name) counts[i] = value;
  }
}

}  // namespace

Counts ReadStatsFile(const Folder& folder) {
  const FileContents file = ReadFile(StatsPath(folder), kMaxStatsSize);
  std::string_view rest(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  Counts counts{};
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    ReadLine(rest.substr(0, end), counts);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return counts;
}

bool AddToStatsFile(const Folder& folder, const Counts& counts) {
  const FileLock lock = LockIn(folder, "stats", kLockTimeout);
  if (!lock.held()) return false;
  Counts sum = ReadStatsFile(folder);
  std::string text;
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    sum[i] += counts[i];
    if (sum[i] != 0) text += fmt::format("{} {}\n", kCounterInfos[i].name, sum[i]);
  }
  return WriteFile(StatsPath(folder), std::as_bytes(std::span(text)), folder.mode & 0666,
                   Durability::kUnsynced) == 0;
}

}  // namespace lijit::cache
