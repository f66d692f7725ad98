// SPDX-License-Identifier: Apache-2.0
// cache_torture --seconds S --processes P [--seed N]
//
// P processes ask one cache for random entries, evict, move bundles and damage its files, while the
// parent kills one of them at random, again and again. Every answer is compared with what it must
// be. Prints counts; exit code 1 if a result was wrong, a request failed or a process crashed.
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "cache/get_or_compute.h"
#include "lijit/bundle.h"
#include "tests/torture/scoreboard.h"
#include "tests/torture/vandal.h"

namespace lijit::torture {
namespace {

using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;

constexpr int kModules = 48;

struct Options {
  int seconds = 10;
  int processes = 32;
  std::uint64_t seed = 1;
};

Scoreboard* g_score = nullptr;

// The image of module i: its number and noise, of 1 to 12000 bytes.
std::vector<std::byte> ImageOf(int module) {
  Random random(static_cast<std::uint64_t>(module));
  std::vector<std::byte> image(1 + random() % 12000);
  for (std::byte& byte : image) byte = static_cast<std::byte>(random());
  return image;
}

struct Request {
  int module = 0;

  std::string target() const { return module % 2 == 0 ? "sm_86" : "sm_90a"; }
  cache::Key key() const {
    return cache::Key().Add("target", target()).Add("module", fmt::format("{}", module));
  }
};

Result<cache::Entry> Compile(const Request& request) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ++g_score->compiles;
  cache::Entry entry;
  entry.target = request.target();
  entry.kernels = {"kernel"};
  entry.image = ImageOf(request.module);
  return entry;
}

class Worker {
 public:
  Worker(std::string folder, std::uint64_t seed)
      : folder_(std::move(folder)), random_(seed), score_(*g_score) {}

  // Forever: the parent ends it.
  [[noreturn]] void Run() {
    while (true) {
      cache::Store store(Config());
      for (int i = 0; i < 20; ++i) Step(store);
      const cache::Counts counts = store.Stats().process;
      score_.evictions += counts[static_cast<std::size_t>(cache::Counter::kEvicted)];
      score_.lock_timeouts += counts[static_cast<std::size_t>(cache::Counter::kLockTimeout)];
    }
  }

 private:
  cache::CacheConfig Config() {
    cache::CacheConfig config;
    config.dir = folder_ + "/cache";
    config.memory_size = random_() % 2 == 0 ? 0 : 100'000;
    config.max_size = 150'000 + random_() % 100'000;  // of about 300'000
    return config;
  }

  void Step(cache::Store& store) {
    const unsigned kind = random_() % 64;
    if (kind < 52) return Ask(store);
    if (kind < 60) return Damage(folder_ + "/cache", random_, score_);
    if (kind < 61) return MoveBundle(store);
    if (kind < 62) return (void)store.Verify(nullptr);
    if (kind < 63) return (void)store.List();
    (void)store.Gc(random_() % 200'000).ok();
  }

  void Ask(cache::Store& store) {
    const Request request{static_cast<int>(random_() % kModules)};
    const Result<cache::Outcome> outcome = cache::GetOrCompute(store, request, nullptr, Compile);
    if (!outcome.ok()) {
      ++score_.failures;
      return;
    }
    ++score_.requests;
    ++(outcome->hit() ? score_.hits : score_.misses);
    score_.damage_found += cache::IsDamage(outcome->event.outcome) ? 1 : 0;
    score_.wrong += outcome->entry->image == ImageOf(request.module) ? 0 : 1;
  }

  // A damaged cache cannot be exported, and what was exported whole is imported or too large.
  void MoveBundle(cache::Store& store) {
    const std::string path = fmt::format("{}/bundle.{}", folder_, getpid());
    if (!cache::Export(store, path, {}, nullptr).ok()) return;
    cache::CacheConfig config;
    config.dir = fmt::format("{}/import.{}", folder_, getpid());
    cache::Store other(config);
    if (!cache::Import(other, path, nullptr).ok() || !other.Verify(nullptr).damaged.empty()) {
      ++score_.wrong;
    }
    ++score_.bundles;
    std::error_code ignored;
    std::filesystem::remove_all(config.dir, ignored);
    std::filesystem::remove(path, ignored);
  }

  std::string folder_;
  Random random_;
  Scoreboard& score_;
};

pid_t Start(const std::string& folder, std::uint64_t seed) {
  const pid_t pid = fork();
  LIJIT_CHECK(pid >= 0);
  if (pid == 0) Worker(folder, seed).Run();
  return pid;
}

// Ends a worker; it must have been alive.
void Kill(pid_t pid, Scoreboard& score) {
  kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  ++(killed ? score.kills : score.crashes);
}

void RunWorkers(const Options& options, const std::string& folder, Scoreboard& score) {
  Random random(options.seed);
  std::vector<pid_t> workers;
  for (int i = 0; i < options.processes; ++i) workers.push_back(Start(folder, random()));
  const Clock::time_point end = Clock::now() + std::chrono::seconds(options.seconds);
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + random() % 40));
    pid_t& victim = workers[random() % workers.size()];
    Kill(victim, score);
    victim = Start(folder, random());
  }
  for (const pid_t worker : workers) Kill(worker, score);
}

// Once the storm is over, everything is found or rebuilt, and then found.
void CheckCalm(const std::string& folder, Scoreboard& score) {
  for (const bool must_hit : {false, true}) {
    cache::CacheConfig config;
    config.dir = folder + "/cache";
    cache::Store store(config);
    for (int module = 0; module < kModules; ++module) {
      const auto outcome = cache::GetOrCompute(store, Request{module}, nullptr, Compile);
      const bool right = outcome.ok() && outcome->entry->image == ImageOf(module);
      score.wrong += right && (outcome->hit() || !must_hit) ? 0 : 1;
    }
    score.wrong += store.Verify(nullptr).damaged.empty() ? 0 : 1;
  }
}

bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view value = argv[i + 1];
    const auto read = [&](auto& number) {
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
      return parsed.ec == std::errc() && parsed.ptr == value.data() + value.size() && number > 0;
    };
    const bool good = std::strcmp(argv[i], "--seconds") == 0     ? read(options.seconds)
                      : std::strcmp(argv[i], "--processes") == 0 ? read(options.processes)
                      : std::strcmp(argv[i], "--seed") == 0      ? read(options.seed)
                                                                 : false;
    if (!good) return false;
  }
  return argc % 2 == 1;
}

int Main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    fmt::print(stderr, "cache_torture [--seconds S] [--processes P] [--seed N]\n");
    return 2;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "lijit-torture-XXXXXX").string();
  LIJIT_CHECK(mkdtemp(folder.data()) != nullptr);
  Scoreboard& score = SharedScoreboard();
  g_score = &score;
  RunWorkers(options, folder, score);
  CheckCalm(folder, score);
  std::filesystem::remove_all(folder);
  fmt::print("{} processes for {} s, seed {}:\n{}", options.processes, options.seconds,
             options.seed, score.ToText());
  return score.good() ? 0 : 1;
}

}  // namespace
}  // namespace lijit::torture

int main(int argc, char** argv) { return lijit::torture::Main(argc, argv); }
