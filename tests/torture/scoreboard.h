// SPDX-License-Identifier: Apache-2.0
// Counts in memory that all processes of the torture share; a killed process loses none.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace lijit::torture {

// Rows: member, what is printed.
#define LIJIT_TORTURE_SCORES(ROW)                      \
  ROW(requests, "requests answered")                   \
  ROW(hits, "hits")                                    \
  ROW(misses, "misses, of which")                      \
  ROW(damage_found, "  for damage")                    \
  ROW(compiles, "compiles")                            \
  ROW(lock_timeouts, "locks given up")                 \
  ROW(evictions, "entries evicted")                    \
  ROW(bundles, "bundles exported and imported")        \
  ROW(flips, "bytes changed")                          \
  ROW(cuts, "files cut")                               \
  ROW(swaps, "entries overwritten by another's bytes") \
  ROW(removals, "files and folders removed")           \
  ROW(kills, "processes killed")                       \
  ROW(wrong, "WRONG RESULTS")                          \
  ROW(failures, "FAILED REQUESTS")                     \
  ROW(crashes, "CRASHES")

struct Scoreboard {
#define LIJIT_MEMBER(member, text) std::atomic<std::uint64_t> member{0};
  LIJIT_TORTURE_SCORES(LIJIT_MEMBER)
#undef LIJIT_MEMBER

  bool good() const { return wrong == 0 && failures == 0 && crashes == 0; }
  std::string ToText() const;
};

// In memory that children share. Lives as long as the process.
Scoreboard& SharedScoreboard();

}  // namespace lijit::torture
