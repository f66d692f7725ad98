// SPDX-License-Identifier: Apache-2.0
// Bytes that claim to be a cubin or a fatbin. Whatever they are, they are described or refused with
// a reason; what is described without problems must also be accepted for what it says it is.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lijit/cubin.h"

namespace {

using lijit::cubin::Dump;

void CheckImage(std::span<const std::byte> bytes, const Dump& dump) {
  if (!dump.image || !dump.problems.empty()) return;
  const lijit::cubin::Image& image = *dump.image;
  std::vector<std::string> kernels;
  for (const auto& kernel : image.kernels) kernels.push_back(kernel.name);
  LIJIT_CHECK(lijit::cubin::Verify(bytes, image.target, kernels).ok() == image.executable);
  for (const int capability : dump.runs_on)
    LIJIT_CHECK(lijit::cubin::CanRun(image, capability).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const lijit::Result<Dump> dump = lijit::cubin::DumpBytes(bytes);
  if (!dump.ok()) {
    LIJIT_CHECK(!dump.error().message.empty());
    return 0;
  }
  CheckImage(bytes, *dump);
  LIJIT_CHECK(!lijit::cubin::Render(*dump).empty());
  return 0;
}
