// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string_view>

#include "lijit/bench.h"

namespace lijit {
namespace {

constexpr std::int64_t kManyKeys = 2'000'000;

struct GroupRow {
  std::string_view name;
  bool counts_metadata;
};
constexpr GroupRow kPrefill = {"prefill", false};
constexpr GroupRow kDecodeLarge = {"decode large", false};
constexpr GroupRow kDecodeSmall = {"decode small", true};

const GroupRow& GroupOf(const BenchShape& shape) {
  if (!shape.is_paged()) return kPrefill;
  return shape.batch * shape.context >= kManyKeys ? kDecodeLarge : kDecodeSmall;
}

const BenchTime* PeerOf(const BenchTime& ours, std::span<const BenchTime> peer) {
  for (const BenchTime& row : peer) {
    const bool same_format = row.format.empty() || row.format == ours.format;
    if (same_format && row.shape == ours.shape && row.us > 0) return &row;
  }
  return nullptr;
}

// The group of the row, made if there is none yet.
BenchComparison::Group& GroupFor(BenchComparison& comparison, const std::string& format,
                                 std::string_view name) {
  for (BenchComparison::Group& group : comparison.groups) {
    if (group.format == format && group.name == name) return group;
  }
  comparison.groups.push_back({format, std::string(name), 0, 0, 0});
  return comparison.groups.back();
}

}  // namespace

BenchComparison CompareTimes(std::span<const BenchTime> ours, std::span<const BenchTime> peer) {
  BenchComparison comparison;
  for (const BenchTime& row : ours) {
    const BenchTime* const other = PeerOf(row, peer);
    if (other == nullptr || row.us <= 0) {
      ++comparison.unmatched;
      continue;
    }
    const GroupRow& group = GroupOf(row.shape);
    BenchComparison::Row pair = {row, *other, std::string(group.name), 0, 0};
    pair.ratio_kernel = other->us / row.us;
    pair.ratio = group.counts_metadata
                     ? (other->us + other->metadata_us) / (row.us + row.metadata_us)
                     : pair.ratio_kernel;
    BenchComparison::Group& total = GroupFor(comparison, row.format, group.name);
    total.least = total.rows == 0 ? pair.ratio : std::min(total.least, pair.ratio);
    total.ratio += std::log(pair.ratio);  // a sum until all rows are in
    ++total.rows;
    comparison.rows.push_back(std::move(pair));
  }
  for (BenchComparison::Group& group : comparison.groups) {
    group.ratio = std::exp(group.ratio / group.rows);
  }
  return comparison;
}

}  // namespace lijit
