// SPDX-License-Identifier: Apache-2.0
// From a request to its image:
//
//   memory -> another thread's flight -> folders -> the key's lock -> folders again -> compile
//
// One thread of a process flies for each key and the others wait for what it brings; threads with
// other keys do not notice. Across processes the key's lock file does the same, for at most
// `lock_timeout`. Neither a lock nor a disk is needed to succeed.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <exception>
#include <utility>

#include "cache/file_lock.h"
#include "cache/store_impl.h"

namespace lijit::cache {
namespace {

// Adds the life time of the object to a phase.
class PhaseTimer {
 public:
  explicit PhaseTimer(double& milliseconds) : milliseconds_(milliseconds) {}
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() {
    milliseconds_ += std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  double& milliseconds_;
  const Clock::time_point start_ = Clock::now();
};

// An exception must not leave the other threads waiting for ever.
Result<Entry> Run(const std::function<Result<Entry>()>& compile) {
  try {
    return compile();
  } catch (const std::exception& exception) {
    return Failed(fmt::format("the compile function threw: {}", exception.what()));
  } catch (...) {
    return Failed("the compile function threw something that is no std::exception");
  }
}

// A fresh image is held to the same rules as one that was read.
Status CheckFresh(const Entry& entry, const Wanted& wanted) {
  if (entry.target != wanted.target) {
    return Failed(fmt::format("compiling for {} gave an image for {}", wanted.target,
                              entry.target.empty() ? "no target" : entry.target));
  }
  if (entry.image.empty()) {
    return Failed(fmt::format("compiling for {} gave an empty image", wanted.target));
  }
  return wanted.validator ? wanted.validator(entry) : Status();
}

}  // namespace

Result<Outcome> Store::Compute(const Key& key, std::string_view target, const Validator& validator,
                               const std::function<Result<Entry>()>& compile) {
  LIJIT_TRY(impl_->CheckProcess());
  const Wanted wanted{key.Hex(), key.text(), target, validator};
  Event event{.key = wanted.digest,
              .target = std::string(target),
              .backend = std::string(key.Find("backend")),
              .outcome = Counter::kAbsent,
              .times = {},
              .notes = impl_->problems,
              .error = {}};
  std::promise<EntryResult> own_flight;
  if (const auto there = impl_->EnterFlight(wanted, own_flight, event); there.valid()) {
    return impl_->Finish(std::move(event), there.get());
  }
  const EntryResult result = impl_->Fetch(wanted, compile, event);
  {
    const std::lock_guard lock(impl_->mutex);
    if (result.ok()) impl_->memory.Put(wanted.digest, *result);
    impl_->in_flight.erase(wanted.digest);
  }
  own_flight.set_value(result);
  return impl_->Finish(std::move(event), result);
}

std::shared_future<EntryResult> Store::Impl::EnterFlight(const Wanted& wanted,
                                                         std::promise<EntryResult>& own_flight,
                                                         Event& event) {
  std::shared_future<EntryResult> flight;
  {
    const std::lock_guard lock(mutex);
    if (auto entry = FromMemory(wanted)) {
      event.outcome = Counter::kHitMemory;
      own_flight.set_value(std::move(entry));
      return own_flight.get_future().share();
    }
    const auto [it, is_first] = in_flight.try_emplace(wanted.digest);
    if (is_first) it->second = own_flight.get_future().share();
    if (is_first) return {};
    flight = it->second;
  }
  const PhaseTimer timer(event.times.wait);
  flight.wait();
  event.outcome = flight.get().ok() ? Counter::kHitThread : Counter::kFailedThread;
  return flight;
}

EntryResult Store::Impl::Fetch(const Wanted& wanted, const Compile& compile, Event& event) {
  Found found;
  {
    const PhaseTimer timer(event.times.lookup);
    found = LookupFolders(wanted);
  }
  event.outcome = found.outcome;
  std::move(found.notes.begin(), found.notes.end(), std::back_inserter(event.notes));
  if (found.entry) return found.entry;
  return writable ? CompileLocked(wanted, compile, event) : CompileAndWrite(wanted, compile, event);
}

EntryResult Store::Impl::CompileLocked(const Wanted& wanted, const Compile& compile, Event& event) {
  std::optional<PhaseTimer> waiting(std::in_place, event.times.wait);
  const FileLock lock = LockIn(*writable, wanted.digest, config.lock_timeout);
  waiting.reset();
  if (lock.state() == FileLock::State::kTimedOut) {
    Count(Counter::kLockTimeout);
    event.notes.push_back(
        fmt::format("another process has been compiling this for {} ms; "
                    "compiled here, too",
                    config.lock_timeout.count()));
  } else if (lock.state() == FileLock::State::kUnavailable) {
    Count(Counter::kLockUnavailable);
    event.notes.push_back(
        fmt::format("no lock in {}: {}", writable->path, ErrnoText(lock.error())));
  }
  Reading again;  // it may have been stored between our look and our lock
  {
    const PhaseTimer timer(event.times.lookup);
    again = ReadEntry(*writable, wanted);
  }
  if (again.entry) {
    event.outcome = Counter::kHitProcess;
    return again.entry;
  }
  // What the first look left in place and has already recorded is not recorded again.
  if (again.outcome != event.outcome) Record(again, event.notes);
  return CompileAndWrite(wanted, compile, event);
}

EntryResult Store::Impl::CompileAndWrite(const Wanted& wanted, const Compile& compile,
                                         Event& event) {
  std::optional<PhaseTimer> compiling(std::in_place, event.times.compile);
  Result<Entry> compiled = Run(compile);
  compiling.reset();
  const Status status = compiled.ok() ? CheckFresh(*compiled, wanted) : Status(compiled.error());
  Count(status.ok() ? Counter::kCompiled : Counter::kCompileFailed);
  if (!status.ok()) return status.error();
  compiled->key = wanted.key;
  if (compiled->created == 0) compiled->created = std::time(nullptr);
  auto entry = std::make_shared<const Entry>(std::move(compiled).value());
  const PhaseTimer timer(event.times.publish);
  if (const Status written = Write(*entry); !written.ok()) {
    event.notes.push_back(written.error().message);
  }
  FlushCounters();
  return std::shared_ptr<const Entry>(std::move(entry));
}

Result<Outcome> Store::Impl::Finish(Event event, const EntryResult& result) {
  if (!IsDamage(event.outcome)) Count(event.outcome);  // damage is counted where it is found
  if (!result.ok()) event.error = result.error().message;
  if (config.on_event) config.on_event(event);
  if (!result.ok()) return result.error();
  return Outcome{*result, std::move(event)};
}

}  // namespace lijit::cache
