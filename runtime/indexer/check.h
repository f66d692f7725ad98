// SPDX-License-Identifier: Apache-2.0
// Checks of arguments before a launch. Each says which argument is wrong, what it is and what is
// accepted.
#pragma once

#include <initializer_list>
#include <string_view>

#include "lijit/indexer.h"
#include "lijit/result.h"
#include "lijit/tensor.h"

namespace lijit::runtime {

// A size that may be anything from 0.
inline constexpr std::int64_t kAnySize = -1;
inline constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;
// Of codes, which are read as words of 32 bits by every kernel; some schedules ask for more.
inline constexpr int kWordAlignment = 4;

// What a tensor must be. Strides of dimensions before the last `contiguous` ones may be anything
// from 0; dimensions of one element, and tensors of none, may have any stride. No size is above
// kMaxSize, and all of it fits an address space.
struct TensorRule {
  std::string_view name;
  DType dtype;
  std::initializer_list<std::int64_t> shape;
  int contiguous = 1;  // how many of the last dimensions are contiguous
  int alignment = 0;   // of the address; 0: an element's, of u8 4
};
Status CheckTensor(const Tensor& tensor, const TensorRule& rule);

// The same for an output of two dimensions, whose rows must not overlap.
Status CheckOutputRows(const Tensor& tensor, const TensorRule& rule);

// A tensor that has to be absent, since the format does not store it.
Status CheckAbsent(const Tensor& tensor, std::string_view name, std::string_view why);

// `alignment`: of which page_stride is a multiple.
Status CheckPool(const CachePool& pool, std::string_view format, std::int64_t page_bytes,
                 int alignment = kWordAlignment);

Status CheckRange(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high);

}  // namespace lijit::runtime
