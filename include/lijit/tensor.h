// SPDX-License-Identifier: Apache-2.0
// A view of device memory with a type, a shape and strides; owns nothing.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "lijit/device.h"

namespace lijit {

enum class DType : std::uint8_t { kU8, kI32, kI64, kF32, kBf16, kF16 };

std::string_view DTypeName(DType dtype);
int DTypeBytes(DType dtype);

inline constexpr int kMaxRank = 4;

struct Tensor {
  DeviceAddress data = 0;
  DType dtype = DType::kF32;
  int rank = 0;
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> stride{};  // in elements

  // A contiguous tensor, last dimension fastest.
  static Tensor Contiguous(DeviceAddress data, DType dtype,
                           std::initializer_list<std::int64_t> shape);
  // The same with the first dimension `first_stride` elements apart.
  Tensor WithStride(int dimension, std::int64_t elements) const;

  std::int64_t elements() const;
  // "f32 [4, 128]".
  std::string ToText() const;
};

// No tensor: an optional argument that is not given.
inline constexpr Tensor kNoTensor{};
inline bool IsGiven(const Tensor& tensor) { return tensor.rank != 0; }

}  // namespace lijit
