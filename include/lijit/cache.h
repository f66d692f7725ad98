// SPDX-License-Identifier: Apache-2.0
// The kernel cache: compiled images under content-derived keys, in memory and on disk, shared by
// threads, processes and machines. It can slow a compile down, never fail it: what goes wrong on
// disk becomes a counter and a note. (What compiles through it is cache/get_or_compute.h.)
//
// Trust. An image runs on the user's GPU under the user's name, so a writable folder is refused if
// it is owned by somebody other than the effective user or root, or if everybody may write to it.
// Links are followed first: the rule is about the folder they lead to. Write permission for a group
// is the owner's choice and accepted. A read-only folder may be owned by anybody, because the user
// named it, but is refused if everybody may write to it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/device.h"
#include "lijit/result.h"

namespace lijit::cache {

class Key;

// One enumerator for each row of cache_counters.def.
enum class Counter : std::uint8_t {
#define LIJIT_CACHE_HIT(enumerator, name, meaning) enumerator,
#define LIJIT_CACHE_MISS(enumerator, name, meaning) enumerator,
#define LIJIT_CACHE_DAMAGE(enumerator, name, meaning) enumerator,
#define LIJIT_CACHE_EVENT(enumerator, name, meaning) enumerator,
#include "lijit/cache_counters.def"
};

struct CounterInfo {
  enum class Class : std::uint8_t { kHit, kMiss, kDamage, kEvent };
  Class kind;
  std::string_view name;     // "hit_disk"
  std::string_view meaning;  // one sentence
};
inline constexpr CounterInfo kCounterInfos[] = {
#define LIJIT_CACHE_HIT(enumerator, name, meaning) {CounterInfo::Class::kHit, name, meaning},
#define LIJIT_CACHE_MISS(enumerator, name, meaning) {CounterInfo::Class::kMiss, name, meaning},
#define LIJIT_CACHE_DAMAGE(enumerator, name, meaning) {CounterInfo::Class::kDamage, name, meaning},
#define LIJIT_CACHE_EVENT(enumerator, name, meaning) {CounterInfo::Class::kEvent, name, meaning},
#include "lijit/cache_counters.def"
};
inline constexpr std::size_t kCounterCount = std::size(kCounterInfos);
constexpr const CounterInfo& Info(Counter counter) {
  return kCounterInfos[static_cast<std::size_t>(counter)];
}
constexpr bool IsHit(Counter counter) { return Info(counter).kind == CounterInfo::Class::kHit; }
constexpr bool IsDamage(Counter counter) {
  return Info(counter).kind == CounterInfo::Class::kDamage;
}
using Counts = std::array<std::uint64_t, kCounterCount>;  // by Counter

// What is stored under a key. The on-disk grammar is in cache/entry.h.
struct Entry {
  std::string key;  // the key's whole text (cache/key.h); a hit compares it
  ImageKind kind = ImageKind::kCubin;
  std::string target;                // exactly what it was compiled for: "sm_90a"
  std::vector<std::string> kernels;  // names as the driver sees them
  std::string resources;             // registers, shared memory, spills, as text
  std::string log;                   // what the compilers said
  std::vector<std::string> tools;    // "nvrtc 13.0.88"
  std::int64_t created = 0;          // seconds since 1970; the store sets it if 0
  std::vector<std::byte> image;

