// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/measure.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lijit::runtime {
namespace {

constexpr double kGraphUs = 1000;  // so that launching the graph does not count
constexpr int kMaxCalls = 1 << 14;
constexpr int kTrialReplays = 3;
constexpr double kMostUs = 3e6;  // of all replays together

// Replays once to warm up.
Result<std::vector<double>> TimeCalls(Device& device, const ScoreCase& score, Tail tail, int calls,
                                      int replays) {
  LIJIT_ASSIGN(const std::unique_ptr<Graph> graph, RecordCalls(device, score, tail, calls));
  LIJIT_TRY(graph->Launch());
  LIJIT_TRY(device.Synchronize());
  LIJIT_ASSIGN(std::vector<double> times, graph->Time(replays));
  for (double& time : times) time /= calls;
  return times;
}

int CallsFor(int sets, double us) {
  const double rounds = std::ceil(kGraphUs / (sets * std::max(us, 0.1)));
  const int most = std::max(kMaxCalls / sets, 1);
  return sets * static_cast<int>(std::clamp(rounds, 1.0, static_cast<double>(most)));
}

int ReplaysFor(double graph_us, int wanted) {
  const double most = std::max(std::floor(kMostUs / std::max(graph_us, 1.0)), 3.0);
  return static_cast<int>(std::min(most, static_cast<double>(wanted)));
}

}  // namespace

Result<std::unique_ptr<Graph>> RecordCalls(Device& device, const ScoreCase& score, Tail tail,
                                           int calls) {
  return device.Record([&](Stream stream) -> Status {
    for (int i = 0; i < calls; ++i) LIJIT_TRY(score.call(i % score.sets, tail, stream));
    return {};
  });
}

Result<CallTimes> MeasureCalls(Device& device, const ScoreCase& score, Tail tail, int replays) {
  LIJIT_ASSIGN(const auto trial, TimeCalls(device, score, tail, score.sets, kTrialReplays));
  CallTimes times;
  const double trial_us = Percentile(trial, 0.5);
  times.calls = CallsFor(score.sets, trial_us);
  times.replays = ReplaysFor(times.calls * trial_us, replays);
  LIJIT_ASSIGN(const auto samples, TimeCalls(device, score, tail, times.calls, times.replays));
  times.us = Percentile(samples, 0.5);
  times.us_p90 = Percentile(samples, 0.9);
  return times;
}

double Percentile(std::span<const double> samples, double share) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

}  // namespace lijit::runtime
