// SPDX-License-Identifier: Apache-2.0
// One folder of entries, one layer of the cache:
//
//   CACHEDIR.TAG               tells backup programs to leave it out
//   ab/cdef01...89.entry       the entry whose key has the digest abcdef01...89
//   ab/*.tmp                   being written
//   damaged/DIGEST.REASON      entries moved aside, at most kMaxDamaged
//   locks/                     lock files, there while they are wanted (cache/file_lock.h)
//   stats                      counters (cache/stats_file.h)
//
// A read-only folder needs only the entries. Nothing in it is ever changed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/file_lock.h"
#include "lijit/cache.h"

namespace lijit::cache {

// Damaged entries kept for people to look at; the oldest go.
inline constexpr int kMaxDamaged = 16;
// A temporary file or lock file this old belongs to nobody: no write takes an hour.
inline constexpr std::int64_t kStaleSeconds = 3600;

struct Folder {
  std::string path;  // without links
  bool readonly = false;
  mode_t mode = 0700;  // what is made inside follows the folder's own permissions
};

// Checks trust (the rule is in lijit/cache.h) and makes a writable folder if there is none.
// kUnavailable names folder, reason and what would help.
Result<Folder> OpenFolder(const std::string& path, bool readonly);

// "ab/cdef01...89.entry": an entry's place in its folder.
std::string EntryName(std::string_view digest);
std::string EntryPath(const Folder& folder, std::string_view digest);
FileLock LockIn(const Folder& folder, std::string_view name, std::chrono::milliseconds timeout);

// What an entry must be to be a hit.
struct Wanted {
  std::string digest;
  std::string_view key;
  std::string_view target;
  const Validator& validator;  // may be null
};

struct Reading {
  Counter outcome = Counter::kAbsent;
  std::shared_ptr<const Entry> entry;  // null unless a hit
  std::string note;                    // what is wrong, naming the file
  bool moved_aside = false;
};

// A hit marks the entry as used; a damaged entry of a writable folder is moved aside.
Reading ReadEntry(const Folder& folder, const Wanted& wanted);

// Reads an entry by its path and checks everything but a request: that it is whole and that its
// name is its key's digest. `digest` is the name's.
Reading ReadUnasked(const EntryInfo& info, const Validator& validator);

// kUnavailable names the file and why. A write that comes second is a success.
Status WriteEntry(const Folder& folder, const Entry& entry);

// In the order of their keys.
std::vector<EntryInfo> ListEntries(const Folder& folder);

// Removes stale temporary and lock files and, if the entries have more than `high` bytes, the least
// recently used until at most `low` stay.
GcReport CollectGarbage(const Folder& folder, std::uint64_t high, std::uint64_t low);

}  // namespace lijit::cache
