// SPDX-License-Identifier: Apache-2.0
// Device memory of a test: filled, poisoned or left uninitialized, read back whole.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "lijit/device.h"
#include "lijit/tensor.h"
#include "runtime/run/buffer.h"

namespace lijit::tests {

// What every byte of an output holds before a kernel runs: as f32 it is a number, -4.3e8.
inline constexpr std::uint8_t kPoison = 0xcd;

template <typename T>
inline constexpr DType kDTypeOf = sizeof(T) == 1 ? DType::kU8 : DType::kI64;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::kI32;
template <>
inline constexpr DType kDTypeOf<float> = DType::kF32;

using Sizes = std::vector<std::int64_t>;

class TestMemory {
 public:
  explicit TestMemory(Device& device) : device_(device) {}

  // `data` is row-major. `strides` (elements, 0: dense) may leave gaps, which stay uninitialized:
  // a kernel that reads one is found out. Nothing lies behind the last element.
  template <typename T>
  Tensor Put(const std::vector<T>& data, const Sizes& shape, const Sizes& strides = {}) {
    return PutBytes(std::as_bytes(std::span(data)), kDTypeOf<T>, shape, strides);
  }
  // Rounds the numbers to `dtype`, in place, too.
  Tensor PutNumbers(std::vector<float>& numbers, DType dtype, const Sizes& shape,
                    const Sizes& strides = {});
  Tensor PutBytes(std::span<const std::byte> data, DType dtype, const Sizes& shape,
                  const Sizes& strides = {});

  // An output. Gaps between rows are poisoned, too, unless the whole is very large.
  Tensor Poisoned(DType dtype, const Sizes& shape, std::int64_t row_stride = 0);
  // An output or a pool that costs nothing but the pages that are touched.
  Tensor Raw(DType dtype, const Sizes& shape, std::int64_t row_stride = 0);

  // Overwrites the elements of a tensor.
  template <typename T>
  void Write(const Tensor& tensor, const std::vector<T>& data) {
    WriteBytes(tensor, std::as_bytes(std::span(data)));
  }
  void WriteBytes(const Tensor& tensor, std::span<const std::byte> data);

  // The elements, row-major, without what lies between the rows of the last dimension.
  template <typename T>
  std::vector<T> Read(const Tensor& tensor) {
    std::vector<T> data(static_cast<std::size_t>(tensor.elements()));
    ReadBytes(tensor, std::as_writable_bytes(std::span(data)));
    return data;
  }
  // Whether nobody wrote between the rows of an output.
  ::testing::AssertionResult GapsArePoisoned(const Tensor& tensor);

 private:
  void ReadBytes(const Tensor& tensor, std::span<std::byte> data);

  Device& device_;
  std::deque<runtime::Buffer> buffers_;
};

// A tensor at `data`; strides as above.
Tensor ViewOf(DeviceAddress data, DType dtype, const Sizes& shape, const Sizes& strides = {});

// The last `count` of the tensor's first dimension.
Tensor TailOf(const Tensor& tensor, std::int64_t count);

// Equal in every bit, NaN equal to NaN. Says how many places differ, and the first one.
::testing::AssertionResult SameBits(std::span<const float> got, std::span<const float> wanted);
::testing::AssertionResult SameBytes(std::span<const std::uint8_t> got,
                                     std::span<const std::uint8_t> wanted);

}  // namespace lijit::tests
