// SPDX-License-Identifier: Apache-2.0
// Kernels compiled by CUDA 13.0 for five architectures (data/kernels.cu) against host code.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/emulator/float_formats.h"
#include "tests/unit/runtime/emulator/kernel_runner.h"

namespace lijit::emulator {
namespace {

class NvccKernelsTest : public KernelTest {
 protected:
  NvccKernelsTest() : KernelTest("kernels") {}
};

INSTANTIATE_TEST_SUITE_P(Architectures, NvccKernelsTest,
                         testing::Values("80", "86", "90a", "100f", "120f"),
                         [](const auto& instance) { return "compute_" + instance.param; });

TEST_P(NvccKernelsTest, QuantizeFp8) {
  constexpr int kRows = 37;
  std::mt19937 random(1);
  std::vector<std::uint16_t> x(kRows * 128);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float value = std::normal_distribution<float>(0, 3)(random);
    const bool small = i / 128 == 3;  // a row below the floor of the scale
    x[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(small ? value * 1e-9f : value) >>
                                      16);
  }
  const std::uint64_t in = Upload(x, "x");
  const auto codes_at = Reserve<std::uint8_t>(x.size(), "codes");
  const auto scales_at = Reserve<float>(kRows, "scales");
  Run("quantize_fp8", {{(kRows + 3) / 4, 1, 1}, {128, 1, 1}, 0},
      Parameters().Add(in).Add(codes_at).Add(scales_at).Add(kRows));
  const auto codes = Download<std::uint8_t>(codes_at, x.size());
  const auto scales = Download<float>(scales_at, kRows);
  for (int row = 0; row < kRows; ++row) {
    float amax = 1e-4f;
    const auto value = [&](int i) {
      return std::bit_cast<float>(std::uint32_t{x[static_cast<std::size_t>(row * 128 + i)]} << 16);
    };
    for (int i = 0; i < 128; ++i) amax = std::max(amax, std::fabs(value(i)));
    ASSERT_EQ(scales[static_cast<std::size_t>(row)], amax / 448.0f);
    for (int i = 0; i < 128; ++i) {
      const float scaled = value(i) / (amax / 448.0f);
      ASSERT_EQ(codes[static_cast<std::size_t>(row * 128 + i)],
                EncodeFloat(kE4m3Format, scaled, Rounding::kNearestEven, true))
          << row << " " << i;
    }
  }
}

TEST_P(NvccKernelsTest, TopK) {
  constexpr int kRows = 3;
  constexpr int kColumns = 1100;
  constexpr int kWinners = 200;
  std::mt19937 random(2);
  std::vector<float> scores(kRows * kColumns);
  // Few different values: many ties at the border.
  for (float& score : scores) score = static_cast<float>(random() % 97) * 0.25f;
  const std::uint64_t in = Upload(scores, "scores");
  const auto out = Reserve<int>(kRows * kWinners, "out");
  Run("top_k", {{kRows, 1, 1}, {256, 1, 1}, 0},
      Parameters().Add(in).Add(out).Add(kColumns).Add(kWinners));
  const auto winners = Download<int>(out, kRows * kWinners);
  for (int row = 0; row < kRows; ++row) {
    std::vector<int> order(kColumns);
    std::iota(order.begin(), order.end(), 0);
    const float* values = scores.data() + row * kColumns;
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return values[a] > values[b]; });
    order.resize(kWinners);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(
        std::vector<int>(winners.begin() + row * kWinners, winners.begin() + (row + 1) * kWinners),
        order);
  }
}

// Pages lie a gigabyte apart, so that offsets need more than 32 bits.
TEST_P(NvccKernelsTest, GatherPages) {
  constexpr std::uint64_t kStride = std::uint64_t{1} << 30;
  constexpr std::size_t kPageBytes = 16 * 132;
  const std::uint64_t cache = memory_.Allocate(9 * kStride, "cache").value();
  const std::vector<int> table{7, -1, 0, 8};
  std::vector<std::uint8_t> page(kPageBytes);
  for (const int id : {0, 7, 8}) {
    for (std::size_t i = 0; i < kPageBytes; ++i) page[i] = static_cast<std::uint8_t>(i * 31 + id);
    const std::uint64_t place = cache + static_cast<std::uint64_t>(id) * kStride;
    ASSERT_TRUE(memory_.CopyIn(place, page.data(), kPageBytes).ok());
  }
  const std::uint64_t table_at = Upload(table, "table");
  const auto out = Reserve<std::uint8_t>(4 * kPageBytes, "out");
  Run("gather_pages", {{4, 1, 1}, {128, 1, 1}, 0},
      Parameters().Add(cache).Add(table_at).Add(out).Add(kStride).Add(4));
  const auto gathered = Download<std::uint8_t>(out, 4 * kPageBytes);
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    const int id = table[i / kPageBytes];
    const auto expected =
        static_cast<std::uint8_t>(i % kPageBytes * 31 + static_cast<unsigned>(id));
    ASSERT_EQ(gathered[i], id < 0 ? 0 : expected) << i;
  }
}

TEST_P(NvccKernelsTest, LogitsByDp4a) {
  constexpr int kHeads = 8;
  constexpr int kKeys = 21;
  std::mt19937 random(3);
  std::vector<std::int8_t> q(kHeads * 128);
  std::vector<std::int8_t> keys(kKeys * 128);
  std::vector<float> w(kHeads);
  for (auto& value : q) value = static_cast<std::int8_t>(random());
  for (auto& value : keys) value = static_cast<std::int8_t>(random());
  for (auto& value : w) value = std::normal_distribution<float>()(random);
  const std::uint64_t q_at = Upload(q, "q");
  const std::uint64_t keys_at = Upload(keys, "keys");
  const std::uint64_t w_at = Upload(w, "w");
  const auto out = Reserve<float>(kKeys, "out");
  Run("logits_dp4a", {{(kKeys + 3) / 4, 1, 1}, {128, 1, 1}, kHeads * 128},
      Parameters().Add(q_at).Add(keys_at).Add(w_at).Add(out).Add(kHeads).Add(kKeys));
  const auto logits = Download<float>(out, kKeys);
  for (int key = 0; key < kKeys; ++key) {
    float sum = 0;
    for (int h = 0; h < kHeads; ++h) {
      int dot = 0;
      for (int i = 0; i < 128; ++i) dot += q[h * 128 + i] * keys[key * 128 + i];
      sum = std::fma(w[static_cast<std::size_t>(h)], std::max(static_cast<float>(dot), 0.0f), sum);
    }
    EXPECT_EQ(logits[static_cast<std::size_t>(key)], sum);
  }
}

}  // namespace
}  // namespace lijit::emulator
