// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cache/cubin/test_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace lijit::cubin {

std::string TestText(const std::string& name) {
  std::ifstream stream(std::string(LIJIT_SOURCE_DIR) + "/tests/data/cubin/" + name,
                       std::ios::binary);
  EXPECT_TRUE(stream) << name;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<std::byte> TestBytes(const std::string& name) {
  const std::string text = TestText(name);
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

Image TestImage(const std::string& name) {
  const auto bytes = TestBytes(name + ".cubin");
  Result<Image> image = ReadCubin(bytes);
  EXPECT_TRUE(image.ok()) << name;
  return image.ok() ? std::move(image).value() : Image{};
}

const Kernel* FindKernel(const Image& image, const std::string& name) {
  for (const Kernel& kernel : image.kernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace lijit::cubin
