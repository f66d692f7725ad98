// SPDX-License-Identifier: Apache-2.0
// For tests of kernels that CUDA compiled: PTX files of data/, memory and launches.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulator/launch.h"
#include "runtime/emulator/load.h"

namespace lijit::emulator {

inline std::string ReadData(const std::string& name) {
  std::ifstream file(std::string(LIJIT_SOURCE_DIR) + "/tests/unit/runtime/emulator/data/" + name);
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Packs parameters at their natural alignments.
class Parameters {
 public:
  template <typename T>
  Parameters& Add(T value) {
    block_.resize((block_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T) + sizeof(T));
    std::memcpy(block_.data() + block_.size() - sizeof(T), &value, sizeof(T));
    return *this;
  }
  const std::vector<std::byte>& block() const { return block_; }

 private:
  std::vector<std::byte> block_;
};

// A test of kernels in "<set>_<architecture>.ptx"; the parameter is the architecture.
class KernelTest : public testing::TestWithParam<std::string> {
 protected:
  explicit KernelTest(std::string set) : set_(std::move(set)) {}

  template <typename T>
  std::uint64_t Upload(const std::vector<T>& values, std::string_view label) {
    const std::uint64_t address = Reserve<T>(values.size(), label);
    EXPECT_TRUE(memory_.CopyIn(address, values.data(), values.size() * sizeof(T)).ok());
    return address;
  }
  template <typename T>
  std::uint64_t Reserve(std::size_t count, std::string_view label) {
    return memory_.Allocate(count * sizeof(T), label).value();
  }
  template <typename T>
  std::vector<T> Download(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(memory_.CopyOut(values.data(), address, count * sizeof(T)).ok());
    return values;
  }
  void Run(const char* name, LaunchShape shape, const Parameters& parameters) {
    const std::string text = ReadData(set_ + "_" + GetParam() + ".ptx");
    const auto loaded = LoadKernel(text, name, memory_);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    const auto result = Launch((*loaded)->kernel, shape, parameters.block(), memory_, {});
    ASSERT_TRUE(result.ok()) << result.error().message;
    ASSERT_FALSE(result->finding) << result->finding->message;
  }

  GlobalMemory memory_;

 private:
  std::string set_;
};

}  // namespace lijit::emulator
