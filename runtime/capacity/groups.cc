// SPDX-License-Identifier: Apache-2.0
#include "runtime/capacity/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/capacity/checked.h"
#include "runtime/capacity/validate.h"

namespace lijit::capacity {
namespace {

std::int64_t IndexerRowBytes(std::int64_t head_dim, IndexerFormat format) {
  // fp8: an f32 scale for each 128 elements; mxfp4: a UE8M0 byte for each 32.
  if (format == IndexerFormat::kFp8) return head_dim + 4 * CeilDivide(head_dim, 128);
  return head_dim / 2 + head_dim / 32;
}

std::int64_t RowBytesOf(const Request& request, const Cache& cache, IndexerFormat indexer) {
  if (cache.row_bytes != 0) return cache.row_bytes;
  if (cache.role != Role::kIndexer) return LatentRowBytes(request);
  // Before #48993 an mxfp4 row was given the space of an fp8 row.
  const bool as_fp8 = request.pool == Pool::kBuckets;
  return IndexerRowBytes(request.model.indexer_head_dim, as_fp8 ? IndexerFormat::kFp8 : indexer);
}

std::int64_t AlignmentOf(const Layout& layout, Role role) {
  const std::int64_t by_role[] = {layout.latent, layout.indexer, layout.window, layout.state};
  return by_role[static_cast<int>(role)];
}

// Before #48993 a window's page was padded to the next page size of the whole context's caches.
void PadToFullPages(const Model& model, std::vector<Page>& pages) {
  std::vector<std::int64_t> sizes;
  for (const Page& page : pages) {
    if (model.caches[page.cache].window == 0) sizes.push_back(page.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  for (Page& page : pages) {
    if (model.caches[page.cache].window == 0) continue;
    const auto next = std::lower_bound(sizes.begin(), sizes.end(), page.bytes);
    if (next != sizes.end()) page.bytes = *next;
  }
}

// A layer's page.
struct Slot {
  int layer;
  std::size_t cache;
};

// Caches of the same window and block size.
struct Bucket {
  std::int64_t window, block_tokens;
  std::vector<std::size_t> caches;
  std::map<std::int64_t, std::vector<Slot>> slots;  // by page size, ascending by layer

  std::int64_t layers() const { return static_cast<std::int64_t>(slots.begin()->second.size()); }
  bool balanced() const {
    return std::all_of(slots.begin(), slots.end(), [this](const auto& size) {
      return static_cast<std::int64_t>(size.second.size()) == layers();
    });
  }
};

std::vector<int> LayersOf(const Request& request, const Cache& cache) {
  std::vector<int> layers = cache.layers;
  if (!cache.in_draft_layers) return layers;
  for (int i = 0; i < request.draft_layers; ++i) layers.push_back(request.model.layers + i);
  return layers;
}

Bucket& BucketOf(std::vector<Bucket>& buckets, const Cache& cache) {
  for (Bucket& bucket : buckets) {
    if (bucket.window == cache.window && bucket.block_tokens == cache.block_tokens) return bucket;
  }
  buckets.push_back({cache.window, cache.block_tokens, {}, {}});
  return buckets.back();
}

std::vector<Bucket> MakeBuckets(const Request& request, const std::vector<Page>& pages) {
  std::vector<Bucket> buckets;
  for (const Page& page : pages) {
    const Cache& cache = request.model.caches[page.cache];
    Bucket& bucket = BucketOf(buckets, cache);
    bucket.caches.push_back(page.cache);
    for (const int layer : LayersOf(request, cache)) {
      bucket.slots[page.bytes].push_back({layer, page.cache});
    }
  }
  for (Bucket& bucket : buckets) {
    for (auto& [size, slots] : bucket.slots) {
      std::stable_sort(slots.begin(), slots.end(),
                       [](const Slot& a, const Slot& b) { return a.layer < b.layer; });
    }
  }
  // The whole context's first.
  std::stable_partition(buckets.begin(), buckets.end(),
                        [](const Bucket& bucket) { return bucket.window == 0; });
  return buckets;
}

std::int64_t Padding(const std::vector<std::int64_t>& counts, std::int64_t repeats) {
  std::int64_t padding = 0;
  for (const std::int64_t count : counts) padding += CeilDivide(count, repeats) * repeats - count;
  return padding;
}

// Of those that waste least the largest. A balanced bucket of several page sizes is never cut
// finer than it is; if there is none, the smallest bucket is not.
std::int64_t ChooseRepeats(const std::vector<Bucket>& buckets) {
  std::vector<std::int64_t> counts;
  std::int64_t low = 0;
  for (const Bucket& bucket : buckets) {
    if (!bucket.balanced()) continue;
    counts.push_back(bucket.layers());
    if (bucket.slots.size() > 1) low = std::max(low, bucket.layers());
  }
  if (counts.empty()) return 0;
  if (low == 0) low = *std::min_element(counts.begin(), counts.end());
  std::int64_t best = low;
  for (std::int64_t each = low; each <= *std::max_element(counts.begin(), counts.end()); ++each) {
    if (Padding(counts, each) <= Padding(counts, best)) best = each;
  }
  return best;
}

std::string GroupName(const Model& model, const Bucket& bucket, std::int64_t part,
                      std::int64_t parts) {
  std::string name;
  for (const std::size_t cache : bucket.caches) {
    name += (name.empty() ? "" : " + ") + model.caches[cache].name;
  }
  return parts == 1 ? name : fmt::format("{}, part {} of {}", name, part + 1, parts);
}

void AddLayer(Group& group, const Slot& slot) {
  for (Group::Member& member : group.members) {
    if (member.cache == slot.cache) return member.layers.push_back(slot.layer);
  }
  group.members.push_back({slot.cache, {slot.layer}});
}

// Every `parts`-th layer from `part` on, of each page size.
Group PartOf(const Model& model, const Bucket& bucket, std::int64_t part, std::int64_t parts) {
  Group group;
  group.name = GroupName(model, bucket, part, parts);
  group.block_tokens = bucket.block_tokens;
  group.window = bucket.window;
  for (const auto& [size, slots] : bucket.slots) {
    for (auto i = static_cast<std::size_t>(part); i < slots.size();
         i += static_cast<std::size_t>(parts)) {
      AddLayer(group, slots[i]);
    }
  }
  std::sort(group.members.begin(), group.members.end(),
            [](const auto& a, const auto& b) { return a.cache < b.cache; });
  return group;
}

// Layers of the member between `first` and `end`.
std::int64_t LayersBetween(const Group::Member& member, int first, int end) {
  return std::count_if(member.layers.begin(), member.layers.end(),
                       [=](int layer) { return layer >= first && layer < end; });
}

Checked PageBytesBetween(const Group& group, const std::vector<Page>& pages, int first, int end) {
  Checked bytes;
  for (const Group::Member& member : group.members) {
    bytes += Checked(LayersBetween(member, first, end)) * pages[member.cache].bytes;
  }
  return bytes;
}

// For each page size, as many slots as the group with most layers of it needs.
Checked BucketedBytes(const std::vector<Page>& pages, const std::vector<Group>& groups, int first,
                      int end) {
  std::map<std::int64_t, std::int64_t> slots;
  for (const Group& group : groups) {
    std::map<std::int64_t, std::int64_t> of_group;
    for (const Group::Member& member : group.members) {
      of_group[pages[member.cache].bytes] += LayersBetween(member, first, end);
    }
    for (const auto& [size, count] : of_group) slots[size] = std::max(slots[size], count);
  }
  Checked bytes;
  for (const auto& [size, count] : slots) bytes += Checked(size) * count;
  return bytes;
}

}  // namespace

Result<std::vector<Page>> MakePages(const Request& request, IndexerFormat indexer) {
  std::vector<Page> pages;
  for (std::size_t i = 0; i < request.model.caches.size(); ++i) {
    const Cache& cache = request.model.caches[i];
    Page page;
    page.cache = i;
    page.rows = cache.block_tokens / cache.ratio;
    page.row_bytes = RowBytesOf(request, cache, indexer);
    page.alignment = AlignmentOf(*request.layout, cache.role);
    const std::string what = fmt::format("page of cache '{}'", cache.name);
    LIJIT_ASSIGN(page.natural_bytes, (Checked(page.rows) * page.row_bytes).Get(what));
    LIJIT_ASSIGN(page.bytes, RoundUp(page.natural_bytes, page.alignment).Get(what));
    pages.push_back(page);
  }
  if (request.pool == Pool::kBuckets) PadToFullPages(request.model, pages);
  return pages;
}

Result<Grouping> MakeGroups(const Request& request, const std::vector<Page>& pages) {
  const std::vector<Bucket> buckets = MakeBuckets(request, pages);
  Grouping grouping;
  grouping.repeats = ChooseRepeats(buckets);
  for (const Bucket& bucket : buckets) {
    const std::int64_t parts =
        bucket.balanced() ? CeilDivide(bucket.layers(), grouping.repeats) : 1;
    for (std::int64_t part = 0; part < parts; ++part) {
      Group group = PartOf(request.model, bucket, part, parts);
      LIJIT_ASSIGN(group.page_bytes, PageBytesBetween(group, pages, 0, AllLayers(request))
                                         .Get(fmt::format("pages of group '{}'", group.name)));
      grouping.groups.push_back(std::move(group));
    }
  }
  return grouping;
}

Result<BlockSize> SizeOfBlock(const Request& request, const std::vector<Page>& pages,
                              const std::vector<Group>& groups, int first, int end) {
  BlockSize size;
  for (const Group& group : groups) {
    LIJIT_ASSIGN(const std::int64_t bytes,
                 PageBytesBetween(group, pages, first, end).Get("bytes of a block"));
    size.group_bytes.push_back(bytes);
  }
  size.bytes = *std::max_element(size.group_bytes.begin(), size.group_bytes.end());
  if (request.pool == Pool::kBuckets) {
    LIJIT_ASSIGN(size.bytes, BucketedBytes(pages, groups, first, end).Get("bytes of a block"));
  }
  return size;
}

}  // namespace lijit::capacity
