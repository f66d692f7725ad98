// SPDX-License-Identifier: Apache-2.0
#include "runtime/c_interface/tensor.h"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <string>

#include "runtime/c_interface/status.h"

namespace lijit::c_interface {
namespace {

// DLPack's layout on 64-bit machines.
static_assert(sizeof(void*) == 8 && sizeof(lijit_tensor) == 48);
static_assert(offsetof(lijit_tensor, device) == 8 && offsetof(lijit_tensor, ndim) == 16);
static_assert(offsetof(lijit_tensor, dtype) == 20 && sizeof(lijit_data_type) == 4);
static_assert(offsetof(lijit_tensor, shape) == 24 && offsetof(lijit_tensor, strides) == 32);
static_assert(offsetof(lijit_tensor, byte_offset) == 40);

struct DTypeRow {
  std::uint8_t code;
  std::uint8_t bits;
  DType dtype;
};
constexpr DTypeRow kDTypes[] = {{LIJIT_UINT, 8, DType::kU8},    {LIJIT_INT, 32, DType::kI32},
                                {LIJIT_INT, 64, DType::kI64},   {LIJIT_FLOAT, 32, DType::kF32},
                                {LIJIT_FLOAT, 16, DType::kF16}, {LIJIT_BFLOAT, 16, DType::kBf16}};

std::string DeviceText(const lijit_device& device) {
  if (device.device_type == LIJIT_DEVICE_CUDA) return fmt::format("cuda:{}", device.device_id);
  if (device.device_type == LIJIT_DEVICE_CPU) return fmt::format("cpu:{}", device.device_id);
  return fmt::format("device {} of type {}", device.device_id, device.device_type);
}

Status CheckDevice(std::string_view name, const lijit_device& given, const lijit_device& wanted) {
  if (given.device_type == wanted.device_type && given.device_id == wanted.device_id) return {};
  return InvalidArgument(fmt::format(
      "{} is on {}; accepted is {}, the runtime's{}", name, DeviceText(given), DeviceText(wanted),
      wanted.device_type == LIJIT_DEVICE_CPU ? " emulated device" : ""));
}

Result<DType> ReadDType(std::string_view name, const lijit_data_type& type) {
  for (const DTypeRow& row : kDTypes) {
    if (type.code == row.code && type.bits == row.bits && type.lanes == 1) return row.dtype;
  }
  return InvalidArgument(fmt::format(
      "{} has DLPack type code {} with {} bits and {} lanes; accepted are u8, i32, i64, "
      "f32, f16 and bf16 with 1 lane",
      name, type.code, type.bits, type.lanes));
}

// Null stays null, wherever from there: the op says what it thinks of that.
Result<DeviceAddress> ReadAddress(std::string_view name, const lijit_tensor& from) {
  if (from.data == nullptr) return DeviceAddress{0};
  const auto data = reinterpret_cast<DeviceAddress>(from.data);
  DeviceAddress address = 0;
  if (!__builtin_add_overflow(data, from.byte_offset, &address)) return address;
  return InvalidArgument(fmt::format("{} has byte_offset {} from {:#x}; that is not an address",
                                     name, from.byte_offset, data));
}

// Absent strides mean a contiguous tensor. A product beyond the largest number belongs to a shape
// that the op refuses.
void ReadSizes(const lijit_tensor& from, Tensor& to) {
  std::int64_t dense = 1;
  for (int i = to.rank - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    to.shape[at] = from.shape[i];
    to.stride[at] = from.strides != nullptr ? from.strides[i] : dense;
    if (__builtin_mul_overflow(dense, to.shape[at], &dense)) {
      dense = std::numeric_limits<std::int64_t>::max();
    }
  }
}

Result<Tensor> ReadTensor(std::string_view name, const lijit_tensor& from,
                          const lijit_device& device) {
  Tensor tensor;
  LIJIT_TRY(CheckDevice(name, from.device, device));
  LIJIT_ASSIGN(tensor.dtype, ReadDType(name, from.dtype));
  if (from.ndim < 1 || from.ndim > kMaxRank) {
    return InvalidArgument(
        fmt::format("{} has {} dimensions; accepted are 1 to {}", name, from.ndim, kMaxRank));
  }
  LIJIT_TRY(CheckGiven(from.shape, fmt::format("shape of {}", name)));
  LIJIT_ASSIGN(tensor.data, ReadAddress(name, from));
  tensor.rank = from.ndim;
  ReadSizes(from, tensor);
  return tensor;
}

// Whether the dimensions after the first are contiguous and hold a page.
bool HoldsPages(const Tensor& pages, std::int64_t page_bytes) {
  if (pages.dtype != DType::kU8 || pages.rank < 2) return false;
  std::int64_t dense = 1;
  for (int i = pages.rank - 1; i > 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t size = pages.shape[at];
    if (size < 0 || (size > 1 && pages.stride[at] != dense)) return false;
    if (__builtin_mul_overflow(dense, size, &dense)) return false;
  }
  return dense >= page_bytes;
}

}  // namespace

Status ReadTensors(const lijit_device& device, std::initializer_list<TensorArgument> arguments) {
  for (const TensorArgument& argument : arguments) {
    if (argument.from == nullptr) continue;
    LIJIT_ASSIGN(*argument.to, ReadTensor(argument.name, *argument.from, device));
  }
  return {};
}

Status ReadPool(const lijit_indexer& indexer, const lijit_pool& from, CachePool* to) {
  Tensor pages;
  const std::int64_t page_bytes = indexer.indexer->page_bytes();
  LIJIT_TRY(ReadTensors(indexer.device, {{"pool", from.pages, &pages}}));
  if (!HoldsPages(pages, page_bytes)) {
    return InvalidArgument(
        fmt::format("pool is {}; accepted is u8 [pages, ...] with pages of {} bytes or more, "
                    "contiguous but for the first dimension",
                    pages.ToText(), page_bytes));
  }
  // The stride of a dimension of one element may be anything.
  const std::int64_t page_stride = pages.shape[0] > 1 ? pages.stride[0] : page_bytes;
  *to = indexer.indexer->Pool(pages.data, page_stride, pages.shape[0]);
  if (from.format != nullptr) to->format = from.format;
  return {};
}

}  // namespace lijit::c_interface
