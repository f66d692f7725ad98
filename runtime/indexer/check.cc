// SPDX-License-Identifier: Apache-2.0
#include "runtime/indexer/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace lijit::runtime {
namespace {

constexpr std::int64_t kPageAlignment = 64;
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 59;  // elements of up to 8 bytes

std::string RuleText(const TensorRule& rule) {
  std::string sizes;
  for (const std::int64_t size : rule.shape) {
    if (!sizes.empty()) sizes += ", ";
    sizes += size == kAnySize ? std::string("*") : fmt::format("{}", size);
  }
  return fmt::format("{} [{}]", DTypeName(rule.dtype), sizes);
}

bool ShapeFits(const Tensor& tensor, const TensorRule& rule) {
  if (tensor.dtype != rule.dtype || tensor.rank != static_cast<int>(rule.shape.size())) {
    return false;
  }
  std::size_t i = 0;
  for (const std::int64_t size : rule.shape) {
    const std::int64_t given = tensor.shape[i++];
    if (given < 0 || (size != kAnySize && given != size)) return false;
  }
  return true;
}

Status CheckSizes(const Tensor& tensor, const TensorRule& rule) {
  for (int i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[static_cast<std::size_t>(i)] <= kMaxSize) continue;
    return InvalidArgument(
        fmt::format("{} is {}; accepted are sizes up to 2^40", rule.name, tensor.ToText()));
  }
  return {};
}

Status CheckStrides(const Tensor& tensor, const TensorRule& rule) {
  if (tensor.elements() == 0) return {};  // whatever they are, nothing is reached by them
  std::int64_t dense = 1;
  std::int64_t extent = 0;  // steps of one element from the first to the last one
  for (int i = tensor.rank - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t stride = tensor.stride[at];
    const std::int64_t steps = tensor.shape[at] - 1;
    if (steps > 0) {
      const bool must_be_dense = i >= tensor.rank - rule.contiguous;
      if (stride < 0 || (must_be_dense && stride != dense)) {
        return InvalidArgument(fmt::format(
            "{} has stride {} in dimension {}; accepted is {}", rule.name, stride, i,
            must_be_dense
                ? fmt::format("{} (the last {} dimensions are contiguous)", dense, rule.contiguous)
                : std::string("any from 0")));
      }
      std::int64_t step = 0;
      if (__builtin_mul_overflow(stride, steps, &step) ||
          __builtin_add_overflow(extent, step, &extent) || extent > kMaxExtent) {
        return InvalidArgument(
            fmt::format("{} is {} with stride {} in dimension {}; it does not fit an address space",
                        rule.name, tensor.ToText(), stride, i));
      }
    }
    // Looked at only while all dimensions are dense, and then the extent has just been checked.
    if (__builtin_mul_overflow(dense, tensor.shape[at], &dense)) dense = kMaxExtent;
  }
  return {};
}

}  // namespace

Status CheckTensor(const Tensor& tensor, const TensorRule& rule) {
  if (!ShapeFits(tensor, rule)) {
    return InvalidArgument(
        fmt::format("{} is {}; accepted is {}", rule.name, tensor.ToText(), RuleText(rule)));
  }
  LIJIT_TRY(CheckSizes(tensor, rule));
  LIJIT_TRY(CheckStrides(tensor, rule));
  const int own = tensor.dtype == DType::kU8 ? kWordAlignment : DTypeBytes(tensor.dtype);
  const int alignment = std::max(own, rule.alignment);
  if (tensor.elements() > 0 && tensor.data == 0) {
    return InvalidArgument(fmt::format("{} is {} at the null address", rule.name, tensor.ToText()));
  }
  if (tensor.data % static_cast<DeviceAddress>(alignment) != 0) {
    return InvalidArgument(fmt::format("{} is at address {:#x}; accepted are multiples of {}",
                                       rule.name, tensor.data, alignment));
  }
  return {};
}

Status CheckOutputRows(const Tensor& tensor, const TensorRule& rule) {
  LIJIT_TRY(CheckTensor(tensor, rule));
  if (tensor.shape[0] <= 1 || tensor.stride[0] >= tensor.shape[1]) return {};
  return InvalidArgument(
      fmt::format("{} has stride {} in dimension 0, so its rows overlap; accepted is any from {}",
                  rule.name, tensor.stride[0], tensor.shape[1]));
}

Status CheckAbsent(const Tensor& tensor, std::string_view name, std::string_view why) {
  if (!IsGiven(tensor)) return {};
  return InvalidArgument(fmt::format("{} is {}; none is accepted: {}", name, tensor.ToText(), why));
}

Status CheckPool(const CachePool& pool, std::string_view format, std::int64_t page_bytes,
                 int alignment) {
  if (pool.format != format) {
    return InvalidArgument(
        fmt::format("pool was written as '{}'; this indexer reads and writes "
                    "'{}', and nothing converts one into the other",
                    pool.format, format));
  }
  if (pool.page_count < 0) {
    return InvalidArgument(
        fmt::format("pool has {} pages; accepted are 0 or more", pool.page_count));
  }
  if (pool.page_stride < page_bytes || pool.page_stride % alignment != 0) {
    return InvalidArgument(
        fmt::format("pool has page_stride {}; accepted are multiples of {} from "
                    "{} bytes, which a page takes",
                    pool.page_stride, alignment, page_bytes));
  }
  // Addresses are 64 bits, and the last page must end below 2^63.
  if (pool.page_count > 0 && pool.page_stride > (std::int64_t{1} << 62) / pool.page_count) {
    return InvalidArgument(fmt::format("pool of {} pages of {} bytes does not fit an address space",
                                       pool.page_count, pool.page_stride));
  }
  if (pool.page_count > 0 && (pool.data == 0 || pool.data % kPageAlignment != 0)) {
    return InvalidArgument(fmt::format("pool is at address {:#x}; accepted are multiples of {}",
                                       pool.data, kPageAlignment));
  }
  return {};
}

Status CheckRange(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return {};
  return InvalidArgument(fmt::format("{} is {}; accepted are {} to {}", name, value, low, high));
}

}  // namespace lijit::runtime
