// SPDX-License-Identifier: Apache-2.0
// What a Store holds. store.cc looks after folders and counters, compute.cc has the one way from a
// request to its image.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/folder.h"
#include "cache/key.h"
#include "cache/memory.h"
#include "lijit/cache.h"

namespace lijit::cache {

using EntryResult = Result<std::shared_ptr<const Entry>>;

struct Store::Impl {
  explicit Impl(CacheConfig the_config);

  void Count(Counter counter, std::uint64_t n = 1) {
    counts[static_cast<std::size_t>(counter)] += n;
  }
  Counts Snapshot() const;
  // Adds what was counted since the last time to the folder's stats file. Best effort.
  void FlushCounters();

  // kFailed in a child of fork. Must come before any lock.
  Status CheckProcess() const;

  // Counts what a reading found and keeps its note.
  void Record(const Reading& reading, std::vector<std::string>& notes);
  // Null if memory has no entry of exactly this key and target. The caller holds `mutex`.
  std::shared_ptr<const Entry> FromMemory(const Wanted& wanted);
  // Read-only folders, then the writable one. Counts damage, not the outcome.
  Found LookupFolders(const Wanted& wanted);
  // Writes to the writable folder, if there is one, counts, and keeps the size limit.
  Status Write(const Entry& entry);
  void LimitSize(std::uint64_t written);
  void CountCollected(const GcReport& report);

  // The steps of Compute (compute.cc). What is in memory, or what another thread's flight for the
  // key brought, in which case this waited for it; invalid if `own_flight` is now the key's flight.
  std::shared_future<EntryResult> EnterFlight(const Wanted& wanted,
                                              std::promise<EntryResult>& own_flight, Event& event);
  using Compile = std::function<Result<Entry>()>;
  EntryResult Fetch(const Wanted& wanted, const Compile& compile, Event& event);
  EntryResult CompileLocked(const Wanted& wanted, const Compile& compile, Event& event);
  EntryResult CompileAndWrite(const Wanted& wanted, const Compile& compile, Event& event);
  Result<Outcome> Finish(Event event, const EntryResult& result);

  const CacheConfig config;
  const pid_t process;
  std::vector<std::string> problems;
  std::vector<Folder> readonly;
  std::optional<Folder> writable;

  std::array<std::atomic<std::uint64_t>, kCounterCount> counts{};
  std::mutex flush_mutex;
  Counts flushed{};  // under flush_mutex

  std::mutex mutex;  // for what follows; never held while reading, compiling or waiting
  Memory memory;
  std::map<std::string, std::shared_future<EntryResult>> in_flight;  // by digest
  // Bytes written since the folder's size was last measured; nothing before the first time.
  std::optional<std::uint64_t> unmeasured;
};

}  // namespace lijit::cache
