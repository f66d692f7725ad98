// SPDX-License-Identifier: Apache-2.0
// Eviction and sweeping. Safe beside readers, who keep a removed file while it is open, and beside
// writers, who only ever rename onto a name.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <tuple>

#include "cache/file_io.h"
#include "cache/file_lock.h"
#include "cache/folder.h"

namespace lijit::cache {
namespace {

// A clock that was set back leaves times in the future, which say nothing.
bool IsInFuture(const struct stat& info, std::int64_t now) {
  return info.st_mtim.tv_sec > now + kStaleSeconds;
}

bool IsStale(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const std::int64_t now = std::time(nullptr);
  return info.st_mtim.tv_sec + kStaleSeconds < now || IsInFuture(info, now);
}

std::uint64_t SweepTemporaries(const std::string& folder) {
  std::uint64_t swept = 0;
  ForEachName(folder, [&](const std::string& name) {
    const std::string path = folder + "/" + name;
    if (!name.ends_with(kTemporarySuffix) || !IsStale(path)) return;
    if (unlink(path.c_str()) == 0) ++swept;
  });
  return swept;
}

std::uint64_t SweepAllTemporaries(const Folder& folder) {
  std::uint64_t swept = SweepTemporaries(folder.path);
  ForEachName(folder.path, [&](const std::string& name) {
    if (name.size() == 2) swept += SweepTemporaries(folder.path + "/" + name);
  });
  return swept;
}

// A killed process leaves its lock file, unlocked. Whoever gets its lock removes it on letting go.
void SweepLocks(const Folder& folder) {
  const std::string locks = folder.path + "/locks";
  ForEachName(locks, [&](const std::string& name) {
    const std::string path = locks + "/" + name;
    if (IsStale(path)) (void)LockIn(folder, name, std::chrono::milliseconds(0));
  });
}

struct Candidate {
  std::string path;
  struct stat info;
};

std::vector<Candidate> LeastRecentlyUsedFirst(const Folder& folder) {
  std::vector<Candidate> candidates;
  for (EntryInfo& entry : ListEntries(folder)) {
    Candidate candidate{std::move(entry.path), {}};
    if (lstat(candidate.path.c_str(), &candidate.info) == 0) {
      candidates.push_back(std::move(candidate));
    }
  }
  // What was last used in the future goes first: else nothing new could stay until then.
  const std::int64_t now = std::time(nullptr);
  const auto order = [now](const Candidate& c) {
    return std::tuple(!IsInFuture(c.info, now), c.info.st_mtim.tv_sec, c.info.st_mtim.tv_nsec,
                      std::string_view(c.path));
  };
  std::sort(candidates.begin(), candidates.end(),
            [&order](const Candidate& a, const Candidate& b) { return order(a) < order(b); });
  return candidates;
}

void Evict(const std::vector<Candidate>& candidates, std::uint64_t low, GcReport& report) {
  for (const Candidate& candidate : candidates) {
    if (report.bytes <= low) return;
    // Somebody used or replaced it since the list was made: it is no longer the oldest.
    if (!IsUnchanged(candidate.path, candidate.info)) continue;
    if (unlink(candidate.path.c_str()) != 0) continue;
    const auto size = static_cast<std::uint64_t>(candidate.info.st_size);
    report.bytes -= size;
    report.entries -= 1;
    report.evicted_bytes += size;
    report.evicted_entries += 1;
  }
}

}  // namespace

GcReport CollectGarbage(const Folder& folder, std::uint64_t high, std::uint64_t low) {
  GcReport report;
  const FileLock lock = LockIn(folder, "gc", std::chrono::milliseconds(0));
  if (lock.state() == FileLock::State::kTimedOut) {
    report.busy = true;
    return report;
  }
  report.swept = SweepAllTemporaries(folder);
  SweepLocks(folder);
  const std::vector<Candidate> candidates = LeastRecentlyUsedFirst(folder);
  for (const Candidate& candidate : candidates) {
    report.entries += 1;
    report.bytes += static_cast<std::uint64_t>(candidate.info.st_size);
  }
  if (report.bytes > high) Evict(candidates, low, report);
  return report;
}

}  // namespace lijit::cache
