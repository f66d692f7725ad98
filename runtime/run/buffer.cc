// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/buffer.h"

#include <algorithm>

namespace lijit::runtime {

Result<Buffer> Buffer::CreateRaw(Device& device, std::int64_t bytes, std::string_view label) {
  Buffer buffer;
  // Empty tensors have an address, too.
  const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1));
  LIJIT_ASSIGN(buffer.address_, device.Allocate(size, label));
  buffer.device_ = &device;
  return buffer;
}

Result<Buffer> Buffer::Create(Device& device, std::int64_t bytes, std::string_view label,
                              std::uint8_t poison) {
  LIJIT_ASSIGN(Buffer buffer, CreateRaw(device, bytes, label));
  LIJIT_TRY(device.Fill(buffer.address_, poison, static_cast<std::uint64_t>(bytes)));
  return buffer;
}

Buffer::~Buffer() {
  // A device that cannot free has said so elsewhere already.
  if (device_ != nullptr) (void)device_->Free(address_).ok();
}

}  // namespace lijit::runtime
