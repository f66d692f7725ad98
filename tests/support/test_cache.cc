// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_cache.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace lijit::tests {
namespace {

std::size_t Size(std::int64_t number) { return static_cast<std::size_t>(number); }

std::int64_t PagesOf(std::int64_t keys, std::int64_t page) { return (keys + page - 1) / page; }

}  // namespace

Slab::Slab(Device& device, std::int64_t bytes)
    : owner_(device),
      memory_(device),
      pages_(Size(bytes)),
      host_(reinterpret_cast<std::uint8_t*>(pages_.data())),
      bytes_(bytes),
      device_(memory_.Raw(DType::kU8, {bytes})) {
  LIJIT_CHECK(host_ != nullptr);
}

void Slab::Upload(std::int64_t at, std::int64_t bytes) {
  const auto place = device_.data + static_cast<DeviceAddress>(at);
  EXPECT_TRUE(owner_.CopyToDevice(place, host_ + at, Size(bytes)).ok());
}

void Slab::Poison(std::int64_t at, std::int64_t bytes) {
  std::memset(host_ + at, kPoison, Size(bytes));
  Upload(at, bytes);
}

::testing::AssertionResult Slab::IsSame(std::int64_t at, std::int64_t bytes) {
  Tensor part = device_;
  part.data += static_cast<DeviceAddress>(at);
  part.shape[0] = bytes;
  return SameBytes(memory_.Read<std::uint8_t>(part), host().subspan(Size(at), Size(bytes)));
}

TestCache::TestCache(TestIndexer& indexer, CacheOptions options)
    : indexer_(indexer), options_(std::move(options)), memory_(indexer.device()) {
  CacheOptions& o = options_;
  const std::int64_t page = indexer.config().page;
  std::int64_t needed = 0, longest = 0, keys = 0;
  for (const int length : o.lengths) {
    keys += length;
    needed += PagesOf(length, page);
    longest = std::max(longest, PagesOf(length, page));
  }
  if (o.page_stride == 0) o.page_stride = indexer->page_bytes();
  if (o.page_count == 0) o.page_count = needed + 2;
  if (o.table_width == 0) o.table_width = std::max<std::int64_t>(longest, 1);
  if (o.pages.empty()) {
    o.pages.resize(Size(o.page_count));
    std::iota(o.pages.begin(), o.pages.end(), 0);
    std::mt19937_64 random(o.seed);
    std::shuffle(o.pages.begin(), o.pages.end(), random);
  }
  if (o.slab == nullptr) {
    o.slab = std::make_shared<Slab>(
        indexer.device(),
        o.slab_offset + (o.page_count - 1) * o.page_stride + indexer->page_bytes());
  }
  if (o.keys.empty()) o.keys = RandomRows(keys, indexer.dim(), o.seed + 1);
  Assign();
}

// Gives every request its pages and writes its keys as the evaluator does.
void TestCache::Assign() {
  table_.assign(Size(requests() * options_.table_width), -1);
  std::size_t next = 0;
  std::vector<std::int64_t> slots;
  for (std::int64_t b = 0; b < requests(); ++b) {
    const std::int64_t length = lengths()[Size(b)];
    for (std::int64_t i = 0; i < PagesOf(length, indexer_.config().page); ++i) {
      Entry(b, i) = options_.pages[next++];
    }
    for (std::int64_t n = 0; n < length; ++n) slots.push_back(Slot(b, n));
  }
  // Keys as they are, whatever the indexer's rotation.
  const ir::EvaluatedRows rows = indexer_.EncodeKeys(options_.keys);
  const auto value_bytes = Size(indexer_.row().values),
             scale_bytes = Size(indexer_.row().key_scales);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto copy = [&](std::int64_t at, std::span<const std::uint8_t> from, std::size_t bytes) {
      const auto row = from.subspan(i * bytes, bytes);
      std::copy(row.begin(), row.end(), slab().host().begin() + at);
      slab().Upload(at, static_cast<std::int64_t>(bytes));
    };
    copy(ValuesAt(slots[i]), rows.values, value_bytes);
    copy(ScalesAt(slots[i]), rows.scales, scale_bytes);
  }
}

std::int64_t TestCache::ValuesAt(std::int64_t slot) const {
  const auto& [formats, layouts, kernels] = indexer_.Module(ir::KernelKind::kWriteCache);
  const int stride = layouts[0].ValueStride(formats[0], static_cast<int>(indexer_.dim()));
  return PageAt(slot / layouts[0].tokens) + slot % layouts[0].tokens * stride;
}

std::int64_t TestCache::ScalesAt(std::int64_t slot) const {
  const auto& [formats, layouts, kernels] = indexer_.Module(ir::KernelKind::kWriteCache);
  const int dim = static_cast<int>(indexer_.dim());
  return PageAt(slot / layouts[0].tokens) + layouts[0].ScaleBase(formats[0], dim) +
         slot % layouts[0].tokens * layouts[0].ScaleStride(formats[0], dim);
}

CachePool TestCache::pool() const {
  const auto offset = static_cast<DeviceAddress>(options_.slab_offset);
  return indexer_->Pool(options_.slab->address() + offset, options_.page_stride,
                        options_.page_count);
}

Tensor TestCache::block_table() {
  return memory_.Put(table_, {requests(), options_.table_width}, {options_.table_stride});
}

ir::ConstPages TestCache::pages() const {
  return {options_.slab->host().subspan(Size(options_.slab_offset)), options_.page_stride,
          options_.page_count};
}

ir::BlockTable TestCache::table() const {
  return {table_, options_.table_width, options_.table_width};
}

std::int32_t& TestCache::Entry(std::int64_t request, std::int64_t column) {
  return table_[Size(request * options_.table_width + column)];
}

std::int64_t TestCache::Slot(std::int64_t request, std::int64_t key) {
  const std::int64_t page = indexer_.config().page;
  return Entry(request, key / page) * page + key % page;
}

std::int64_t TestCache::PageAt(std::int64_t page) const {
  return options_.slab_offset + page * options_.page_stride;
}

void TestCache::SetScale(std::int64_t request, std::int64_t key, int block, std::uint8_t code) {
  const std::int64_t at = ScalesAt(Slot(request, key)) + block;
  slab().host()[Size(at)] = code;
  slab().Upload(at, 1);
}

void TestCache::MovePage(std::int64_t from, std::int64_t to) {
  const std::int64_t bytes = indexer_->page_bytes();
  std::memcpy(slab().host().data() + PageAt(to), slab().host().data() + PageAt(from), Size(bytes));
  slab().Upload(PageAt(to), bytes);
  slab().Poison(PageAt(from), bytes);
}

}  // namespace lijit::tests
