// SPDX-License-Identifier: Apache-2.0
// Measures the score kernels on a GPU: each shape is verified in every number that it writes, then
// timed as replays of a graph. Reports of two libraries are compared row by row.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/indexer.h"
#include "lijit/result.h"

namespace lijit {

// One row of a table: decode ("paged": batch, context, next_n) or prefill ("ragged": queries, keys,
// causal).
struct BenchShape {
  std::string op = "paged";
  int heads = 64;
  std::int64_t batch = 1;
  std::int64_t context = 4096;  // keys a request
  int next_n = 1;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  bool causal = false;  // the queries are the last of the keys' positions; else all see all keys

  bool operator==(const BenchShape&) const = default;
  bool is_paged() const { return op == "paged"; }
  // Keys that all query rows see together.
  std::int64_t pairs() const;
};

// "deepgemm": the 64 shapes that DeepGEMM was measured with. InvalidArgument lists the names.
Result<std::vector<BenchShape>> NamedShapes(std::string_view name);

struct BenchRequest {
  RuntimeOptions runtime;
  // One a format; `heads` is each shape's.
  std::vector<IndexerConfig> indexers;
  std::vector<BenchShape> shapes;
  bool time = true;  // false: verify only; the emulated device cannot do more
  int replays = 60;  // of a graph, timed one by one
  // Decode reads pages of at least this many bytes before it returns to the first, so that no cache
  // of the device still holds them.
  std::int64_t rotated_bytes = std::int64_t{256} << 20;
  std::uint64_t seed = 0;
  std::function<void(int done, int total)> progress;
};

// What a row came to. Times are of one call.
struct BenchRow {
  BenchShape shape;
  std::string format, schedule, backend, target;
  // Every number equals the evaluator's: in every bit, or, for FP8 on tensor cores, calc_diff is
  // within docs/numerics.md. What was not to be written was not.
  bool verified = false;
  bool bitwise_equal = false;
  double calc_diff = 0;
  std::int64_t compared = 0;  // numbers
  std::string problem;        // why it is not verified or not timed, or ""

  std::int64_t pairs = 0;
  std::int64_t bytes = 0;    // every input once, every visible logit once
  std::optional<double> us;  // median; what lies beyond a row's keys is not written
  std::optional<double> us_p90;
  std::optional<double> us_with_clean;  // median; -inf there (ragged)
  double gpairs = 0, tflops = 0, gbps = 0;
  std::string limit;                  // "memory" or "tensor": the larger of the two least times
  std::optional<double> limit_share;  // that least time over the median; of GPUs in gpus.def
  int calls = 0, replays = 0;         // calls a graph, timed replays
  std::optional<unsigned> sm_mhz;     // right after the replays
  std::optional<double> watts;
};

struct BenchReport {
  bool ok = false;  // every row is verified, and timed if that was asked for
  std::string device, driver;
  int multiprocessors = 0;
  std::string state;  // clocks, power and temperature before the first row, or why unknown
  std::string
      limits;  // what limit_share is of, and where that was published; or that it is not known
  std::string method;
  std::vector<BenchRow> rows;
};

// InvalidArgument: shapes that there are none of. Unavailable: times on a device without a clock. A
// row that fails says so and the next one is tried.
Result<BenchReport> Bench(const BenchRequest& request);

// A row of ours or of a peer, as far as comparing needs it.
struct BenchTime {
  BenchShape shape;
  std::string format;  // "" for a peer's
  double us = 0;
  double metadata_us = 0;  // of a kernel that each step needs besides
};

struct BenchComparison {
  struct Row {
    BenchTime ours, peer;
    std::string group;
    double ratio = 0;         // the peer's time over ours: above 1 we are faster
    double ratio_kernel = 0;  // the same without metadata kernels
  };
  struct Group {
    std::string format, name;
    int rows = 0;
    double ratio = 0;  // geometric mean
    double least = 0;  // the smallest
  };
  std::vector<Row> rows;  // shapes that both have
  std::vector<Group> groups;
  int unmatched = 0;  // rows of ours that the peer has not
};

// Groups: "prefill"; "decode large", 2 million keys or more in all requests; "decode small", where
// start-up counts and the metadata kernel with it.
BenchComparison CompareTimes(std::span<const BenchTime> ours, std::span<const BenchTime> peer);

}  // namespace lijit
