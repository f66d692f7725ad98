// SPDX-License-Identifier: Apache-2.0
// What a compiler library makes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/device.h"
#include "runtime/toolchain/resources.h"

namespace lijit::runtime {

struct Compilation {
  ImageKind kind = ImageKind::kCubin;
  std::vector<std::byte> image;            // a cubin, or PTX text without a trailing zero
  std::vector<std::string> kernels;        // names as in the image, in the request's order
  std::vector<KernelResources> resources;  // empty for PTX
  std::string log;                         // warnings and ptxas's lines; equal runs, equal logs
};

inline std::vector<std::byte> ToBytes(std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline std::string_view ToText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The word after the first `marker` in `text`, up to a space, comma, line end or zero; "" if none.
// Compilers write their exact build into what they make.
std::string WordAfter(std::string_view text, std::string_view marker);

}  // namespace lijit::runtime
