// SPDX-License-Identifier: Apache-2.0
// How long a call of a case takes: graphs of many calls, replayed and timed by the device.
#pragma once

#include <memory>
#include <span>

#include "lijit/device.h"
#include "lijit/result.h"
#include "runtime/bench/score_case.h"

namespace lijit::runtime {

// `calls` calls, the sets in turn. The case's kernel must be loaded.
Result<std::unique_ptr<Graph>> RecordCalls(Device& device, const ScoreCase& score, Tail tail,
                                           int calls);

struct CallTimes {
  double us = 0, us_p90 = 0;  // of one call, over the replays
  int calls = 0;              // a graph
  int replays = 0;            // of the graph; fewer than wanted where those would take many seconds
};
// Of graphs that hold every set at least once and take about a millisecond.
Result<CallTimes> MeasureCalls(Device& device, const ScoreCase& score, Tail tail, int replays);

// The value that `share` of the samples do not exceed (nearest rank). There is at least one.
double Percentile(std::span<const double> samples, double share);

}  // namespace lijit::runtime
