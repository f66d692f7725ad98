// SPDX-License-Identifier: Apache-2.0
#include <lijit/indexer.h>

#include <cstdio>

// Writes two keys into an MXFP4 cache, on a GPU if there is one and else on the emulated device.
int main() {
  auto runtime = lijit::Runtime::Create({});
  if (!runtime.ok()) return std::puts(runtime.error().message.c_str()), 1;
  auto indexer = lijit::Indexer::Create(*runtime, {.format = "mxfp4", .input = lijit::DType::kF32});
  if (!indexer.ok()) return std::puts(indexer.error().message.c_str()), 1;
  lijit::Device& device = (*runtime)->device();
  const float keys[2][128] = {{1.0f, -2.0f}, {3.0f}};
  const std::int64_t slots[2] = {0, 7}, page_bytes = (*indexer)->page_bytes();
  auto at = device.Allocate(sizeof keys + sizeof slots, "keys and slots").value();
  auto pool = (*indexer)->Pool(device.Allocate(page_bytes, "pool").value(), page_bytes, 1);
  (void)device.CopyToDevice(at, keys, sizeof keys).ok();
  (void)device.CopyToDevice(at + sizeof keys, slots, sizeof slots).ok();
  auto k = lijit::Tensor::Contiguous(at, lijit::DType::kF32, {2, 128});
  auto s = lijit::Tensor::Contiguous(at + sizeof keys, lijit::DType::kI64, {2});
  auto status = (*indexer)->WriteCache({.k = k, .slots = s, .pool = pool});
  std::puts(status.ok() ? "two keys written" : status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
