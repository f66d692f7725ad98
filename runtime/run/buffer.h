// SPDX-License-Identifier: Apache-2.0
// Device memory that is freed with its owner.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lijit/device.h"
#include "lijit/result.h"

namespace lijit::runtime {

class Buffer {
 public:
  Buffer() = default;
  // `poison` is what every byte holds before somebody writes it.
  static Result<Buffer> Create(Device& device, std::int64_t bytes, std::string_view label,
                               std::uint8_t poison);
  // Memory that nobody has written.
  static Result<Buffer> CreateRaw(Device& device, std::int64_t bytes, std::string_view label);

  template <typename T>
  static Result<Buffer> Of(Device& device, std::span<const T> data, std::string_view label) {
    LIJIT_ASSIGN(Buffer buffer,
                 CreateRaw(device, static_cast<std::int64_t>(data.size_bytes()), label));
    LIJIT_TRY(device.CopyToDevice(buffer.address(), data.data(), data.size_bytes()));
    return buffer;
  }

  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    return *this;
  }
  ~Buffer();

  DeviceAddress address() const { return address_; }

  // Copies the first `count` elements to the host.
  template <typename T>
  Result<std::vector<T>> Read(std::int64_t count) const {
    std::vector<T> data(static_cast<std::size_t>(count));
    LIJIT_TRY(device_->CopyToHost(data.data(), address_, data.size() * sizeof(T)));
    return data;
  }

 private:
  Device* device_ = nullptr;
  DeviceAddress address_ = 0;
};

}  // namespace lijit::runtime
