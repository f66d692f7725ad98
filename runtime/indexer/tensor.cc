// SPDX-License-Identifier: Apache-2.0
#include "lijit/tensor.h"

#include <fmt/format.h>

#include <limits>

#include "lijit/result.h"

namespace lijit {
namespace {

struct DTypeRow {
  std::string_view name;
  int bytes;
};
constexpr DTypeRow kDTypes[] = {{"u8", 1},  {"i32", 4},  {"i64", 8},
                                {"f32", 4}, {"bf16", 2}, {"f16", 2}};

// The product, or the largest number if it is beyond that. Shapes are the caller's and unchecked.
std::int64_t MultiplyCapped(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

}  // namespace

std::string_view DTypeName(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].name; }
int DTypeBytes(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].bytes; }

Tensor Tensor::Contiguous(DeviceAddress data, DType dtype,
                          std::initializer_list<std::int64_t> shape) {
  LIJIT_CHECK(shape.size() <= kMaxRank);
  Tensor tensor;
  tensor.data = data;
  tensor.dtype = dtype;
  for (const std::int64_t size : shape)
    tensor.shape[static_cast<std::size_t>(tensor.rank++)] = size;
  std::int64_t stride = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    tensor.stride[static_cast<std::size_t>(i)] = stride;
    stride = MultiplyCapped(stride, tensor.shape[static_cast<std::size_t>(i)]);
  }
  return tensor;
}

Tensor Tensor::WithStride(int dimension, std::int64_t elements) const {
  Tensor tensor = *this;
  tensor.stride[static_cast<std::size_t>(dimension)] = elements;
  return tensor;
}

std::int64_t Tensor::elements() const {
  std::int64_t count = rank == 0 ? 0 : 1;
  for (int i = 0; i < rank; ++i) count = MultiplyCapped(count, shape[static_cast<std::size_t>(i)]);
  return count;
}

std::string Tensor::ToText() const {
  std::string sizes;
  for (int i = 0; i < rank; ++i) {
    sizes += fmt::format("{}{}", i > 0 ? ", " : "", shape[static_cast<std::size_t>(i)]);
  }
  return rank == 0 ? "no tensor" : fmt::format("{} [{}]", DTypeName(dtype), sizes);
}

}  // namespace lijit
