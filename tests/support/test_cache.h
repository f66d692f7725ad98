// SPDX-License-Identifier: Apache-2.0
// A key cache on an emulated device, and the same bytes on the host for the evaluator. Only what
// keys occupy is initialized on the device, so a kernel that reads anything else is found out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/emulator/global_memory.h"
#include "tests/support/test_indexer.h"
#include "tests/support/test_memory.h"

namespace lijit::tests {

// Memory for pools on both sides, mapped as it is touched: it may be larger than the machine's.
class Slab {
 public:
  Slab(Device& device, std::int64_t bytes);

  std::span<std::uint8_t> host() { return {host_, static_cast<std::size_t>(bytes_)}; }
  DeviceAddress address() const { return device_.data; }
  // Copies host bytes to the device, which initializes them.
  void Upload(std::int64_t at, std::int64_t bytes);
  // Both sides become kPoison.
  void Poison(std::int64_t at, std::int64_t bytes);
  // Whether the device holds what the host does.
  ::testing::AssertionResult IsSame(std::int64_t at, std::int64_t bytes);

 private:
  Device& owner_;
  TestMemory memory_;
  emulator::LazyPages pages_;
  std::uint8_t* host_;
  std::int64_t bytes_;
  Tensor device_;
};

struct CacheOptions {
  std::vector<int> lengths = {65};       // keys of each request
  std::int64_t page_stride = 0;          // bytes; 0: those of a page
  std::int64_t page_count = 0;           // 0: as many as needed and two more
  std::vector<std::int32_t> pages = {};  // in the order of their use; empty: all, shuffled
  std::int64_t table_width = 0;          // 0: as the longest request needs it, at least 1
  std::int64_t table_stride = 0;         // on the device; 0: dense
  std::shared_ptr<Slab> slab = {};       // null: one of its own
  std::int64_t slab_offset = 0;          // bytes before the first page
  std::vector<float> keys = {};          // [sum of lengths, dim]; empty: random
  std::uint64_t seed = 1;
};

class TestCache {
 public:
  TestCache(TestIndexer& indexer, CacheOptions options);

  TestIndexer& indexer() const { return indexer_; }
  std::int64_t requests() const { return static_cast<std::int64_t>(options_.lengths.size()); }
  const std::vector<int>& lengths() const { return options_.lengths; }

  CachePool pool() const;
  Tensor block_table();
  ir::ConstPages pages() const;
  ir::BlockTable table() const;

  // Entry of the table; may be changed before block_table() is called.
  std::int32_t& Entry(std::int64_t request, std::int64_t column);
  std::int64_t Slot(std::int64_t request, std::int64_t key);
  // Plants a byte of the key's block scales, on both sides.
  void SetScale(std::int64_t request, std::int64_t key, int block, std::uint8_t code);
  // Copies a page to another place, on both sides.
  void MovePage(std::int64_t from, std::int64_t to);

  Slab& slab() { return *options_.slab; }
  std::int64_t PageAt(std::int64_t page) const;  // bytes from the slab's begin

 private:
  void Assign();
  // Bytes from the slab's begin.
  std::int64_t ValuesAt(std::int64_t slot) const;
  std::int64_t ScalesAt(std::int64_t slot) const;

  TestIndexer& indexer_;
  CacheOptions options_;
  TestMemory memory_;
  std::vector<std::int32_t> table_;
};

}  // namespace lijit::tests
