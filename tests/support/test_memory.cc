// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_memory.h"

#include <algorithm>
#include <cmath>

#include "runtime/run/inputs.h"

namespace lijit::tests {
namespace {

std::size_t Size(std::int64_t number) { return static_cast<std::size_t>(number); }

runtime::Buffer MustHave(Result<runtime::Buffer> buffer) {
  if (!buffer.ok()) AbortAt(__FILE__, __LINE__, buffer.error().message.c_str());
  return std::move(buffer).value();
}

// An output up to this size is poisoned and checked with its gaps, a larger one row by row.
constexpr std::int64_t kWholeBytes = std::int64_t{16} << 20;

// Elements from the first to the last one, gaps included; 0 if there are none.
std::int64_t Extent(const Tensor& tensor) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < Size(tensor.rank); ++i) {
    if (tensor.shape[i] == 0) return 0;
    last += (tensor.shape[i] - 1) * tensor.stride[i];
  }
  return last + 1;
}

// Elements of the pieces that lie together, at most a row of the last dimension.
std::int64_t PieceOf(const Tensor& tensor) {
  const auto last = Size(tensor.rank - 1);
  return tensor.stride[last] == 1 ? tensor.shape[last] : 1;
}

// Calls `piece(offset in elements)` for each of them, in order.
template <typename F>
void ForEachPiece(const Tensor& tensor, F piece) {
  const std::int64_t step = PieceOf(tensor);
  for (std::int64_t first = 0; first < tensor.elements(); first += step) {
    std::int64_t rest = first, offset = 0;
    for (std::size_t i = Size(tensor.rank); i-- > 0;) {
      offset += rest % tensor.shape[i] * tensor.stride[i];
      rest /= tensor.shape[i];
    }
    piece(offset);
  }
}

template <typename T, typename Same>
::testing::AssertionResult Compare(std::span<const T> got, std::span<const T> wanted, Same same) {
  if (got.size() != wanted.size()) {
    return ::testing::AssertionFailure() << got.size() << " places, not " << wanted.size();
  }
  std::size_t count = 0, first = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (same(got[i], wanted[i])) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << count << " of " << got.size() << " places differ; [" << first << "] is " << +got[first]
         << ", not " << +wanted[first];
}

}  // namespace

Tensor ViewOf(DeviceAddress data, DType dtype, const Sizes& shape, const Sizes& strides) {
  Tensor tensor;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), tensor.shape.begin());
  std::int64_t dense = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::int64_t stride = i < strides.size() ? strides[i] : 0;
    tensor.stride[i] = stride != 0 ? stride : dense;
    dense = tensor.stride[i] * shape[i];
  }
  return tensor;
}

Tensor TailOf(const Tensor& tensor, std::int64_t count) {
  Tensor tail = tensor;
  const std::int64_t skipped = (tensor.shape[0] - count) * tensor.stride[0];
  tail.data += static_cast<DeviceAddress>(skipped * DTypeBytes(tensor.dtype));
  tail.shape[0] = count;
  return tail;
}

Tensor TestMemory::PutNumbers(std::vector<float>& numbers, DType dtype, const Sizes& shape,
                              const Sizes& strides) {
  const std::vector<std::uint8_t> bytes = runtime::EncodeInput(numbers, dtype);
  return PutBytes(std::as_bytes(std::span(bytes)), dtype, shape, strides);
}

Tensor TestMemory::PutBytes(std::span<const std::byte> data, DType dtype, const Sizes& shape,
                            const Sizes& strides) {
  Tensor tensor = ViewOf(0, dtype, shape, strides);
  buffers_.push_back(MustHave(
      runtime::Buffer::CreateRaw(device_, Extent(tensor) * DTypeBytes(dtype), "test input")));
  tensor.data = buffers_.back().address();
  WriteBytes(tensor, data);
  return tensor;
}

void TestMemory::WriteBytes(const Tensor& tensor, std::span<const std::byte> data) {
  const std::int64_t bytes = DTypeBytes(tensor.dtype);
  const auto size = Size(PieceOf(tensor) * bytes);
  std::size_t at = 0;
  ForEachPiece(tensor, [&](std::int64_t offset) {
    const auto place = tensor.data + static_cast<DeviceAddress>(offset * bytes);
    LIJIT_CHECK(at + size <= data.size());
    EXPECT_TRUE(device_.CopyToDevice(place, &data[at], size).ok());
    at += size;
  });
  EXPECT_EQ(at, data.size()) << "the data does not have the shape " << tensor.ToText();
}

void TestMemory::ReadBytes(const Tensor& tensor, std::span<std::byte> data) {
  const std::int64_t bytes = DTypeBytes(tensor.dtype);
  const auto size = Size(PieceOf(tensor) * bytes);
  std::size_t at = 0;
  ForEachPiece(tensor, [&](std::int64_t offset) {
    const auto place = tensor.data + static_cast<DeviceAddress>(offset * bytes);
    EXPECT_TRUE(device_.CopyToHost(&data[at], place, size).ok());
    at += size;
  });
}

::testing::AssertionResult TestMemory::GapsArePoisoned(const Tensor& tensor) {
  const std::int64_t bytes = DTypeBytes(tensor.dtype);
  if (Extent(tensor) * bytes > kWholeBytes) return ::testing::AssertionSuccess();
  std::vector<std::uint8_t> all(Size(Extent(tensor) * bytes));
  EXPECT_TRUE(device_.CopyToHost(all.data(), tensor.data, all.size()).ok());
  ForEachPiece(tensor, [&](std::int64_t offset) {
    std::fill_n(all.begin() + offset * bytes, PieceOf(tensor) * bytes, kPoison);
  });
  return SameBytes(all, std::vector<std::uint8_t>(all.size(), kPoison)) << " between rows";
}

Tensor TestMemory::Poisoned(DType dtype, const Sizes& shape, std::int64_t row_stride) {
  const Tensor tensor = Raw(dtype, shape, row_stride);
  const std::int64_t bytes = DTypeBytes(dtype);
  const auto fill = [&](std::int64_t offset, std::int64_t count) {
    const auto place = tensor.data + static_cast<DeviceAddress>(offset * bytes);
    EXPECT_TRUE(device_.Fill(place, kPoison, Size(count * bytes)).ok());
  };
  const std::int64_t all = Extent(tensor);
  if (all * bytes <= kWholeBytes) {
    fill(0, all);
  } else {
    ForEachPiece(tensor, [&](std::int64_t offset) { fill(offset, PieceOf(tensor)); });
  }
  return tensor;
}

Tensor TestMemory::Raw(DType dtype, const Sizes& shape, std::int64_t row_stride) {
  Tensor tensor = ViewOf(0, dtype, shape, {row_stride});
  buffers_.push_back(MustHave(
      runtime::Buffer::CreateRaw(device_, Extent(tensor) * DTypeBytes(dtype), "test output")));
  tensor.data = buffers_.back().address();
  return tensor;
}

::testing::AssertionResult SameBits(std::span<const float> got, std::span<const float> wanted) {
  return Compare(got, wanted, [](float a, float b) {
    return __builtin_bit_cast(std::uint32_t, a) == __builtin_bit_cast(std::uint32_t, b) ||
           (std::isnan(a) && std::isnan(b));
  });
}

::testing::AssertionResult SameBytes(std::span<const std::uint8_t> got,
                                     std::span<const std::uint8_t> wanted) {
  return Compare(got, wanted, [](std::uint8_t a, std::uint8_t b) { return a == b; });
}

}  // namespace lijit::tests