  bool operator==(const Entry&) const = default;
};

// Reads one entry's bytes, wherever they come from. kDamaged says what is wrong; `reason`, if not
// null, receives it for machines.
Result<Entry> DecodeEntry(std::span<const std::byte> bytes, Counter* reason = nullptr);

// A field of a key's text (grammar: cache/fields.h).
struct KeyField {
  std::string label;  // "option[1]" for the second field of that label
  std::string bytes;
};
// kDamaged: it is no key.
Result<std::vector<KeyField>> ParseKey(std::string_view text);

// 64 hex digits, the SHA-256 of a key's text: what `lijit cache` calls a key.
std::string KeyDigest(std::string_view text);

// One way in which two keys differ: a field that only one has, or has otherwise.
struct KeyDifference {
  std::string label;
  bool in_a = false, in_b = false;
  std::string a, b;  // the bytes, where there are any
};
// Why the second key is not found under the first: the fields that differ, in the first's order,
// then those only in the second. If only the order of the fields differs, one difference "(order)"
// holding the labels in order. kDamaged: one of the texts is no key.
Result<std::vector<KeyDifference>> Explain(std::string_view a, std::string_view b);

// The caller's check of an image, for example that its cubin is whole and for its target. Called
// for entries read and for entries just compiled, possibly by several threads at once.
using Validator = std::function<Status(const Entry&)>;

// Milliseconds by phase; a phase that did not happen took 0.
struct PhaseTimes {
  double lookup = 0, wait = 0, compile = 0, publish = 0;
};

// What one request to the cache came to.
struct Event {
  std::string key;  // 64 hex digits
  std::string target;
  std::string backend;                 // the key's field "backend", or ""
  Counter outcome = Counter::kAbsent;  // which hit, or why it was a miss
  PhaseTimes times;
  std::vector<std::string> notes;  // what went wrong on the way and was survived
  std::string error;               // why the compile failed, or ""
};

struct CacheConfig {
  std::string dir;                                  // the user's writable folder; "" is memory only
  std::vector<std::string> readonly_dirs;           // asked first, in order
  std::uint64_t max_size = std::uint64_t{2} << 30;  // bytes in `dir`; 0 is no limit
  std::uint64_t memory_size = std::uint64_t{64} << 20;  // bytes of images kept in this process
  // How long to wait for another process that compiles the same key before compiling, too.
  std::chrono::milliseconds lock_timeout{60'000};
  // Called once per request, by the thread that asked, with no lock held.
  std::function<void(const Event&)> on_event;
  std::string note;  // why `dir` is empty, for people
};

// Reads LIJIT_CACHE_DIR (default $XDG_CACHE_HOME/lijit, then $HOME/.cache/lijit; set but empty
// means memory only), LIJIT_CACHE_READONLY_DIRS (separated by colons) and LIJIT_CACHE_MAX_SIZE
// ("2GiB"). kInvalidArgument names variable, value and what is accepted. `lookup` stands in for
// getenv.
Result<CacheConfig> ConfigFromEnvironment(
    const std::function<const char*(const char*)>& lookup = nullptr);

// "2GiB" in bytes: a whole number, then B, KiB, MiB, GiB, TiB or nothing. kInvalidArgument
// otherwise.
Result<std::uint64_t> ParseSize(std::string_view text);

struct EntryInfo {
  std::string key;  // 64 hex digits
  std::string path;
  bool readonly = false;
  std::uint64_t bytes = 0;  // on disk
  std::int64_t used = 0;    // last use, seconds since 1970
};

struct DamagedEntry {
  std::string key;
  std::string path;
  Counter reason = Counter::kShort;
  std::string message;
};

struct VerifyReport {
  std::uint64_t entries = 0;  // good and damaged
  std::vector<DamagedEntry> damaged;
};

struct GcReport {
  bool busy = false;                     // another process is cleaning; nothing was done
  std::uint64_t entries = 0, bytes = 0;  // that stay
  std::uint64_t evicted_entries = 0, evicted_bytes = 0;  // that went
  std::uint64_t swept = 0;                               // temporary files
};

struct StoreStats {
  std::uint64_t entries = 0, bytes = 0;  // in the writable folder
  Counts process{};                      // since this store was opened
  Counts total{};  // of every process that used the folder, this one included; best effort
};

// What a request got.
struct Outcome {
  std::shared_ptr<const Entry> entry;
  Event event;
  bool hit() const { return IsHit(event.outcome); }
};

// A cache in use. All members may be called by many threads at once. In a child of fork, where
// other threads' locks stay locked for ever, requests, Lookup and Publish fail with a message
// (kFailed, or a miss): a child opens its own.
class Store {
 public:
  // Never fails: a folder that cannot be used is left out and described in problems().
  explicit Store(CacheConfig config);
  ~Store();  // writes the counters
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const CacheConfig& config() const;
  const std::vector<std::string>& problems() const;

  struct Found {
    Counter outcome = Counter::kAbsent;
    std::shared_ptr<const Entry> entry;  // null unless a hit
    std::vector<std::string> notes;
  };
  // Memory, then read-only folders, then the writable one. `validator` may be null. Counts, and
  // moves damaged entries of the writable folder aside, but is no event.
  Found Lookup(const Key& key, std::string_view target, const Validator& validator);

  // Stores an entry under the key that it names. kUnavailable: the folder cannot be written.
  Status Publish(const Entry& entry);

  // Entries of all folders, read-only ones first, by key. Reads no contents.
  std::vector<EntryInfo> List() const;
  // The entry whose key starts with these hex digits. kInvalidArgument: none or several;
  // kDamaged.
  Result<Entry> Read(std::string_view key_prefix) const;
  // One of List(), if it is whole, of the key that its name says and passes `validator`. kDamaged;
  // kUnavailable: it was evicted meanwhile.
  Result<Entry> Read(const EntryInfo& info, const Validator& validator) const;
  // Decodes everything. Changes nothing.
  VerifyReport Verify(const Validator& validator) const;
  StoreStats Stats() const;
  // Removes the least recently used entries until at most `max_size` bytes stay. Readers keep what
  // they have open. kUnavailable: there is no writable folder.
  Result<GcReport> Gc(std::uint64_t max_size);

 private:
  template <class Request, class Compile>
  friend Result<Outcome> GetOrCompute(Store& store, const Request& request,
                                      const Validator& validator, Compile compile);
  Result<Outcome> Compute(const Key& key, std::string_view target, const Validator& validator,
                          const std::function<Result<Entry>()>& compile);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lijit::cache
