// SPDX-License-Identifier: Apache-2.0
// A warp-specialized kernel compiled by CUDA 13.0 for sm_90a (data/hopper_kernels.cu): bulk copies,
// mbarriers, wgmma, setmaxnreg, named barriers and a work counter together, against host code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/runtime/emulator/kernel_runner.h"

namespace lijit::emulator {
namespace {

constexpr int kRows = 64;
constexpr int kDepth = 128;

class NvccHopperTest : public KernelTest {
 protected:
  NvccHopperTest() : KernelTest("hopper_kernels") {}

  std::vector<std::uint8_t> RandomBytes(int count) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    return bytes;
  }

  std::mt19937 random_{7};
};

INSTANTIATE_TEST_SUITE_P(Architectures, NvccHopperTest, testing::Values("90a"),
                         [](const auto& instance) { return "compute_" + instance.param; });

int At(const std::vector<std::uint8_t>& rows, int row, int k) {
  return static_cast<std::int8_t>(rows[static_cast<std::size_t>(row * kDepth + k)]);
}

std::vector<std::uint8_t> Swizzled(const std::vector<std::uint8_t>& rows) {
  std::vector<std::uint8_t> swizzled(rows.size());
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < kDepth; ++k) {
      const int place = row * kDepth + (k / 16 ^ row % 8) * 16 + k % 16;
      swizzled[static_cast<std::size_t>(place)] = rows[static_cast<std::size_t>(row * kDepth + k)];
    }
  }
  return swizzled;
}

TEST_P(NvccHopperTest, Scores) {
  for (const int tiles : {1, 2, 11, 24}) {
    const auto keys = RandomBytes(tiles * kRows * kDepth);
    const auto queries = RandomBytes(kRows * kDepth);
    const std::uint64_t counter = Upload(std::vector<int>{0}, "counter");
    const std::uint64_t out = Reserve<int>(static_cast<std::size_t>(tiles) * kRows, "out");
    Run("scores", {{2, 1, 1}, {384, 1, 1}, 0},
        Parameters()
            .Add(Upload(keys, "keys"))
            .Add(Upload(Swizzled(queries), "queries"))
            .Add(out)
            .Add(counter)
            .Add(tiles));
    const auto sums = Download<int>(out, static_cast<std::size_t>(tiles) * kRows);
    for (int key = 0; key < tiles * kRows; ++key) {
      int expected = 0;
      for (int row = 0; row < kRows; ++row) {
        int dot = 0;
        for (int k = 0; k < kDepth; ++k) dot += At(keys, key, k) * At(queries, row, k);
        expected += std::max(dot, 0);
      }
      ASSERT_EQ(sums[static_cast<std::size_t>(key)], expected) << tiles << " " << key;
    }
  }
}

}  // namespace
}  // namespace lijit::emulator
