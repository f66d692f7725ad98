// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cache/stats_file.h"
#include "cache/store_impl.h"

namespace lijit::cache {

Store::Impl::Impl(CacheConfig the_config)
    : config(std::move(the_config)), process(getpid()), memory(config.memory_size) {
  for (const std::string& dir : config.readonly_dirs) {
    Result<Folder> folder = OpenFolder(dir, /*readonly=*/true);
    if (folder.ok()) {
      readonly.push_back(std::move(folder).value());
    } else {
      problems.push_back(folder.error().message);
    }
  }
  if (!config.note.empty()) problems.push_back(config.note);
  if (config.dir.empty()) return;
  Result<Folder> folder = OpenFolder(config.dir, /*readonly=*/false);
  if (folder.ok()) {
    writable = std::move(folder).value();
  } else {
    problems.push_back(folder.error().message);
  }
}

Status Store::Impl::CheckProcess() const {
  const pid_t here = getpid();
  if (here == process) return {};
  return Failed(
      fmt::format("the kernel cache was opened by process {} and is used in process {}, its child: "
                  "a child of fork opens a cache (or lijit::Runtime) of its own",
                  process, here));
}

Counts Store::Impl::Snapshot() const {
  Counts snapshot;
  std::transform(counts.begin(), counts.end(), snapshot.begin(),
                 [](const auto& count) { return count.load(); });
  return snapshot;
}

void Store::Impl::FlushCounters() {
  if (!CheckProcess().ok()) return;  // a child would count its parent's again
  const std::lock_guard lock(flush_mutex);
  const Counts now = Snapshot();
  if (!writable || now == flushed) return;
  Counts delta;
  std::transform(now.begin(), now.end(), flushed.begin(), delta.begin(), std::minus<>());
  if (AddToStatsFile(*writable, delta)) flushed = now;
}

void Store::Impl::Record(const Reading& reading, std::vector<std::string>& notes) {
  if (IsDamage(reading.outcome)) Count(reading.outcome);
  if (reading.moved_aside) Count(Counter::kMovedAside);
  if (!reading.note.empty()) notes.push_back(reading.note);
}

std::shared_ptr<const Entry> Store::Impl::FromMemory(const Wanted& wanted) {
  std::shared_ptr<const Entry> entry = memory.Get(wanted.digest);
  const bool fits = entry && entry->key == wanted.key && entry->target == wanted.target;
  return fits ? entry : nullptr;
}

Store::Found Store::Impl::LookupFolders(const Wanted& wanted) {
  Found found;
  std::vector<const Folder*> folders;
  for (const Folder& folder : readonly) folders.push_back(&folder);
  if (writable) folders.push_back(&*writable);
  for (const Folder* folder : folders) {
    Reading reading = ReadEntry(*folder, wanted);
    Record(reading, found.notes);
    if (reading.outcome != Counter::kAbsent) found.outcome = reading.outcome;
    if (!reading.entry) continue;
    found.entry = std::move(reading.entry);
    break;
  }
  return found;
}

Status Store::Impl::Write(const Entry& entry) {
  if (!writable) return {};
  Status status = WriteEntry(*writable, entry);
  Count(status.ok() ? Counter::kPublished : Counter::kPublishFailed);
  if (status.ok()) LimitSize(entry.image.size());
  return status;
}

// Measuring the folder means visiting every entry, so it happens at this process's first write and
// then whenever it wrote another twentieth of the limit. Ten percent are freed at once, so that the
// next write does not have to do it again.
void Store::Impl::LimitSize(std::uint64_t written) {
  const std::uint64_t limit = config.max_size;
  if (limit == 0) return;
  {
    const std::lock_guard lock(mutex);
    const bool measure = !unmeasured || *unmeasured + written > limit / 20;
    unmeasured = measure ? 0 : *unmeasured + written;
    if (!measure) return;
  }
  CountCollected(CollectGarbage(*writable, limit, limit - limit / 10));
}

void Store::Impl::CountCollected(const GcReport& report) {
  Count(Counter::kEvicted, report.evicted_entries);
  Count(Counter::kSwept, report.swept);
}

Store::Store(CacheConfig config) : impl_(std::make_unique<Impl>(std::move(config))) {}

Store::~Store() { impl_->FlushCounters(); }

const CacheConfig& Store::config() const { return impl_->config; }

const std::vector<std::string>& Store::problems() const { return impl_->problems; }

Store::Found Store::Lookup(const Key& key, std::string_view target, const Validator& validator) {
  if (const Status status = impl_->CheckProcess(); !status.ok()) {
    return {Counter::kUnreadable, nullptr, {status.error().message}};
  }
  const Wanted wanted{key.Hex(), key.text(), target, validator};
  Found found;
  {
    const std::lock_guard lock(impl_->mutex);
    found.entry = impl_->FromMemory(wanted);
  }
  if (found.entry) {
    found.outcome = Counter::kHitMemory;
  } else {
    found = impl_->LookupFolders(wanted);
  }
  if (!IsDamage(found.outcome)) impl_->Count(found.outcome);
  if (found.outcome != Counter::kHitMemory && found.entry) {
    const std::lock_guard lock(impl_->mutex);
    impl_->memory.Put(wanted.digest, found.entry);
  }
  return found;
}

Status Store::Publish(const Entry& entry) {
  LIJIT_TRY(impl_->CheckProcess());
  if (!impl_->writable) {
    return Unavailable("the entry was not stored: the cache has no folder that can be written");
  }
  return impl_->Write(entry);
}

std::vector<EntryInfo> Store::List() const {
  std::vector<EntryInfo> all;
  const auto append = [&](const Folder& folder) {
    std::vector<EntryInfo> entries = ListEntries(folder);
    std::move(entries.begin(), entries.end(), std::back_inserter(all));
  };
  for (const Folder& folder : impl_->readonly) append(folder);
  if (impl_->writable) append(*impl_->writable);
  return all;
}

Result<Entry> Store::Read(std::string_view key_prefix) const {
  const std::vector<EntryInfo> entries = List();
  const EntryInfo* match = nullptr;
  for (const EntryInfo& info : entries) {
    if (!info.key.starts_with(key_prefix)) continue;
    if (match != nullptr && match->key != info.key) {
      return InvalidArgument(
          fmt::format("several keys start with '{}', for example {} and {}; "
                      "give more digits",
                      key_prefix, match->key, info.key));
    }
    if (match == nullptr) match = &info;
  }
  if (match == nullptr) {
    return InvalidArgument(
        fmt::format("no key starts with '{}'; `lijit cache ls` lists the keys", key_prefix));
  }
  return Read(*match, nullptr);
}

Result<Entry> Store::Read(const EntryInfo& info, const Validator& validator) const {
  Reading reading = ReadUnasked(info, validator);
  if (reading.entry) return *reading.entry;
  if (reading.outcome == Counter::kAbsent) return Unavailable(info.path + " is no longer there");
  return Damaged(reading.note);
}

VerifyReport Store::Verify(const Validator& validator) const {
  VerifyReport report;
  for (const EntryInfo& info : List()) {
    Reading reading = ReadUnasked(info, validator);
    if (reading.outcome == Counter::kAbsent) continue;  // evicted meanwhile
    report.entries += 1;
    if (reading.entry) continue;
    report.damaged.push_back({info.key, info.path, reading.outcome, std::move(reading.note)});
  }
  return report;
}

StoreStats Store::Stats() const {
  impl_->FlushCounters();
  StoreStats stats;
  stats.process = impl_->Snapshot();
  if (!impl_->writable) return stats;
  stats.total = ReadStatsFile(*impl_->writable);
  for (const EntryInfo& info : ListEntries(*impl_->writable)) {
    stats.entries += 1;
    stats.bytes += info.bytes;
  }
  return stats;
}

Result<GcReport> Store::Gc(std::uint64_t max_size) {
  if (!impl_->writable) {
    return Unavailable("nothing to clean: the cache has no folder that can be written");
  }
  const GcReport report = CollectGarbage(*impl_->writable, max_size, max_size);
  impl_->CountCollected(report);
  return report;
}

}  // namespace lijit::cache
